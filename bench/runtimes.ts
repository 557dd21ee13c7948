import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bundledNode, runningNode, type NodeBinary } from "../tools/test/node-binaries.ts";

export const repository = dirname(import.meta.dirname);
export const packageName = "@dimflow/node-red-dimensioner";

/** A Node-RED and the Node that it runs on. */
export interface Runtime {
  readonly nodeRedVersion: string;
  readonly node: NodeBinary;
  readonly script: string;
  /** "Node-RED 5.0.7 on Node 24.21.0" */
  readonly title: string;
}

/** The pairs that the package supports and that run on this machine. */
export function findRuntimes(): Runtime[] {
  const running = runningNode();
  const pairs = [
    { major: 4, node: bundledNode(repository, 22) ?? (running.major < 24 ? running : undefined) },
    { major: 5, node: bundledNode(repository, 24) ?? (running.major >= 24 ? running : undefined) },
  ];
  return pairs.flatMap(({ major, node }) => (node === undefined ? [] : [describe(major, node)]));
}

function describe(major: number, node: NodeBinary): Runtime {
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
