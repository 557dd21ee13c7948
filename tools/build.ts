/**
 * Builds the package into dist/:  node --import tsx tools/build.ts
 *
 * dist/ mirrors the sources and holds what ships, nothing else: what an earlier build left is removed. Files are replaced
 * in one step and only when they differ, so that a Node-RED that runs from dist/ never reads half of one.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { editorHtml } from "./editor-html.ts";
import { simulatorPage } from "./simulator-page.ts";

const root = dirname(import.meta.dirname);
const dist = join(root, "dist");

const problems: string[] = [];
const compiled = await compile();
const assets = await collectAssets();
for (const [file, content] of assets) {
  await replace(join(dist, file), content);
}
await removeAllBut(new Set([...compiled, ...assets.keys()]), "");
if (compiled.includes("src/simulator/cli.js")) {
  await chmod(join(dist, "src/simulator/cli.js"), 0o755);
}
if (problems.length > 0) {
  console.error(`The build failed:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  process.exitCode = 1;
}

/** Runs the compiler and returns the files that it has written below dist/. */
async function compile(): Promise<string[]> {
  const expected = await compilerOutput();
  const isMissing = (file: string) => !existsSync(join(dist, file));
  let passed = tsc();
  // The compiler trusts its own notes about what it wrote, also when dist/ was deleted since.
  if (passed && expected.some(isMissing)) {
    passed = tsc("--force");
  }
  if (!passed) {
    problems.push("the compiler found what is listed above");
  }
  problems.push(...expected.filter(isMissing).map((file) => `dist/${file} was not written`));
  return expected;
}

function tsc(...options: string[]): boolean {
  const script = join(root, "node_modules/typescript/bin/tsc");
  return (
    spawnSync(process.execPath, [script, "-b", ...options], { cwd: root, stdio: "inherit" }).status === 0
  );
}

async function compilerOutput(): Promise<string[]> {
  const sources = [...(await filesIn("src")), ...(await filesIn("nodes"))].filter(
    (file) => /(?<!\.d|\.editor)\.ts$/.test(file) && !/^src\/(?:editor|simulator\/page)\//.test(file),
  );
  const stems = sources.map((file) => file.slice(0, -".ts".length));
  for (const name of await nodeNames()) {
    if (!stems.includes(`nodes/${name}/${name}`)) {
      problems.push(`nodes/${name}/${name}.ts, the runtime half, is not there`);
    }
  }
  return stems.flatMap((stem) => [`${stem}.js`, `${stem}.d.ts`]);
}

/** What ships beside the compiler's output, by its path below dist/. */
async function collectAssets(): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const take = async (from: string, fits: RegExp, to = from) => {
    for (const file of (await filesIn(from)).filter((path) => fits.test(path))) {
      found.set(to + file.slice(from.length), await readFile(join(root, file)));
    }
  };
  for (const name of await nodeNames()) {
    try {
      found.set(`nodes/${name}/${name}.html`, Buffer.from(await editorHtml(root, name)));
    } catch (error) {
      problems.push(`nodes/${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await take(`nodes/${name}/locales`, new RegExp(`/${name}\\.(?:json|html)$`));
  }
  // Beside more than one node, each icon would be listed more than once.
  await take("icons", /\.svg$/, "nodes/device/icons");
  await take("src/simulator/catalogue", /\.(?:jpg|bmp|mp4)$/);
  for (const [file, content] of await simulatorPage(root)) {
    found.set(file, content);
  }
  checkCatalogs(found);
  return found;
}

/** Node-RED shows keys instead of texts, and no help, where these are missing or unreadable. */
function checkCatalogs(found: ReadonlyMap<string, Buffer>): void {
  for (const [file, content] of found) {
    const [, name, language] =
      /^nodes\/([^/]+)\/(?:locales\/([^/]+)\/)?[^/]+\.(?:json|html)$/.exec(file) ?? [];
    if (name !== undefined && language === undefined) {
      for (const kind of ["json", "html"]) {
        if (!found.has(`nodes/${name}/locales/en-US/${name}.${kind}`)) {
          problems.push(`nodes/${name}/locales/en-US/${name}.${kind} is not there`);
        }
      }
    } else if (file.endsWith(".json")) {
      try {
        JSON.parse(content.toString());
      } catch (error) {
        problems.push(`${file}: ${String(error)}`);
      }
    }
  }
}

async function replace(path: string, content: Buffer): Promise<void> {
  const before = await readFile(path).catch(() => null);
  if (before?.equals(content) === true) {
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  const part = join(root, ".build", `${process.pid}-${basename(path)}`);
  await writeFile(part, content);
  await rename(part, path);
}

/** Removes files that are not to be kept, and folders that then are empty. */
async function removeAllBut(keep: ReadonlySet<string>, folder: string): Promise<void> {
  for (const entry of await readdir(join(dist, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      await removeAllBut(keep, path);
    } else if (!keep.has(path)) {
      await rm(join(dist, path));
    }
  }
  if ((await readdir(join(dist, folder))).length === 0) {
    await rmdir(join(dist, folder));
  }
}

async function nodeNames(): Promise<string[]> {
  const entries = await readdir(join(root, "nodes"), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** All files below a folder of the repository, with slashes; none when it does not exist. */
async function filesIn(folder: string): Promise<string[]> {
  if (!existsSync(join(root, folder))) {
    return [];
  }
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const nested = entries.map(async (entry) =>
    entry.isDirectory() ? filesIn(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );
  return (await Promise.all(nested)).flat();
}
