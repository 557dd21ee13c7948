/**
 * The layers of the sources, and the check that imports go down only and no folders import each other. The tests
 * hold the sources to it, and docs/development/layers.md is generated from it.
 *
 * Types count as well: whoever needs to know a shape from a layer above stands in the wrong layer.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";

interface Layer {
  /** A folder of the repository, or files by their pattern. */
  readonly name: string;
  /** Which files belong to it, where the name is no folder. */
  readonly files?: RegExp;
  /** The layers below from which its files may import, besides their own layer. */
  readonly may: readonly string[];
  /** The external modules that may be imported; all of them if nothing is given. */
  readonly modules?: RegExp;
  /** The note in docs/development/layers.md. */
  readonly note?: string;
}

/** All modules except Node-RED, because everything below src/runtime runs without it. */
const withoutNodeRed = /^(?!@?node-red)/;
const nothing = /^(?!)/;
/** Only types, because neither exists in a browser. */
const editorTypes = /^(?:node-red|@node-red\/editor-client)$/;
const shared = "nodes/*/*.shared.ts";
const shapes = ["src/model", "src/rules", "src/errors"];
const packageFiles = "src/package";

/** Top to bottom. */
export const layers: readonly Layer[] = [
  {
    name: "nodes/*/*.editor.ts",
    files: /^nodes\/([^/]+)\/\1\.editor\.ts$/,
    may: [shared, "src/editor", "src/tariffs", "src/rules"],
    modules: editorTypes,
    note: "runs in the browser; imports only its own shared file",
  },
  {
    name: "nodes/*/*.ts",
    files: /^nodes\/([^/]+)\/\1\.ts$/,
    may: [
      shared,
      "src/runtime",
      "src/device",
      "src/cloud",
      "src/archive",
      "src/store",
      "src/webhook",
      "src/scan",
      "src/billing",
      "src/tariffs",
      "src/media",
      "src/properties",
      ...shapes,
    ],
    note: "imports only its own shared file",
  },
  {
    name: shared,
    files: /^nodes\/([^/]+)\/\1\.shared\.ts$/,
    may: ["src/properties"],
    modules: nothing,
    note: "the saved properties as a table; also runs in the browser",
  },
  {
    name: "src/editor",
    may: ["src/properties", "src/tariffs", "src/rules"],
    modules: editorTypes,
    note: "runs in the browser",
  },
  {
    name: "src/runtime",
    may: [
      "src/device",
      "src/cloud",
      "src/archive",
      "src/evidence-page",
      "src/access",
      "src/store",
      "src/webhook",
      "src/scan",
      "src/billing",
      "src/tariffs",
      "src/media",
      "src/timestamp-server",
      "src/http",
      "src/properties",
      packageFiles,
      ...shapes,
    ],
    note: "the lowest layer that uses Node-RED",
  },
  {
    name: "src/library",
    files: /^src\/(?:index\.ts$|library\/)/,
    may: [
      "src/device",
      "src/cloud",
      "src/archive",
      "src/scan",
      "src/billing",
      "src/tariffs",
      "src/media",
      "src/timestamp-server",
      "src/http",
      ...shapes,
    ],
    modules: withoutNodeRed,
    note: "with `src/index.ts`, the public library",
  },
  {
    name: "src/evidence-page",
    may: ["src/access", "src/archive", "src/store", "src/media", "src/ui", packageFiles, ...shapes],
    modules: withoutNodeRed,
    note: "the evidence page: its server, and in `page` what runs in the browser",
  },
  { name: "src/access", may: shapes, modules: withoutNodeRed, note: "logins and sessions of pages" },
  { name: "src/device", may: ["src/http", ...shapes], modules: withoutNodeRed },
  { name: "src/cloud", may: ["src/http", ...shapes], modules: withoutNodeRed },
  {
    name: "src/timestamp-server",
    may: ["src/http", ...shapes],
    modules: withoutNodeRed,
    note: "the client of a time stamp server",
  },
  {
    name: "src/archive",
    may: ["src/store", "src/timestamp", "src/media", packageFiles, ...shapes],
    modules: withoutNodeRed,
    note: "uses the cloud and time stamp servers only through its own interfaces",
  },
  {
    name: "src/timestamp",
    may: shapes,
    modules: withoutNodeRed,
    note: "reads and verifies time stamps (RFC 3161); pure functions, loaded only when they are needed",
  },
  {
    name: "src/store",
    may: [packageFiles, ...shapes],
    modules: withoutNodeRed,
    note: "the database, in its own thread",
  },
  { name: "src/webhook", may: shapes, modules: withoutNodeRed },
  { name: "src/scan", may: shapes, modules: withoutNodeRed, note: "reads barcodes; pure functions" },
  {
    name: "src/billing",
    may: ["src/tariffs", ...shapes],
    modules: nothing,
    note: "the billable weight of a measurement; pure functions",
  },
  {
    name: "src/http",
    may: ["src/media", ...shapes],
    modules: withoutNodeRed,
    note: "uses `src/media` to check whether a file is complete",
  },
  { name: "src/media", may: shapes, modules: withoutNodeRed },
  { name: "src/model", may: ["src/errors"], modules: withoutNodeRed },
  {
    name: "src/properties",
    may: ["src/rules"],
    modules: nothing,
    note: "what nodes save, and its older versions; also runs in the browser",
  },
  {
    name: "src/tariffs",
    may: ["src/rules"],
    modules: nothing,
    note: "carriers' rules, calculated exactly; also runs in the browser",
  },
  {
    name: "src/rules",
    may: [],
    modules: nothing,
    note: "which values are valid, how sizes are written; also runs in the browser",
  },
  { name: "src/errors", may: [], modules: nothing },
  {
    name: "src/simulator",
    may: ["src/ui", packageFiles],
    modules: withoutNodeRed,
    note: "independent of the clients: shared code would hide an error in both; its page alone uses `src/ui`",
  },
  {
    name: "src/ui",
    may: [],
    modules: /^preact(?:\/|$)/,
    note: "components and styles of pages; runs in the browser",
  },
  {
    name: packageFiles,
    may: [],
    modules: withoutNodeRed,
    note: "where the package's own files are, and its version",
  },
];

