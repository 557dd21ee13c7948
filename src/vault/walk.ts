import { basename, dirname, join, relative, sep } from "node:path";
import * as v from "valibot";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { systemCode } from "../media/disk.ts";
import { checkRoot } from "../media/place-file.ts";
import type { Finding } from "../model/archive-reports.ts";
import {
  type ArchiveDisk,
  type ReadDisk,
  asFileError,
  diskFacts,
  exists,
  holdLogName,
  holdName,
  isAbsent,
  manifestFileName,
  plainDisk,
  stateFolderName,
} from "./archive-disk.ts";
import { type ListedFolder, listFolders } from "./bucket/list-folders.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import type { BucketFiles } from "./files/bucket-files.ts";
import { LogReader, decodeLine } from "./files/checked-lines.ts";
import type { FolderFiles } from "./files/folder-files.ts";
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

/** Packages are small, and most of the time goes by while the object store answers. */
const requestsAtOnce = 8;

/** What the names of all objects say, before a single one is read. Paths are those of `BucketDisk`. */
export interface BucketSurvey {
  /** Folders with a state folder of their own: their packages do not belong to this archive. */
  readonly archives: ReadonlySet<string>;
  /** Packages with folders in them, which are no archives of packages. */
  readonly closed: ReadonlySet<string>;
}

/**
 * Lists a whole archive, and reads the manifests of packages on hold. Throws if one is damaged: then nobody can tell which
 * packages are on hold with it.
 */
export async function surveyBucket(
  files: BucketFiles,
  holds: Holds,
  signal?: AbortSignal,
): Promise<BucketSurvey> {
  const archives = new Set<string>();
  const closed = new Set<string>();
  const withHold: ListedFolder[] = [];
  for await (const folder of listFolders(files.bucket, files.root)) {
    signal?.throwIfAborted();
    const { path, objects, hasManifest, hasFolders } = folder;
    if (basename(path) === stateFolderName && path !== join(files.root, stateFolderName)) {
      archives.add(dirname(path));
    }
    if (hasManifest && hasFolders) {
      closed.add(path);
    }
    if (hasManifest && objects.some(({ key }) => holdName.test(basename(key)))) {
      withHold.push({ ...folder, objects: [] });
    }
  }
  const refuse = (location: string): never => {
    throw unreadError(files.addressOf(location));
  };
  for await (const found of packagesOf(files, withHold, { archives, closed }, refuse)) {
    holds.add(found);
  }
  return { archives, closed };
}

/** A package, or another archive. */
export type ArchiveEntry = WalkedPackage | { readonly kind: "archive"; readonly path: string };

