import { basename, dirname, join } from "node:path";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import { type ReadDisk, exists, holdName, manifestFileName, namesIn, plainDisk } from "../archive-disk.ts";
import type { FileHasher } from "../file-hasher.ts";
import { readPlain } from "../packages/package-files.ts";
import type { SeenPackages } from "./seen-packages.ts";
import { filesOf } from "../packages/manifest.ts";
import { isLeftOut, loadManifestWithin, sayUnreadable } from "../walk.ts";

/** The hashes of all other files of an export, as `sha256sum` reads them. */
export const sumsName = "SHA256SUMS";
/** The folder of its packages. */
export const exportedPackagesName = "packages";
/** A line for each file; an export of 100,000 files has less than half of this. */
const mostSumsBytes = 32 * 1024 * 1024;
/** A report of 100,000 packages, with its pictures, is much shorter; a longer file is not read to its end, which may never come. */
const mostBesideBytes = 4 * 1024 ** 3;

export interface ExportCheckParts {
  /** The folder of the extracted export. */
  readonly folder: string;
  readonly hasher: FileHasher;
  readonly seen: SeenPackages;
}

/** The folder of the extracted export that a folder is, or of which it is the folder of packages, without links; undefined if it is none. */
export async function findExport(folder: string, disk: ReadDisk = plainDisk): Promise<string | undefined> {
  // What cannot be read is reported when it is opened.
  const has = (one: string, name: string): Promise<boolean> =>
    exists(join(one, name), disk).catch(() => false);
  const isExport = async (one: string): Promise<boolean> =>
    one !== "" && (await has(one, sumsName)) && (await has(one, exportedPackagesName));
  if (await isExport(folder)) {
    return await disk.realpath(folder);
  }
  const above = dirname(folder);
  const isOfPackages = basename(folder) === exportedPackagesName && (await isExport(above));
  return isOfPackages ? await disk.realpath(above) : undefined;
}

/**
 * Checks the files of an extracted export against its list of hashes: those beside the packages, and the manifests, which
 * list the other files of the packages. Finds what is not in the list. To be called when all packages were seen.
 */
export async function* checkExport({ folder, hasher, seen }: ExportCheckParts): AsyncGenerator<Finding> {
  const { disk } = hasher;
  const read = await readSums(folder, disk).catch((error: unknown) => sayUnreadable(error));
  if (typeof read === "string") {
    yield { kind: "unreadable", path: sumsName, problem: read };
    return;
  }
  const { sums, problems } = read;
  yield* problems.map((one): Finding => ({ kind: "changed", path: sumsName, problem: one }));
  const ofPackages = `${exportedPackagesName}/`;
  /** What is listed in the folders of packages beside their manifests, by the folder. */
  const left = new Map<string, Set<string>>();
  const lacking: string[] = [];
  for (const [name, sha256] of sums) {
    if (name.startsWith(ofPackages) && !name.endsWith(`/${manifestFileName}`)) {
      left.set(dirname(name), (left.get(dirname(name)) ?? new Set()).add(name));
    } else {
      const found = await hasher.hash(join(folder, name), mostBesideBytes);
      if (found === undefined) {
        yield { kind: "missing", path: name, problem: "the file is not there" };
      } else if (typeof found === "string") {
        yield { kind: "unreadable", path: name, problem: found };
      } else if (found.sha256 !== sha256) {
        const problem = `the content is not what was exported (${sumsName})`;
        yield { kind: "changed", path: name, problem };
      }
    }
  }
  const problem = `${sumsName} does not list it: it was not exported`;
  for await (const row of seen.pages("SELECT seen_order, path FROM seen WHERE seen_order > ? LIMIT ?")) {
    const path = String(row["path"]);
    const name = `${ofPackages}${path}`;
    if (!sums.has(`${name}/${manifestFileName}`)) {
      yield { kind: "stray", path: name, problem };
    }
    const own = left.get(name) ?? new Set();
    left.delete(name);
    const found = await loadManifestWithin(
      join(folder, exportedPackagesName),
      `${path}/${manifestFileName}`,
      disk,
    ).catch(sayUnreadable);
    for (const file of typeof found === "object" ? filesOf(found.manifest) : []) {
      const one = `${name}/${file.path}`;
      own.delete(one);
      if (sums.has(one) && sums.get(one) !== file.sha256) {
        yield {
          kind: "changed",
          path: sumsName,
          problem: `it has another hash for ${one} than its manifest`,
        };
      }
    }
    // In an archive, a hold is no finding, and none is exported. A folder that cannot be read was reported with its package.
    const names = await namesIn(join(folder, name), disk).catch(() => []);
    for (const inner of names.filter((one) => holdName.test(one))) {
      own.delete(`${name}/${inner}`);
      yield { kind: "stray", path: `${name}/${inner}`, problem: "an export has no such file: it was added" };
    }
    lacking.push(...own);
  }
  // Where a manifest is gone, this was said of it.
  const others = [...left].filter(([one]) => !sums.has(`${one}/${manifestFileName}`));
  for (const name of [...lacking, ...others.flatMap(([, names]) => [...names])].slice(0, mostProblems)) {
    yield { kind: "changed", path: sumsName, problem: `it lists ${name}, which no package here has` };
  }
  // Neither an archive's own folder nor that of a system is in an export.
  for (const name of await namesIn(join(folder, exportedPackagesName), disk)) {
    if (isLeftOut(name)) {
      yield { kind: "stray", path: `${ofPackages}${name}`, problem };
    }
  }
  for await (const name of filesBeside(folder, disk)) {
    if (name !== sumsName && !sums.has(name)) {
      yield { kind: "stray", path: name, problem };
    }
  }
}

