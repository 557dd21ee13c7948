import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * A Node.js on which tests run. It is identified by its path, because in npm scripts `node` is whatever a package has
 * put into .bin.
 */
export interface NodeBinary {
  readonly path: string;
  /** "24.21.0" */
  readonly version: string;
  readonly major: number;
}

/** The Node.js that runs this script, as tools/with-node.mjs selected it. */
export function runningNode(): NodeBinary {
  return describe(process.execPath);
}

/** The Node.js of this major version that `npm ci` has installed; only on Linux. */
export function bundledNode(root: string, major: number): NodeBinary | undefined {
  const folder = `node-${major}-${process.platform}-${process.arch}`;
  const path = join(root, "node_modules", folder, "bin", "node");
  return existsSync(path) ? describe(path) : undefined;
}

function describe(path: string): NodeBinary {
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1);
  return { path, version, major: Number.parseInt(version, 10) };
}