/** The rows of the table in docs/development/layers.md. */
export function layerRows(): string[][] {
  const code = (name: string): string => `\`${name}\``;
  return layers.map(({ name, may, note = "" }) => [code(name), may.map(code).join(", ") || "nothing", note]);
}

/** A source file: its path from the repository's root, with slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** Returns one sentence for each import that goes up or sideways, and for each file without a layer. */
export function findViolations(sources: readonly Source[]): string[] {
  const wrong = sources.flatMap(({ path, text }) => {
    const layer = layerOf(path);
    if (layer === undefined) {
      return [`${path} stands in no layer: give it one in tools/checks/layers.ts.`];
    }
    return importsOf(text)
      .filter((specifier) => !isAllowed(layer, path, specifier))
      .map((specifier) => `${path} (${layer.name}) may not import ${specifier}.`);
  });
  return [...wrong, ...findFolderCircles(sources)];
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

/** Returns one sentence for each import between folders that import each other. */
function findFolderCircles(sources: readonly Source[]): string[] {
  const imports = sources.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => ({ path, target: posix.join(posix.dirname(path), specifier) })),
  );
  const leadsTo = new Map<string, Set<string>>();
  for (const { path, target } of imports) {
    const folder = posix.dirname(path);
    leadsTo.set(folder, (leadsTo.get(folder) ?? new Set()).add(posix.dirname(target)));
  }
  return imports
    .filter(({ path, target }) => {
      const [from, to] = [posix.dirname(path), posix.dirname(target)];
      return from !== to && reachable(leadsTo, to).has(from);
    })
    .map(({ path, target }) => `${path} imports ${target}, whose folder leads back to its own.`);
}

function reachable(leadsTo: ReadonlyMap<string, ReadonlySet<string>>, start: string): ReadonlySet<string> {
  const found = new Set([start]);
  // Iterating a set also yields what is added meanwhile.
  for (const folder of found) {
    leadsTo.get(folder)?.forEach((next) => found.add(next));
  }
  return found;
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
