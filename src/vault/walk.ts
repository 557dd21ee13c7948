import { dirname, join, relative, sep } from "node:path";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { systemCode } from "../media/disk.ts";
import { checkRoot } from "../media/place-file.ts";
import type { Finding } from "../model/archive-reports.ts";
import {
  type ArchiveDisk,
  type ReadDisk,
  asFileError,
  diskFacts,
  exists,
  isAbsent,
  manifestFileName,
  plainDisk,
  stateFolderName,
} from "./archive-disk.ts";
import type { Vault } from "./vault.ts";
import { filesOf } from "./packages/manifest.ts";
import { type FoundManifest, loadManifest } from "./packages/package-files.ts";

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
export interface VaultScope {
  /** The folder of packages, without links: the folder itself, or the nearest one above it with a state folder. */
  readonly root: string;
  /** The named folder, without links. */
  readonly start: string;
  /** Whether the archive has a state folder, with the log of deleted packages. */
  readonly hasState: boolean;
}

/** Throws ERR_CONFIG (no folder named) and ERR_FILE (no such folder, no folder, denied). */
export async function findScope(folder: string, disk: ArchiveDisk = plainDisk): Promise<VaultScope> {
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
export async function findRoot(start: string, disk: ReadDisk): Promise<VaultScope> {
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

/** What the names of all objects say, before a single one is read. Paths are those of `BucketDisk`. */
export interface BucketSurvey {
  /** Folders with a state folder of their own: their packages do not belong to this archive. */
  readonly archives: ReadonlySet<string>;
  /** Packages with folders in them, which are no archives of packages. */
  readonly closed: ReadonlySet<string>;
}

/** Whether a folder is in another archive, or in a package. */
export function isElsewhere(path: string, { archives, closed }: BucketSurvey): boolean {
  if (archives.has(path)) {
    return true;
  }
  for (let end = path.lastIndexOf(sep); end > 0; end = path.lastIndexOf(sep, end - 1)) {
    const above = path.slice(0, end);
    if (archives.has(above) || closed.has(above)) {
      return true;
    }
  }
  return path !== sep && closed.has(sep);
}

/** The names in a package that its manifest does not name. */
export function straysIn(
  { folder, manifest }: Pick<WalkedPackage, "folder" | "manifest">,
  disk: ReadDisk,
): AsyncGenerator<string> {
  return straysOf(folder, new Set([manifestFileName, ...filesOf(manifest).map(({ path }) => path)]), disk);
}

/**
 * Loads the manifest at a path that a manifest or a database names. Neither is trusted: a path that leads out of the
 * root, by links or upwards, counts as missing. `root` has no links in it.
 */
export async function loadManifestWithin(
  root: string,
  path: string,
  disk: Pick<ReadDisk, "open" | "realpath">,
): Promise<FoundManifest | "damaged" | "none"> {
  if (path.split(/[/\\]/).includes("..") || /^(?:[/\\]|[a-z]:)/i.test(path) || path.includes("\0")) {
    return "none";
  }
  const file = join(root, path);
  try {
    const folder = await disk.realpath(dirname(file));
    const isInside = folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
    return isInside ? await loadManifest(file, disk) : "none";
  } catch (error) {
    if (isAbsent(error) || systemCode(error) === "ELOOP") {
      return "none";
    }
    throw error;
  }
}

/**
 * Works on several entries at the same time, and yields the results as they come, in any order. After an error nothing
 * new is begun; it is thrown when what runs has ended. Nothing runs when the generator has returned.
 */
export async function* inParallel<T, R>(
  entries: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (entry: T) => Promise<R>,
): AsyncGenerator<R> {
  const running = new Set<Promise<void>>();
  const results: R[] = [];
  const failures: unknown[] = [];
  try {
    for await (const entry of entries) {
      const run = work(entry)
        .then(
          (result) => void results.push(result),
          (error: unknown) => void failures.push(error),
        )
        .finally(() => running.delete(run));
      running.add(run);
      if (running.size >= most) {
        await Promise.race(running);
      }
      yield* results.splice(0);
      if (failures.length > 0) {
        break;
      }
    }
  } finally {
    await Promise.all(running);
  }
  yield* results.splice(0);
  if (failures.length > 0) {
    throw failures[0];
  }
}

/** The location of a folder, as `BucketDisk` names it. */
export function locationOf({ root }: Pick<Vault, "root">, path: string): string {
  return relative(root, path).split(sep).join("/");
}

/** Why something cannot be read, as a text for people. */
export function sayUnreadable(error: unknown): string {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM" ? "no permission to read it" : (code ?? String(error));
}

/** Why an object is not deleted that its object store protects until a time: infinite for a legal hold. */
export function sayRetained(untilMs: number): string {
  return untilMs === Infinity
    ? "the object store protects it from being deleted: a legal hold"
    : `the object store protects it from being deleted until ${new Date(untilMs).toISOString()} (Object Lock)`;
}
