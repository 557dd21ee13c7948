/** The check that imports go down the layers only, so that no two of them import each other. */
import { readdir, readFile } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { layers, shared, type Layer } from "./layers.ts";

/** A source file: its path from the repository's root, with slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns one sentence for each import that goes up or sideways, and for each file without a layer. Types count as well: a file that
 * needs a type from a layer above is in the wrong layer.
 */
export function findViolations(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const layer = layerOf(path);
    if (layer === undefined) {
      return [`${path} stands in no layer: give it one in test/checks/layers.ts.`];
    }
    return importsOf(text)
      .filter((specifier) => !isAllowed(layer, path, specifier))
      .map((specifier) => `${path} (${layer.name}) may not import ${specifier}.`);
  });
}

function layerOf(path: string): Layer | undefined {
  return layers.find(({ name, files }) => files?.test(path) ?? path.startsWith(`${name}/`));
}

function isAllowed(layer: Layer, path: string, specifier: string): boolean {
  if (!specifier.startsWith(".")) {
    return layer.modules?.test(specifier) ?? true;
  }
  const target = posix.join(posix.dirname(path), specifier);
  const below = layerOf(target);
  if (below?.name === shared) {
    return layer.may.includes(shared) && posix.dirname(target) === posix.dirname(path);
  }
  // No node imports another one.
  return below !== undefined && (layer.may.includes(below.name) || (below === layer && !isNode(target)));
}

function isNode(path: string): boolean {
  return path.startsWith("nodes/");
}

/** The sources are formatted, so an import's specifier is always in double quotes on one line. */
function importsOf(text: string): string[] {
  const statements =
    /^\s*(?:import|export)\b[^"'`;]*?\bfrom "([^"]+)"|^\s*import "([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...text.matchAll(statements)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? "");
}

/** All sources below src/ and nodes/. */
export async function readSources(root: string): Promise<Source[]> {
  const folders = await Promise.all(
    ["src", "nodes"].map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  );
  const files = folders.flat().filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name));
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      return { path: relative(root, file).split(sep).join("/"), text: await readFile(file, "utf8") };
    }),
  );
}
