import { layerRows } from "../checks/layers.ts";

/** docs/development/layers.md: which layer may import from which. */
export function writeLayerPage(): string {
  const rows = [["layer", "may import", "note"], ["-", "-", "-"], ...layerRows()];
  return `# Layers

<!-- Written by tools/write-docs.ts from tools/checks/layers.ts. -->

A file may import only from the layers listed beside its own layer, and no two folders import each other.
\`test/checks/layers.test.ts\` checks every source.

${rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}
`;
}
