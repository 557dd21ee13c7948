import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { median } from "../median.ts";
import { startNodeRed } from "../node-red.ts";
import type { Progress } from "../progress.ts";
import { repository, type Runtime } from "../runtimes.ts";
import { addDriver } from "../user-dir.ts";

/** What one package costs a Node-RED. */
export interface LoadRow {
  readonly runtime: string;
  /** Name and version. */
  readonly package: string;
  /** The size of all files of `npm install`, with dependencies. */
  readonly installedBytes: number | null;
  readonly nodeTypes: number | null;
  /** How much longer Node-RED takes to load its node types. */
  readonly loadMs: number | null;
  /** Why there is no result. */
  readonly problem: string | null;
}

export interface LoadSizes {
  readonly rounds: number;
  /** Other packages of the palette, for comparison. */
  readonly others: readonly string[];
}

interface Installed {
  readonly name: string;
  readonly userDir: string;
  readonly installedBytes: number;
  readonly nodeTypes: number;
}

const run = promisify(execFile);
const longestInstallMs = 180_000;

/** Installs this package as it would be published, and the others, and starts a Node-RED with each in turn. */
export async function measureLoad(
  runtime: Runtime,
  { rounds, others }: LoadSizes,
  progress: Progress,
): Promise<LoadRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-load-"));
  try {
    progress(`${runtime.title}: packing this package`);
    const { stdout } = await run(
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
      {
        cwd: repository,
      },
    );
    const [{ filename = "" } = {}] = JSON.parse(stdout) as { filename?: string }[];
    const installed: Installed[] = [];
    const absent: LoadRow[] = [];
    for (const [index, spec] of [join(folder, filename), ...others].entries()) {
      const name = index === 0 ? "this package" : spec;
      progress(`${runtime.title}: installing ${name}`);
      try {
        installed.push(await install(spec, join(folder, String(index))));
      } catch (error) {
        const nothing = { installedBytes: null, nodeTypes: null, loadMs: null };
        absent.push({ runtime: runtime.title, package: name, ...nothing, problem: explain(error) });
      }
    }
    return [...(await loadInTurn(runtime, installed, { rounds, folder, progress })), ...absent];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function loadInTurn(
  runtime: Runtime,
  installed: readonly Installed[],
  { rounds, folder, progress }: { rounds: number; folder: string; progress: Progress },
): Promise<LoadRow[]> {
  const without = join(folder, "without");
  await mkdir(without);
  await addDriver(without);
  const base = { userDir: without, starts: [] as number[] };
  const packages = installed.map((one) => ({ ...one, starts: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    progress(
      `${runtime.title}: starting with each package, ${round === 0 ? "to warm up" : `round ${round}`}`,
    );
    for (const { userDir, starts } of [base, ...packages]) {
      const ms = await timeLoad(runtime, userDir);
      // The first start reads files that are not in the system's cache.
      if (round > 0) {
        starts.push(ms);
      }
    }
  }
  return packages.map(({ name, installedBytes, nodeTypes, starts }) => ({
    runtime: runtime.title,
    package: name,
    installedBytes,
    nodeTypes,
    // Not the median of the differences: other work on the computer lengthens single starts by more than a package does.
    loadMs: median(starts) - median(base.starts),
    problem: null,
  }));
}

async function timeLoad(runtime: Runtime, userDir: string): Promise<number> {
  const nodeRed = await startNodeRed({ runtime, userDir });
  await nodeRed.stop();
  return nodeRed.paletteMs;
}

async function install(spec: string, userDir: string): Promise<Installed> {
  await mkdir(userDir);
  await writeFile(join(userDir, "package.json"), JSON.stringify({ name: "bench", private: true }));
  const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--omit=dev"];
  await run("npm", ["install", ...quiet, spec], { cwd: userDir, timeout: longestInstallMs });
  const installedBytes = await sizeOf(join(userDir, "node_modules"));
  const [name = ""] = Object.keys((await readManifest(userDir)).dependencies ?? {});
  const manifest = await readManifest(join(userDir, "node_modules", name));
  await addDriver(userDir);
  const nodeTypes = Object.keys(manifest["node-red"]?.nodes ?? {}).length;
  return { name: `${name} ${manifest.version ?? ""}`, userDir, installedBytes, nodeTypes };
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly "node-red"?: { readonly nodes?: Readonly<Record<string, string>> };
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The length of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return sizeOf(path);
    }
    return entry.isFile() ? (await stat(path)).size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** npm's error lines carry its code. */
function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, code] = /npm (?:ERR!|error) code (\S+)/.exec(text) ?? [];
  return `could not be installed (${code ?? "no answer"})`;
}
