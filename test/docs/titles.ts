import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The full titles of all tests, by mocha's own account: many are made from tables. None of them runs. */
export async function testTitles(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "titles-"));
  try {
    const output = join(folder, "titles.json");
    const { NODE_V8_COVERAGE: _, ...env } = process.env;
    const child = spawn(
      process.execPath,
      [
        join(root, "node_modules/mocha/bin/mocha.js"),
        "--dry-run",
        "--reporter=json",
        `--reporter-option=output=${output}`,
        "test/**/*.test.ts",
      ],
      { cwd: root, env, stdio: ["ignore", "ignore", "inherit"], timeout: 60_000 },
    );
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) {
      throw new Error(`mocha --dry-run has ended with ${String(code)}.`);
    }
    const { tests } = JSON.parse(await readFile(output, "utf8")) as { tests: { fullTitle: string }[] };
    return tests.map(({ fullTitle }) => fullTitle);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * What is wrong with the name of a test; undefined where it is one test's, by the end of its title or by a part of it.
 * A name that ends in … stands for all tests with that part.
 */
export function nameProblem(titles: readonly string[], name: string): string | undefined {
  if (name.endsWith("…")) {
    const part = name.slice(0, -1).trim();
    return titles.some((title) => title.includes(part)) ? undefined : `no test is called “${name}”`;
  }
  const byEnd = titles.filter((title) => title.endsWith(name));
  const found = byEnd.length > 0 ? byEnd : titles.filter((title) => title.includes(name));
  if (found.length === 1) {
    return undefined;
  }
  return found.length === 0 ? `no test is called “${name}”` : `${found.length} tests are called “${name}”`;
}
