import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** A Node to run tests on. Named by its path: in npm scripts, `node` is whatever a package has put into .bin. */
export interface NodeBinary {
  readonly path: string;
  /** "24.21.0" */
  readonly version: string;
  readonly major: number;
}

/** The Node that runs this, which tools/with-node.mjs has chosen. */
export function runningNode(): NodeBinary {
  return describe(process.execPath);
}

/** The Node of this major version that came with `npm ci`; there are some for Linux only. */
export function bundledNode(root: string, major: number): NodeBinary | undefined {
  const folder = `node-${major}-${process.platform}-${process.arch}`;
  const path = join(root, "node_modules", folder, "bin", "node");
  return existsSync(path) ? describe(path) : undefined;
}

function describe(path: string): NodeBinary {
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1);
  return { path, version, major: Number.parseInt(version, 10) };
}
