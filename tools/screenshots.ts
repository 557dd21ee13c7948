/**
 * The pictures of the pages:  npm run screenshots
 *
 * Runs examples on the simulator, opens the editor, the simulator's page and dashboards in a browser, light and dark, and writes
 * docs/screenshots/*.webp. Builds nothing: build the package first.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "../test/support/browser.ts";
import { startDemo, type DemoEnvironment, type DemoOptions } from "./demo/environment.ts";
import { runFlow } from "./demo/run-flow.ts";
import { evidenceReport } from "./screenshots/report.ts";
import { takeDashboards } from "./screenshots/dashboards.ts";
import { deviceDialog, flow, imageOnCanvas, pickerDialog, simulatorPage } from "./screenshots/views.ts";
import { toWebp } from "./screenshots/webp.ts";

const folder = join(import.meta.dirname, "..", "docs", "screenshots");
/** The order matters: when the simulator's page is shown, its list has the requests of the runs and no others. */
const views = {
  simulator: simulatorPage,
  flow,
  "image-on-canvas": imageOnCanvas,
  device: deviceDialog,
  "device-picker": pickerDialog,
};

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
  await withDemo(
    {
      examples: ["02", "13"],
      settings: { paletteCategories: ["dimensioner", "common", "function", "network", "sequence"] },
    },
    async (demo) => {
      await pressAll(demo);
      for (const [name, take] of Object.entries(views)) {
        for (const theme of ["light", "dark"] as const) {
          await save(`${name}-${theme}`, await take(browser, demo, theme === "dark"));
        }
      }
      await save("report", await evidenceReport(browser, demo));
    },
  );
  await withDemo({ examples: ["30", "31"], packages: ["@flowfuse/node-red-dashboard"] }, (demo) =>
    takeDashboards(browser, demo, save),
  );
} finally {
  await browser.close();
}

async function withDemo(
  options: Partial<DemoOptions>,
  use: (demo: DemoEnvironment) => Promise<void>,
): Promise<void> {
  // The folder's name can be seen in a status.
  const archive = await mkdtemp(join(tmpdir(), "parcels-"));
  try {
    const demo = await startDemo({ archive, parcel: "shoe-box", ...options });
    try {
      await use(demo);
    } finally {
      await demo.close();
    }
  } finally {
    await rm(archive, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** One parcel through each of the examples. */
async function pressAll({ nodeRed, flow: first, flows }: DemoEnvironment): Promise<void> {
  const { url } = nodeRed;
  const others = flows.filter((node) => !first.includes(node));
  await runFlow({ url, nodes: others, press: "Scan a parcel", until: ["Saved"], timeoutMs: 60_000 });
  for (const [press, until] of [
    ["Scan: packing begins", "Recording"],
    ["Scan: parcel is packed", "Archived"],
  ] as const) {
    await runFlow({ url, nodes: first, press, until: [until], timeoutMs: 60_000 });
  }
}

async function save(name: string, png: Buffer): Promise<void> {
  const picture = await toWebp(browser, png);
  await writeFile(join(folder, `${name}.webp`), picture);
  console.log(`docs/screenshots/${name}.webp`.padEnd(44), `${Math.round(picture.length / 1024)} KB`);
}
