import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { exportPackages, findPackages } from "../../src/index.ts";
import { readZip } from "../../test/archive/read-zip.ts";
import type { DemoEnvironment } from "../demo/environment.ts";

/** The beginning of the report about the newest package of the demo. A report has no dark theme: it is for paper. */
export async function evidenceReport(
  browser: Browser,
  { nodeRed, archive }: Pick<DemoEnvironment, "archive" | "nodeRed">,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  const context = await browser.newContext({ viewport: { width: 1040, height: 800 } });
  try {
    const database = join(nodeRed.userDir, "dimensioner");
    const [newest] = await findPackages(archive, { database, by: "all", limit: 1 });
    const value = newest?.packageId ?? "";
    const { path } = await exportPackages(archive, { database, by: "packageId", value, to: folder });
    const [report] = await readZip(path, (name) => name === "report.html");
    const file = join(folder, "report.html");
    await writeFile(file, report?.content ?? "");
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    return await page.screenshot();
  } finally {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}
