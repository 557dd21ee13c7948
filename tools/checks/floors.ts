/**
 * Holds the floors of the building: imports go down only. The tests hold the sources to it.
 *
 * Each floor names what it may import. Types count as well: who needs to know a shape from upstairs stands on the wrong
 * floor.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";

interface Floor {
  readonly name: string;
  /** Which files stand here; the first floor that fits counts. */
  readonly files: RegExp;
  /** Paths, from the repository's root, that they may import beside files of their own floor. */
  readonly may: readonly RegExp[];
  /** Which modules that are no files of the repository; all of them where nothing is said. */
  readonly modules?: RegExp;
}

const clients = [/^src\/(?:device|cloud)\//];
const errors = /^src\/errors\//;
/** What values may be, for both halves of a node and for the clients. */
const rules = /^src\/rules\//;
const shapes = [/^src\/model\//, errors, rules];
/** Everything but Node-RED: what lies below src/runtime runs without it. */
const withoutNodeRed = /^(?!@?node-red)/;
const nothing = /^(?!)/;
/** What both halves of a node know of saved flows. */
const saved = /^src\/saved\//;
/** Shapes alone: neither is there in a browser. */
const editorTypes = /^(?:node-red|@node-red\/editor-client)$/;

const floors: readonly Floor[] = [
  { name: "saved properties", files: /^nodes\/[^/]+\/[^/]+\.shared\.ts$/, may: [], modules: nothing },
  { name: "saved flows", files: saved, may: [], modules: nothing },
  { name: "rules", files: rules, may: [], modules: nothing },
  {
    name: "editor half of a node",
    files: /^nodes\/[^/]+\/[^/]+\.editor\.ts$/,
    may: [/^src\/editor\//, rules],
    modules: editorTypes,
  },
  {
    name: "runtime half of a node",
    files: /^nodes\/[^/]+\/[^/]+\.ts$/,
    may: [saved, /^src\/(?:runtime|media|archive|webhook)\//, ...clients, ...shapes],
  },
  { name: "editor helpers", files: /^src\/editor\//, may: [saved, rules], modules: editorTypes },
  {
    name: "runtime helpers",
    files: /^src\/runtime\//,
    may: [saved, /^src\/(?:media|archive|webhook|http)\//, ...clients, ...shapes],
  },
  { name: "simulator", files: /^src\/simulator\//, may: [], modules: withoutNodeRed },
  {
    name: "library",
    files: /^src\/(?:index\.ts$|library\/)/,
    may: [/^src\/(?:http|media)\//, ...clients, ...shapes],
    modules: withoutNodeRed,
  },
  {
    name: "device client",
    files: /^src\/device\//,
    may: [/^src\/http\//, ...shapes],
    modules: withoutNodeRed,
  },
  { name: "cloud client", files: /^src\/cloud\//, may: [/^src\/http\//, ...shapes], modules: withoutNodeRed },
  { name: "archive", files: /^src\/archive\//, may: [/^src\/media\//, ...shapes], modules: withoutNodeRed },
  { name: "webhook", files: /^src\/webhook\//, may: [/^src\/http\//, ...shapes], modules: withoutNodeRed },
  { name: "media", files: /^src\/media\//, may: shapes, modules: withoutNodeRed },
  { name: "http", files: /^src\/http\//, may: shapes, modules: withoutNodeRed },
  { name: "model", files: /^src\/model\//, may: [errors], modules: withoutNodeRed },
  { name: "errors", files: errors, may: [], modules: nothing },
];

/** A source file: its path from the repository's root, with slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** One sentence for each import that goes up or sideways, and for each file that stands on no floor. */
export function findViolations(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const floor = floors.find(({ files }) => files.test(path));
    if (floor === undefined) {
      return [`${path} stands on no floor: give it one in tools/checks/floors.ts.`];
    }
    return importsOf(text)
      .filter((specifier) => !isAllowed(floor, path, specifier))
      .map((specifier) => `${path} (${floor.name}) may not import ${specifier}.`);
  });
}

function isAllowed({ files, may, modules }: Floor, path: string, specifier: string): boolean {
  if (!specifier.startsWith(".")) {
    return modules === undefined || modules.test(specifier);
  }
  const target = posix.join(posix.dirname(path), specifier);
  // A node's halves share what is saved, and nothing with other nodes.
  if (target.startsWith("nodes/")) {
    return target.endsWith(".shared.ts") && posix.dirname(target) === posix.dirname(path);
  }
  return files.test(target) || may.some((allowed) => allowed.test(target));
}

/** The sources are formatted, so that an import's specifier always stands in double quotes on one line. */
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
  const files = folders.flat().filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      return { path: relative(root, file).split(sep).join("/"), text: await readFile(file, "utf8") };
    }),
  );
}
