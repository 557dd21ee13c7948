import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { bundledNode } from "../tools/bundled-node.ts";

export const repository = dirname(import.meta.dirname);
export const packageName = "@dimflow/node-red-dimensioner";

/** A Node-RED and the Node that it runs on. */
export interface Runtime {
  readonly nodeRedVersion: string;
  readonly node: { readonly path: string; readonly version: string };
  readonly script: string;
  /** "Node-RED 5.0.7 on Node 24.21.0" */
  readonly title: string;
}

/** The pairs that the package supports and that run on this machine. */
export function findRuntimes(): Runtime[] {
  const isNew = Number.parseInt(process.versions.node, 10) >= 24;
  const pairs = [
    { major: 4, path: bundledNode(22) ?? (isNew ? undefined : process.execPath) },
    { major: 5, path: bundledNode(24) ?? (isNew ? process.execPath : undefined) },
  ];
  return pairs.flatMap(({ major, path }) => (path === undefined ? [] : [describe(major, path)]));
}

function describe(major: number, path: string): Runtime {
  const node = { path, version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1) };
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`node-red-${major}/package.json`);
  const { version } = require(manifest) as { version: string };
  return {
    nodeRedVersion: version,
    node,
    script: join(dirname(manifest), "red.js"),
    title: `Node-RED ${version} on Node ${node.version}`,
  };
}
