import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** A Node to run tests on. Named by its path: in npm scripts, `node` is whatever a package has put into .bin. */
export interface NodeBinary {
  readonly path: string;
  /** "20.20.2" */
  readonly version: string;
  readonly major: number;
}

/** The Node that the user runs npm with. */
export function runningNode(): NodeBinary {
  return describe(process.env["npm_node_execpath"] ?? process.execPath);
}

/** The Node of this major version that came with `npm ci`; there are some for Linux only. */
export function bundledNode(root: string, major: number): NodeBinary | undefined {
  const folder = `node-${major}-${process.platform}-${process.arch}`;
  const path = join(root, "node_modules", folder, "bin", "node");
  return existsSync(path) ? describe(path) : undefined;
}

/** How this Node runs TypeScript: by itself, or with tsx where it cannot. */
export function typeScriptOptions({ major }: NodeBinary): string[] {
  return major >= 24 ? [] : ["--import", "tsx"];
}

function describe(path: string): NodeBinary {
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1);
  return { path, version, major: Number.parseInt(version, 10) };
}
