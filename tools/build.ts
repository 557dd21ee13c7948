/**
 * Builds the package into dist/:  node tools/build.ts
 *
 * dist/ mirrors the sources and holds what ships, nothing else: what an earlier build left is removed. Files are replaced
 * in one step and only when they differ, so that a Node-RED that runs from dist/ never reads half of one.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { declarations } from "./build/declarations.ts";
import { modules } from "./build/modules.ts";
import { licences } from "./build/vendor.ts";
import { editorHtml } from "./editor-html.ts";
import { simulatorPage } from "./simulator-page.ts";

const root = dirname(import.meta.dirname);
const dist = join(root, "dist");
/** Where the compiler writes declarations. */
const declared = join(root, ".build", "runtime");
/** What package.json exports. */
const entries = ["src/index.d.ts", "src/simulator/index.d.ts"];

const problems: string[] = [];
const sources = await runtimeSources();
check(sources);
const files = await collect();
for (const [file, content] of files) {
  await replace(join(dist, file), content);
}
await removeAllBut(files, "");
await chmod(join(dist, "src/simulator/cli.js"), 0o755);
if (problems.length > 0) {
  console.error(`The build failed:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  process.exitCode = 1;
}

/** Has the compiler check everything, and write the declarations. */
function check(sources: readonly string[]): void {
  const expected = sources.map((source) => join(declared, source.replace(/\.ts$/, ".d.ts")));
  let passed = tsc();
  // The compiler trusts its own notes about what it wrote, also when that was deleted since.
  if (passed && !expected.every((file) => existsSync(file))) {
    passed = tsc("--force");
  }
  if (!passed) {
    problems.push("the compiler found what is listed above");
  }
}

function tsc(...options: string[]): boolean {
  const script = join(root, "node_modules/typescript/bin/tsc");
  return (
    spawnSync(process.execPath, [script, "-b", ...options], { cwd: root, stdio: "inherit" }).status === 0
  );
}

/** The sources of what runs in Node.js, by their path below the repository. */
async function runtimeSources(): Promise<string[]> {
  const found = [...(await filesIn("src")), ...(await filesIn("nodes"))].filter(
    (file) => /(?<!\.d|\.editor)\.ts$/.test(file) && !/^src\/(?:editor|simulator\/page)\//.test(file),
  );
  for (const name of await nodeNames()) {
    if (!found.includes(`nodes/${name}/${name}.ts`)) {
      problems.push(`nodes/${name}/${name}.ts, the runtime half, is not there`);
    }
  }
  return found;
}

/** What ships, by its path below dist/. */
async function collect(): Promise<Map<string, Buffer>> {
  const found = new Map([
    ...(await modules(root, sources)),
    ...(await declarations(declared, entries)),
    ["vendor/LICENSES.md", await licences(root)] as const,
  ]);
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
  await take("src/simulator/catalogue", /\.(?:jpg|bmp\.gz|mp4)$/);
  for (const [file, content] of await simulatorPage(root)) {
    found.set(file, content);
  }
  readCatalogs(found);
  return found;
}

/** Takes the white space out of catalogs. Node-RED shows keys instead of texts where they are missing or unreadable. */
function readCatalogs(found: Map<string, Buffer>): void {
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
        found.set(file, Buffer.from(JSON.stringify(JSON.parse(content.toString()))));
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
async function removeAllBut(keep: ReadonlyMap<string, Buffer>, folder: string): Promise<void> {
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