/** How many lines of the list are named that no export has. */
const mostProblems = 20;

interface Sums {
  /** The hash of each file by its name. */
  readonly sums: ReadonlyMap<string, string>;
  /** Lines that no export has: `sha256sum` may read them otherwise. */
  readonly problems: readonly string[];
}

async function readSums(folder: string, disk: ReadDisk): Promise<Sums | string> {
  const content = await readPlain(join(folder, sumsName), disk, mostSumsBytes);
  if (typeof content === "string") {
    return content === "none" ? "this is not a plain file" : "the file is too large";
  }
  const sums = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, line] of content
    .toString()
    .replace(/\r?\n$/, "")
    .split("\n")
    .entries()) {
    const [, sha256, name] = /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || !isNameOfExport(name)) {
      problems.push(`the line ${index + 1} is not one that an export has`);
    } else if (sums.has(name)) {
      problems.push(`it lists ${name} more than once`);
    } else {
      sums.set(name, sha256);
    }
  }
  return { sums, problems: problems.slice(0, mostProblems) };
}

/** Whether a name is below the export, and written in the one way in which an export has it. */
function isNameOfExport(name: string): boolean {
  return (
    !/\\|\0|^[a-z]:/i.test(name) &&
    !name.split("/").some((part) => part === "" || part === "." || part === "..")
  );
}

/** The files of an export that are not in the folder of its packages. */
async function* filesBeside(folder: string, disk: ReadDisk, below = ""): AsyncGenerator<string> {
  for await (const entry of await disk.opendir(join(folder, below))) {
    const name = `${below}${entry.name}`;
    if (entry.isDirectory() && name !== exportedPackagesName) {
      yield* filesBeside(folder, disk, `${name}/`);
    } else if (!entry.isDirectory()) {
      yield name;
    }
  }
}

/** In an export, the packages around those that were exported are missing on purpose: this is worth knowing, and no doubt. */
export function noteNeighbours(unchecked: readonly Unchecked[]): {
  readonly unchecked: Unchecked[];
  readonly notes: ArchiveNote[];
} {
  const outside = new Set<Unchecked["kind"]>(["base-package", "later-packages"]);
  const notes = unchecked.filter(({ kind }) => kind === "base-package");
  return {
    unchecked: unchecked.filter(({ kind }) => !outside.has(kind)),
    notes: notes.map(({ path, problem }) => ({ kind: "neighbours", path, text: problem })),
  };
}