/** Reads the packages in a folder of an archive, in any order, after the archives in it. Throws ERR_STORE. */
export async function* walkBucket(
  files: BucketFiles,
  start: string,
  survey: BucketSurvey,
): AsyncGenerator<ArchiveEntry> {
  for (const archive of survey.archives) {
    const isBelow = relative(start, archive).split(sep)[0] !== "..";
    if (isBelow && !isElsewhere(dirname(archive), survey)) {
      yield { kind: "archive", path: locationOf(files, archive) };
    }
  }
  yield* packagesOf(files, listFolders(files.bucket, start), survey);
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

async function* packagesOf(
  files: BucketFiles,
  folders: AsyncIterable<ListedFolder> | Iterable<ListedFolder>,
  survey: BucketSurvey,
  onDamaged: (location: string) => void = () => undefined,
): AsyncGenerator<WalkedPackage> {
  const load = async ({ path, hasManifest }: ListedFolder): Promise<WalkedPackage | undefined> => {
    const location = locationOf(files, path);
    if (!hasManifest || location.split("/")[0] === stateFolderName || isElsewhere(path, survey)) {
      return undefined;
    }
    const found = await loadManifest(join(path, manifestFileName), files.disk);
    if (found === "damaged") {
      onDamaged(location);
    }
    return typeof found === "string"
      ? undefined
      : { kind: "package", path: location, folder: path, ...found };
  };
  for await (const found of inParallel(folders, requestsAtOnce, load)) {
    if (found !== undefined) {
      yield found;
    }
  }
}

type Package = Pick<WalkedPackage, "manifest" | "path" | "sha256">;

const holdLine = v.object({
  what: v.literal("hold"),
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  transactionId: v.nullable(v.string()),
});

type HoldLine = v.InferOutput<typeof holdLine>;

/** The names in a package that its manifest does not name. */
export function straysIn(
  { folder, manifest }: Pick<WalkedPackage, "folder" | "manifest">,
  disk: ReadDisk,
): AsyncGenerator<string> {
  return straysOf(folder, new Set([manifestFileName, ...filesOf(manifest).map(({ path }) => path)]), disk);
}

/**
 * The path and the hash of the manifest of the package that this one supplements, or of its own. All packages of one transaction
 * have one of them in common: the path is another one after somebody has moved the package, or where the disk has the folder in other
 * capital and small letters than the layout; the hash is another one after somebody has changed the manifest.
 */
function keysOf({ path, sha256, manifest: { supplements = null } }: Package): readonly [string, string] {
  const first = supplements ?? { path: `${path}/${manifestFileName}`, sha256 };
  return [first.path, first.sha256];
}

/** The error of a run that does not know whether something is on hold; `address` names it for people. */
function unreadError(address: string, cause?: unknown): DimensionerError {
  const facts = { surface: "disk", operation: "prune", cause } as const;
  return new DimensionerError("holdsUnread", facts, { path: address });
}

/**
 * The packages that holds protect. A hold on a package or one of its supplements protects all of them, because one alone is
 * not what was archived. A run can take hours, so what was found when it began is looked at again before each deletion.
 */
export class Holds {
  readonly #files: ArchiveFiles;
  readonly #log: LogReader;
  /** By `keysOf`. */
  readonly #held = new Set<string>();
  /** Of all packages with one of these transactions, also where a manifest cannot be read at the moment. */
  readonly #heldTransactions = new Set<string>();
  /** The paths of the known supplements, by `keysOf`. */
  readonly #supplements = new Map<string, string[]>();
  /** Lines of the log whose package was not looked at yet. */
  readonly #lines: HoldLine[] = [];
  #reading: Promise<void> = Promise.resolve();

  private constructor(files: ArchiveFiles) {
    this.#files = files;
    this.#log = new LogReader(join(files.root, stateFolderName, holdLogName), files.disk);
  }

  /** To be called before the packages are searched for holds: what is set from now on is found in the log. */
  static async begin(files: ArchiveFiles): Promise<Holds> {
    const holds = new Holds(files);
    await holds.#log.skip();
    return holds;
  }

  /** Notes a package that is on hold. */
  add(one: Package): void {
    keysOf(one).forEach((key) => this.#held.add(key));
  }

  /** Notes a package, so that a hold which somebody puts there by hand later is found. */
  note(one: Package): void {
    if ((one.manifest.supplements ?? null) !== null) {
      for (const key of keysOf(one)) {
        this.#supplements.set(key, [...(this.#supplements.get(key) ?? []), one.path]);
      }
    }
  }

  /** Whether a package was protected when it was looked for. */
  has(one: Package): boolean {
    const { transactionId } = one.manifest;
    const isOfHeld = transactionId !== null && this.#heldTransactions.has(transactionId);
    return isOfHeld || keysOf(one).some((key) => this.#held.has(key));
  }

  /** Whether a package is protected by now, apart from a hold in its own folder. Throws what keeps it from being known. */
  async hasNow(one: Package): Promise<boolean> {
    // One after the other: who comes second must not look before the lines of the first one are noted.
    const read = this.#reading.then(() => this.#readOn());
    this.#reading = read.catch(() => undefined);
    await read;
    if (this.has(one)) {
      return true;
    }
    const keys = keysOf(one);
    const first = keys[0].slice(0, -manifestFileName.length - 1);
    for (const path of new Set([first, ...keys.flatMap((key) => this.#supplements.get(key) ?? [])])) {
      if (path !== one.path && (await isHeldAt(join(this.#files.root, path), this.#files.disk))) {
        return true;
      }
    }
    return false;
  }

  /** The line is written before the hold, which may not be there yet: so the line counts, even if it is released again. */
  async #readOn(): Promise<void> {
    const { root, disk } = this.#files;
    for await (const lines of this.#log.read()) {
      for (const text of lines) {
        const line = v.safeParse(holdLine, decodeLine(text), { abortEarly: true });
        if (line.success) {
          this.#lines.push(line.output);
        }
      }
    }
    for (let [line] = this.#lines; line !== undefined; [line] = this.#lines) {
      if (line.transactionId !== null) {
        this.#heldTransactions.add(line.transactionId);
      }
      const found = await loadManifest(join(root, line.path, manifestFileName), disk);
      if (typeof found !== "string") {
        this.add({ path: line.path, ...found });
      }
      this.#lines.shift();
    }
  }
}

/**
 * Searches a folder for holds. A supplement may be anywhere in the archive, so the whole folder is searched; of a bucket,
 * `surveyBucket` lists it. What cannot be read may be on hold, and nobody can tell for which packages: then it throws.
 */
export async function findHeld(
  { root, disk }: FolderFiles,
  holds: Holds,
  signal?: AbortSignal,
): Promise<void> {
  for await (const entry of walkPackages(root, root, disk)) {
    signal?.throwIfAborted();
    if (entry.kind === "unreadable") {
      throw unreadError(join(root, entry.path), entry.error);
    }
    if (entry.kind === "damaged" && (await isHeldAt(join(root, entry.path), disk))) {
      throw unreadError(join(root, entry.path));
    }
    if (entry.kind === "package") {
      holds.note(entry);
      if (await isHeld(entry, disk)) {
        holds.add(entry);
      }
    }
  }
}

async function isHeld(entry: WalkedPackage, disk: ReadDisk): Promise<boolean> {
  try {
    return await hasHold(straysIn(entry, disk));
  } catch (error) {
    // Another run is deleting it.
    if (isAbsent(error)) {
      return false;
    }
    throw unreadError(entry.folder, error);
  }
}

/** Whether a folder that may contain a package contains a hold. */
async function isHeldAt(folder: string, disk: ReadDisk): Promise<boolean> {
  try {
    const found = await loadManifest(join(folder, manifestFileName), disk);
    const named = typeof found === "string" ? [] : filesOf(found.manifest).map(({ path }) => path);
    return await hasHold(straysOf(folder, new Set(named), disk));
  } catch (error) {
    if (isAbsent(error)) {
      return false;
    }
    throw isDimensionerError(error) ? error : unreadError(folder, error);
  }
}

async function hasHold(names: AsyncIterable<string>): Promise<boolean> {
  for await (const name of names) {
    if (holdName.test(name)) {
      return true;
    }
  }
  return false;
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

/** The last part of the location of a package in a bucket: so much is random that no two packages have the same one. */
const packageName = /^[0-9a-f]{12}$/;

/** Whether a package may have been uploaded to a location. */
export function isUploadLocation(location: string): boolean {
  const parts = location.split("/");
  return (
    packageName.test(parts.at(-1) ?? "") &&
    parts[0] !== stateFolderName &&
    parts.every((part) => !/^\.{0,2}$|[\\\0]/.test(part))
  );
}

/** The location of a folder, as `BucketDisk` names it. */
export function locationOf({ root }: Pick<BucketFiles, "root">, path: string): string {
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
