import { dirname, join, relative, sep } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { Finding } from "../../model/archive-reports.ts";
import { systemCode } from "../../media/disk.ts";
import { checkRoot } from "../../media/target-folder.ts";
import {
  asFileError,
  diskFacts,
  exists,
  manifestFileName,
  plainDisk,
  stateFolderName,
  type ArchiveDisk,
  type ReadDisk,
} from "../archive-disk.ts";
import { loadManifest, type FoundManifest } from "../packages/package-files.ts";

/** A package that a walk has found. */
export interface WalkedPackage extends FoundManifest {
  readonly kind: "package";
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  /** Its absolute path. */
  readonly folder: string;
}

/** One entry that a walk over an archive finds. Paths are below the folder of packages, with slashes. */
export type WalkEntry =
  | WalkedPackage
  /** A folder with an unreadable manifest. */
  | { readonly kind: "damaged"; readonly path: string }
  /** Another archive with a state folder of its own, whose packages do not belong to this one. */
  | { readonly kind: "archive"; readonly path: string }
  /** Neither a package nor a folder of packages. */
  | { readonly kind: "stray"; readonly path: string }
  | {
      readonly kind: "unreadable";
      readonly path: string;
      readonly problem: string;
      readonly error: unknown;
    };

/** What systems keep in the root of a disk, where nobody else may read it. */
const foldersOfSystem: ReadonlySet<string> = new Set([
  "lost+found",
  "System Volume Information",
  "$RECYCLE.BIN",
]);

/** The text for an unreadable manifest. */
export const damagedManifest = "the manifest cannot be read: it is damaged, or from a later version";

/** A folder to work on, and the archive to which it belongs. */
export interface Place {
  /** The folder of packages, without links: the folder itself, or the nearest one above it with a state folder. */
  readonly root: string;
  /** The named folder, without links. */
  readonly start: string;
  /** Whether the archive has a state folder, with the log of deleted packages. */
  readonly hasState: boolean;
}

/** Throws ERR_CONFIG (no folder named) and ERR_FILE (no such folder, no folder, denied). */
export async function findPlace(folder: string, disk: ArchiveDisk = plainDisk): Promise<Place> {
  const named = await checkRoot(folder, disk, diskFacts);
  try {
    const start = await disk.realpath(named);
    await disk.readdir(start);
    return await findRoot(start, disk);
  } catch (error) {
    throw asFileError(error, named);
  }
}

/** Finds the archive of a folder without links. Throws ERR_STORE, or the system's error. */
export async function findRoot(start: string, disk: ReadDisk): Promise<Place> {
  for (let at = start; ; at = dirname(at)) {
    if (await hasStateFolder(at, start, disk)) {
      return { root: at, start, hasState: true };
    }
    if (dirname(at) === at) {
      return { root: start, start, hasState: false };
    }
  }
}

/** The rights in a bucket may end with the prefix that was named: what is above it is not part of the archive then. */
async function hasStateFolder(folder: string, start: string, disk: ReadDisk): Promise<boolean> {
  try {
    return await exists(join(folder, stateFolderName), disk);
  } catch (error) {
    if (folder !== start && isDimensionerError(error) && error.sentence === "bucketDenied") {
      return false;
    }
    throw error;
  }
}

/** Walks through a folder in the disk's own order, keeping only the path to the present entry. No link is followed. */
export async function* walkPackages(
  root: string,
  folder: string,
  disk: ReadDisk = plainDisk,
): AsyncGenerator<WalkEntry> {
  const path = relative(root, folder).split(sep).join("/");
  try {
    const found = await loadManifest(join(folder, manifestFileName), disk);
    if (found === "damaged") {
      yield { kind: "damaged", path };
    }
    if (typeof found !== "string") {
      yield { kind: "package", path, folder, ...found };
    }
    if (found !== "none") {
      return;
    }
    for await (const entry of await disk.opendir(folder)) {
      const entryPath = path === "" ? entry.name : `${path}/${entry.name}`;
      if (path === "" && isLeftOut(entry.name)) {
        continue;
      }
      const inner = join(folder, entry.name);
      if (!entry.isDirectory()) {
        yield { kind: "stray", path: entryPath };
      } else if (await exists(join(inner, stateFolderName), disk)) {
        yield { kind: "archive", path: entryPath };
      } else {
        yield* walkPackages(root, inner, disk);
      }
    }
  } catch (error) {
    // A bucket that fails would fail for each of its packages.
    if (isDimensionerError(error)) {
      throw error;
    }
    // Deleted by a pruner during the walk.
    if (systemCode(error) === "ENOENT") {
      return;
    }
    const problem = error instanceof Error ? error.message : String(error);
    yield { kind: "unreadable", path, problem, error };
  }
}

/** Whether a walk leaves out what has this name in the folder of packages. */
export function isLeftOut(name: string): boolean {
  return name === stateFolderName || foldersOfSystem.has(name);
}

/** The names in a package that its manifest does not name. */
export async function* straysOf(
  folder: string,
  named: ReadonlySet<string>,
  disk: ReadDisk,
): AsyncGenerator<string> {
  for await (const entry of await disk.opendir(folder)) {
    if (!named.has(entry.name)) {
      yield entry.name;
    }
  }
}

/** What a verification says of an entry that is no package. */
export function findingOf(entry: Exclude<WalkEntry, { kind: "package" }>): Finding {
  const { path } = entry;
  switch (entry.kind) {
    case "damaged":
      return { kind: "manifest", path, problem: damagedManifest };
    case "stray":
      return { kind: "stray", path, problem: "this does not belong to any package" };
    case "archive":
      return { kind: "stray", path, problem: "this is a separate archive: verify it on its own" };
    case "unreadable":
      return { kind: "unreadable", path, problem: entry.problem };
  }
}
