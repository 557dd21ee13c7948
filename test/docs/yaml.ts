import { createRequire } from "node:module";

const nodeRed = createRequire(createRequire(import.meta.url).resolve("node-red-4/package.json"));
const nodes = createRequire(nodeRed.resolve("@node-red/nodes/package.json"));

/** Reads YAML with the library that Node-RED brings for its own YAML node. */
export function readYaml(text: string): unknown {
  return (nodes("js-yaml") as { load(text: string): unknown }).load(text);
}
