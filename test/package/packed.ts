import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { lockedVersions } from "./locked.ts";

export const packageName = "@dimflow/node-red-dimensioner";
export const repository = join(import.meta.dirname, "..", "..");

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What npm says about the tarball that it has made. */
export interface Tarball {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** The package as a user gets it: packed, and installed into a Node-RED user folder by the Node that runs the tests. */
export interface Packed {
  readonly tarball: Tarball;
  readonly userDir: string;
  /** Where the package lies in the user folder. */
  readonly installed: string;
  /** Runs a script or a module with the Node that runs the tests, in the user folder. */
  node(...args: string[]): Promise<Ended>;
  npm(...args: string[]): Promise<Ended>;
  remove(): Promise<void>;
}

/** The registry is asked only for what npm does not have yet. */
const asThePaletteManager = [
  "install",
  "--omit=dev",
  "--engine-strict",
  "--save-exact",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--prefer-offline",
];

/** Packs and installs. What is built is packed: `npm run build` comes first. */
export async function packAndInstall(): Promise<Packed> {
  if (!existsSync(join(repository, "dist"))) {
    throw new Error("There is no dist/. Run npm run build first.");
  }
  const folder = await mkdtemp(join(tmpdir(), "packed-"));
  const userDir = join(folder, "node-red");
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    await mkdir(userDir);
    // Otherwise npm would take the newest versions, and a test could fail although nothing in the repository has changed.
    const overrides = Object.fromEntries(lockedVersions());
    await writeFile(
      join(userDir, "package.json"),
      JSON.stringify({ name: "user", private: true, overrides }),
    );
    const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const packed: unknown = JSON.parse(mustEnd(await npm(repository, ...pack)).stdout);
    const tarball = readTarball(packed);
    mustEnd(await npm(userDir, ...asThePaletteManager, join(folder, tarball.filename)));
    return {
      tarball,
      userDir,
      installed: join(userDir, "node_modules", packageName),
      node: (...args) => run(userDir, args),
      npm: (...args) => npm(userDir, ...args),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

export function npm(cwd: string, ...args: string[]): Promise<Ended> {
  return run(cwd, [npmScript(), ...args]);
}

/** npm's own script: the tests run it with a Node of their choice, and `npm` on the PATH has chosen already. */
function npmScript(): string {
  const candidates = [
    process.env["npm_execpath"] ?? "",
    ...(process.env["PATH"] ?? "")
      .split(delimiter)
      .flatMap((folder) => [
        join(folder, "node_modules", "npm", "bin", "npm-cli.js"),
        join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
        join(folder, "..", "share", "nodejs", "npm", "bin", "npm-cli.js"),
      ]),
  ];
  const found = candidates.find((path) => path.endsWith("npm-cli.js") && existsSync(path));
  if (found === undefined) {
    throw new Error("npm is not found beside the Node on the PATH.");
  }
  return found;
}

async function run(cwd: string, args: readonly string[]): Promise<Ended> {
  const { npm_config_prefix: _, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    // Scripts that ask for `node` get the one that runs the tests.
    env: { ...env, PATH: `${dirname(process.execPath)}${delimiter}${env["PATH"] ?? ""}`, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { exitCode: child.exitCode, stdout, stderr };
}

function mustEnd(ended: Ended): Ended {
  if (ended.exitCode !== 0) {
    throw new Error(`npm failed:\n${ended.stdout}${ended.stderr}`);
  }
  return ended;
}

export function readTarball(packed: unknown): Tarball {
  // npm 10 and 11 print a list, npm 12 an object by package name.
  const [first] = Array.isArray(packed) ? packed : Object.values(packed as Record<string, unknown>);
  const { filename, size, files } = first as Tarball;
  return { filename, size, files };
}
