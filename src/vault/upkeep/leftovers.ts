import { basename, dirname, join, posix } from "node:path";
import { type Database, type Row, type SqlValue, type Statement, marksFor } from "../../database/database.ts";
import { listOf, unfinished } from "../../database/own-jobs.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveNote, Finding, PrunedPackage } from "../../model/archive-reports.ts";
import {
  type ReadDisk,
  holdName,
  exists,
  isAbsent,
  isReal,
  manifestFileName,
  namesIn,
  namesInState,
  stateFolderName,
  trashFolderName,
  workFolderName,
} from "../archive-disk.ts";
import { keyOf, type ListedFolder, listFolders } from "../bucket/bucket-disk.ts";
import { markArchive, readTrashed, type BucketVault } from "../bucket/bucket-vault.ts";
import type { Vault } from "../vault.ts";
import { findDatabases, openForTool } from "../index-reader.ts";
import type { OpenedScope } from "../open-vault.ts";
import { isUploadLocation } from "../packages/layout.ts";
import { filesOf } from "../packages/manifest.ts";
import { type FoundManifest, loadManifest } from "../packages/package-files.ts";
import type { ListedObject } from "../s3/bucket.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { CheckParts, PrunedPackages } from "./seen-packages.ts";
import { damagedManifest, isElsewhere, loadManifestWithin, locationOf, sayRetained } from "../walk.ts";

/** A medium that is stored for other workers is named by its SHA-256, and a note about media by that of the first one. */
export const stagedFileName = /^[0-9a-f]{64}(?:\.item)?$/;

/**
 * Finds what the state folder of an archive contains besides logs and time stamps: work on open jobs, by store,
 * and folders that were moved aside. `lost`: the store whose
 * database was lost.
 */
export async function findLeftovers(root: string, disk: ReadDisk, lost?: string): Promise<ArchiveNote[]> {
  const state = join(root, stateFolderName);
  const notes: ArchiveNote[] = [];
  let staged = 0;
  const work = join(state, workFolderName);
  for (const store of await foldersIn(work, disk)) {
    const jobs = (await foldersIn(join(work, store), disk)).length;
    // In a bucket, it is the folder of a job, with the media themselves in it.
    const names = jobs === 0 ? await namesIn(join(work, store), disk) : [];
    staged += names.some((name) => stagedFileName.test(name)) ? 1 : 0;
    if (jobs > 0) {
      const text = `the media of ${count(jobs, "open job")} of the store ${store} are here; ${
        store === lost
          ? "only the lost database knew which jobs they belong to"
          : "Node-RED continues with them as long as it has the database of that store"
      }`;
      notes.push({ kind: "work", path: `${stateFolderName}/${workFolderName}/${store}`, text });
    }
  }
  if (staged > 0) {
    const text = `media of ${count(staged, "job")} are here, for other workers to continue with; dimensioner prune removes those of jobs that have ended, or that the database does not know`;
    notes.push({ kind: "work", path: `${stateFolderName}/${workFolderName}`, text });
  }
  for (const [name, kind, text] of [
    ["aside", "aside", "moved aside: it belongs to no open job. Check whether it is needed, then delete it"],
    [
      "trash",
      "trash",
      "the next dimensioner prune removes what the log says was deleted, unless it is on hold",
    ],
  ] as const) {
    const entries = (await foldersIn(join(state, name), disk)).length;
    if (entries > 0) {
      notes.push({ kind, path: `${stateFolderName}/${name}`, text: `${count(entries, "folder")}: ${text}` });
    }
  }
  return notes;
}

/** Names in the trash of a folder of packages. Throws ERR_FILE if a link leads to it. */
export function trashOf({ root, disk }: Pick<Vault, "disk" | "root">): Promise<string[]> {
  return namesInState(root, [trashFolderName], disk);
}

/**
 * Checks that these entries of the trash are packages that the log says were deleted. A prune says so in the log first, so the log has to be
 * read after the names. In a bucket, they are copies of manifests that the log knows: one stays where a deletion was refused.
 */
export async function* checkTrash(
  names: readonly string[],
  { root, disk, pruned, seen }: Pick<CheckParts, "disk" | "pruned" | "root" | "seen">,
  kind: Vault["kind"],
): AsyncGenerator<Finding> {
  for (const name of names) {
    const path = `${stateFolderName}/${trashFolderName}/${name}`;
    const sha256 = await (
      kind === "s3" ? sha256OfCopy(join(root, path), disk) : sha256OfTrashed(join(root, path), disk)
    ).catch((error: unknown) => {
      // A bucket that fails would fail for each of them.
      if (isDimensionerError(error)) {
        throw error;
      }
      return undefined;
    });
    const isExpected = async (hash: string): Promise<boolean> =>
      kind === "s3"
        ? (await seen.select("SELECT 1 FROM logged WHERE sha256 = ? LIMIT 1", [hash])).length > 0
        : (await pruned?.has(hash)) === true;
    if (sha256 !== "gone" && (sha256 === undefined || !(await isExpected(sha256)))) {
      const problem =
        "this is in the trash, and the log does not say that it was deleted: see what it is, and take it out";
      yield { kind: "stray", path, problem };
    }
  }
}

/** The SHA-256 of the manifest in a folder of the trash; "gone" if it is removed meanwhile, with its manifest last; undefined if it has none. */
async function sha256OfTrashed(folder: string, disk: ReadDisk): Promise<string | undefined> {
  const found = await loadManifest(join(folder, manifestFileName), disk);
  if (typeof found === "object") {
    return found.sha256;
  }
  if (!(await exists(folder, disk))) {
    return "gone";
  }
  return (await disk.lstat(folder)).isDirectory() && (await namesIn(folder, disk)).length === 0
    ? "gone"
    : undefined;
}

/** The same for the copy of a manifest in the trash of a bucket. */
async function sha256OfCopy(path: string, disk: ReadDisk): Promise<string | undefined> {
  const read = await readTrashed(path, disk);
  return read !== undefined ? sha256Of(read.bytes) : (await exists(path, disk)) ? undefined : "gone";
}

/** The names of the folders in a folder, without links; none if a link leads to it. */
async function foldersIn(folder: string, disk: ReadDisk): Promise<string[]> {
  const names: string[] = [];
  if (!(await isReal(folder, disk))) {
    return names;
  }
  try {
    for await (const entry of await disk.opendir(folder)) {
      if (entry.isDirectory()) {
        names.push(entry.name);
      }
    }
  } catch (error) {
    if (!isAbsent(error)) {
      throw error;
    }
  }
  return names.sort();
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}

export interface LeftoverOptions {
  /** Only what was stored before this is removed: milliseconds since 1970. What is younger may be being uploaded. */
  readonly beforeMs: number;
  /** Only tells what would be removed. */
  readonly isDryRun?: boolean | undefined;
  /** Aborting ends it between two folders with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A folder of a bucket that is to be removed. */
export interface LeftoverFolder {
  /** Below the folder of packages, with slashes. */
  readonly location: string;
  /** What it is left of: a part of a sentence. */
  readonly reason: string;
  /** The manifest in it; undefined if there must be none. */
  readonly found?: FoundManifest | undefined;
  /** Whether an object belongs to it, if that does not show from the SHA-256 that this package notes with each object. */
  readonly isOurs?: ((object: ListedObject) => boolean) | undefined;
}

/**
 * Removes a folder that is left of an upload or of a package, with its manifest first. Returns what has become of it;
 * undefined if something in it is too young, or has come or changed meanwhile. What somebody else has put there keeps it,
 * and so do a hold and the object store's own protection. Throws ERR_STORE.
 */
export async function removeLeftover(
  vault: BucketVault,
  leftover: LeftoverFolder,
  { beforeMs, isDryRun = false }: LeftoverOptions,
): Promise<PrunedPackage | undefined> {
  const { location, reason, found } = leftover;
  const folder = join(vault.root, location);
  const objects = await listAll(vault, folder);
  const bytes = objects.reduce((sum, one) => sum + one.bytes, 0);
  const hasManifest = objects.some(({ key }) => key === keyOf(join(folder, manifestFileName)));
  if (hasManifest !== (found !== undefined) || !objects.every((one) => isBefore(one, beforeMs))) {
    return undefined;
  }
  const kept = await reasonToKeep(vault, folder, objects, leftover);
  if (kept !== null) {
    return { what: kept === "hold" ? "held" : "kept", path: location, bytes, reason: kept };
  }
  if (isDryRun) {
    return { what: "leftover", path: location, bytes, reason };
  }
  try {
    await vault.bucket.endUploads(`${keyOf(folder)}/`, Infinity);
    if (!(await vault.removeUpload(folder))) {
      return { what: "held", path: location, bytes, reason: "hold" };
    }
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "bucketProtected") {
      return { what: "kept", path: location, bytes, reason: error.message };
    }
    throw error;
  }
  const isEmpty = (await listAll(vault, folder)).length === 0;
  return isEmpty ? { what: "leftover", path: location, bytes, reason } : undefined;
}

/** Whether an object was stored before a time. If the object store does not say when, it was not. */
function isBefore({ storedAtMs }: ListedObject, beforeMs: number): boolean {
  return storedAtMs <= beforeMs;
}

/** All objects below a folder. */
async function listAll({ bucket }: BucketVault, folder: string): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of bucket.list(`${keyOf(folder)}/`)) {
    objects.push(...page);
  }
  return objects;
}

async function reasonToKeep(
  vault: BucketVault,
  folder: string,
  objects: readonly ListedObject[],
  { found, isOurs }: LeftoverFolder,
): Promise<string | null> {
  const below = keyOf(folder).length + 1;
  if (objects.some(({ key }) => holdName.test(basename(key)))) {
    return "hold";
  }
  const named =
    found === undefined
      ? null
      : new Set([manifestFileName, ...filesOf(found.manifest).map(({ path }) => path)]);
  let untilMs = 0;
  for (const object of objects) {
    const name = object.key.slice(below);
    const head = await vault.bucket.head(object.key);
    const isOurOwn = named?.has(name) ?? isOurs?.(object) ?? head?.sha256 !== undefined;
    if (name.includes("/") || !isOurOwn) {
      return `it contains ${name}, which is not of this package`;
    }
    untilMs = Math.max(untilMs, head?.retainedUntilMs ?? 0);
  }
  return untilMs > 0 && untilMs > (await vault.leastTimeMs()) ? sayRetained(untilMs) : null;
}

interface LeftoverPruningOptions extends LeftoverOptions {
  /** The database of the store, or the folder that contains those of all stores that use the bucket. */
  readonly database: string;
  /** Files are opened in it. */
  readonly thread: ToolThread;
}

/** Removes what is left in a bucket and belongs to no package. */
export class LeftoverPruning {
  readonly #scope: OpenedScope;
  readonly #vault: BucketVault;
  readonly #options: LeftoverPruningOptions;
  #problem: string | null = null;

  constructor(scope: OpenedScope, vault: BucketVault, options: LeftoverPruningOptions) {
    this.#scope = scope;
    this.#vault = vault;
    this.#options = options;
  }

  /** Why it has ended early; null if it has not. */
  get problem(): string | null {
    return this.#problem;
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const opened: Database[] = [];
    try {
      await this.#open(opened);
      yield* this.#remove(opened);
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (!isDimensionerError(error)) {
        throw error;
      }
      this.#problem = error.message;
    } finally {
      await Promise.all(opened.map((one) => one.close()));
    }
  }

  async *#remove(databases: readonly Database[]): AsyncGenerator<PrunedPackage> {
    const { root, start } = this.#scope;
    if (start === root) {
      for (const database of databases) {
        yield* removeUploads({ vault: this.#vault, database }, this.#options);
      }
    }
    yield* new ListedLeftovers({ vault: this.#vault, start }, databases, this.#options).run();
    if (start === root && this.#options.isDryRun !== true) {
      await this.#vault.removeInterrupted(this.#options.beforeMs);
    }
  }

  async #open(opened: Database[]): Promise<void> {
    const { database: given, isDryRun, thread } = this.#options;
    const { key, location } = this.#scope;
    for (const one of await findDatabases(given, { key, name: location }, thread)) {
      opened.push(await openForTool(one, isDryRun === true ? "read" : "write", thread));
    }
  }
}

/** The packages and the database of a store whose packages are in a bucket. */
export interface BucketStore {
  readonly vault: BucketVault;
  readonly database: Pick<Database, "transaction">;
}

/**
 * Marks an archive in a bucket, and removes what jobs have left there before a time that ended elsewhere or not at all. Aborting the signal
 * ends it.
 */
export async function tidyBucket(
  { vault, database }: BucketStore,
  { beforeMs, signal }: { readonly beforeMs: number; readonly signal: AbortSignal },
): Promise<void> {
  // An archive of an earlier version may have packages already.
  await markArchive(vault.bucket, keyOf(vault.root));
  for await (const _removed of removeUploads({ vault, database }, { beforeMs, signal })) {
    signal.throwIfAborted();
  }
  await vault.removeInterrupted(beforeMs);
}

/**
 * Removes what jobs that have ended have left in the bucket: the locations in the table `uploads` at which no package is
 * listed. The bucket is not listed for that, so a worker may call it often. Several may at the same time, and the next run
 * continues one that was interrupted. A whole package is removed only if another one of the same job is listed
 * and there. Yields what was removed, and what was kept and why. Throws ERR_STORE.
 *
 *     for await (const one of removeUploads({ files, database }, { beforeMs: Date.now() - dayMs, signal })) …
 */
export async function* removeUploads(
  { vault, database }: BucketStore,
  options: LeftoverOptions,
): AsyncGenerator<PrunedPackage> {
  const begunBefore = new Date(options.beforeMs);
  let rows: readonly EndedUpload[] = [];
  do {
    rows = await endedUploads(database, rows.at(-1)?.location ?? "", begunBefore);
    for (const upload of rows) {
      options.signal?.throwIfAborted();
      const { result, isSettled } = upload.isListed
        ? { result: undefined, isSettled: true }
        : await removeUpload({ vault, database }, upload.location, options);
      // The row goes last: what a kill leaves is found again by it.
      if (isSettled && options.isDryRun !== true) {
        await forgetUpload(database, upload);
      }
      if (result !== undefined) {
        yield result;
      }
    }
  } while (rows.length === mostValues);
}

async function removeUpload(
  { vault, database }: BucketStore,
  location: string,
  options: LeftoverOptions,
): Promise<{ readonly result: PrunedPackage | undefined; readonly isSettled: boolean }> {
  const kept = (reason: string): PrunedPackage => ({ what: "kept", path: location, bytes: 0, reason });
  if (!isUploadLocation(location)) {
    return { result: kept("this is not the place of an upload"), isSettled: false };
  }
  const found = await loadManifestWithin(vault.root, `${location}/${manifestFileName}`, vault.disk);
  if (found === "damaged") {
    return { result: kept(damagedManifest), isSettled: false };
  }
  const rows = new LeftoverRows([database]);
  if (found !== "none" && !(await isReplaced(vault, rows, { location, found }))) {
    // Without its row, a verification reports it.
    const reason = "it is a whole package that the database does not list: dimensioner rebuild adds it";
    return { result: kept(reason), isSettled: true };
  }
  const leftover =
    found === "none" ? { location, reason: neverCompleted } : { location, reason: placedAgain, found };
  const result = await removeLeftover(vault, leftover, options);
  return { result, isSettled: result?.what === "leftover" };
}

const neverCompleted = "an upload that was never completed";
const placedAgain = "a second package of a job whose package is another one";

/**
 * Whether a package is one that a worker has placed for a job that has ended with another package: that one is listed beside
 * this one, or it is the one of another job, and it is there with all its files. A copy that somebody has made has the
 * same manifest.
 */
async function isReplaced(
  vault: BucketVault,
  rows: LeftoverRows,
  { location, found }: { readonly location: string; readonly found: FoundManifest },
): Promise<boolean> {
  for (const { location: other, sha256, isOwn } of await rows.packagesOf(found.manifest.job)) {
    const isOther = other !== location && sha256 !== found.sha256;
    const isExpected = !isOwn || posix.dirname(other) === posix.dirname(location);
    if (isOther && isExpected && (await isWhole(vault, { location: other, sha256 }))) {
      return true;
    }
  }
  return false;
}

async function isWhole(
  vault: BucketVault,
  { location, sha256 }: { readonly location: string; readonly sha256: string },
): Promise<boolean> {
  const found = await loadManifestWithin(vault.root, `${location}/${manifestFileName}`, vault.disk);
  if (typeof found === "string" || found.sha256 !== sha256) {
    return false;
  }
  const folder = join(vault.root, location);
  const objects = await listAll(vault, folder);
  const bytesOfKey = new Map(objects.map(({ key, bytes }) => [key, bytes]));
  return filesOf(found.manifest).every(
    ({ path, bytes }) => bytesOfKey.get(keyOf(join(folder, path))) === bytes,
  );
}

/** A folder that may be left of something. */
interface Candidate {
  readonly location: string;
  readonly bytes: number;
}

/** Where the media of open jobs are stored for other workers: a folder for each job. */
const stagedFolder = `${stateFolderName}/${workFolderName}`;
/** How many of a kind one run deals with, so that they need little memory. The next run takes the others. */
const mostCandidates = 10_000;
/** So many packages that no database lists are enough to know that not all databases were given. */
const mostUnlisted = 1_000;

const otherDatabase =
  "there are packages here that no database lists: specify the databases of all stores with --database, or complete them with dimensioner rebuild";
const manifestLost = "the database lists a package here whose manifest is missing: see dimensioner verify";

/**
 * Finds in a listing of a bucket what belongs to no package, and removes it: uploads of which no database knows any more,
 * second packages of a job, what is left of deleted packages, and media stored for jobs that have ended. The databases are
 * asked after something was listed: an upload is in one of them before its first object is stored.
 */
class ListedLeftovers {
  readonly #vault: BucketVault;
  readonly #start: string;
  readonly #rows: LeftoverRows;
  readonly #options: LeftoverOptions;
  readonly #archives = new Set<string>();
  readonly #closed = new Set<string>();
  /** Packages that were not looked up yet. */
  #packages: string[] = [];
  readonly #replaced: { readonly location: string; readonly found: FoundManifest }[] = [];
  readonly #unlisted: string[] = [];
  /** Folders without a manifest that an upload may have made. */
  readonly #uploads: Candidate[] = [];
  readonly #staged: Candidate[] = [];

  /** `start`: the folder that is listed, as `BucketDisk` names it. */
  constructor(
    { vault, start }: { readonly vault: BucketVault; readonly start: string },
    databases: readonly Database[],
    options: LeftoverOptions,
  ) {
    this.#vault = vault;
    this.#start = start;
    this.#rows = new LeftoverRows(databases);
    this.#options = options;
  }

  /** Throws ERR_STORE. */
  async *run(): AsyncGenerator<PrunedPackage> {
    for await (const folder of listFolders(this.#vault.bucket, this.#start)) {
      this.#options.signal?.throwIfAborted();
      this.#note(folder);
      if (this.#packages.length >= mostValues) {
        await this.#lookUp();
      }
    }
    await this.#lookUp();
    yield* this.#removeReplaced();
    yield* this.#removeUnfinished();
    yield* this.#removeStaged();
  }

  #note({ path, objects, hasManifest, hasFolders }: ListedFolder): void {
    const location = locationOf(this.#vault, path);
    const parts = location.split("/");
    if (parts.includes(stateFolderName)) {
      const isStaged = dirname(location) === stagedFolder && this.#isOld(objects);
      if (isStaged) {
        add(this.#staged, { location, objects });
      } else if (parts.length > 1 && parts.at(-1) === stateFolderName) {
        this.#archives.add(dirname(path));
      }
      return;
    }
    if (hasManifest) {
      if (hasFolders) {
        this.#closed.add(path);
      }
      this.#packages.push(location);
    } else if (isUploadLocation(location) && this.#isOld(objects)) {
      add(this.#uploads, { location, objects });
    }
  }

  #isOld(objects: ListedFolder["objects"]): boolean {
    return objects.length > 0 && objects.every((one) => isBefore(one, this.#options.beforeMs));
  }

  async #lookUp(): Promise<void> {
    const locations = this.#packages;
    this.#packages = [];
    const known = await this.#rows.known(locations);
    for (const location of locations.filter((one) => !known.has(one))) {
      if (this.#unlisted.length === mostUnlisted) {
        return;
      }
      const found = await loadManifest(join(this.#pathOf(location), manifestFileName), this.#vault.disk);
      if (typeof found === "string") {
        continue;
      }
      if (isUploadLocation(location) && (await isReplaced(this.#vault, this.#rows, { location, found }))) {
        this.#replaced.push({ location, found });
      } else if ((await this.#rows.packagesOf(found.manifest.job)).length === 0) {
        this.#unlisted.push(location);
      }
    }
  }

  async *#removeReplaced(): AsyncGenerator<PrunedPackage> {
    for (const { location, found } of this.#replaced) {
      yield* this.#remove({ location, found, reason: placedAgain });
    }
  }

  async *#removeUnfinished(): AsyncGenerator<PrunedPackage> {
    const uploads = this.#uploads.filter(({ location }) => this.#isHere(location));
    const known = await this.#rows.known(uploads.map(({ location }) => location));
    for (const { location, bytes } of uploads) {
      const what = known.get(location);
      const reason = what === "package" ? manifestLost : this.#reasonNotToTell();
      if (what === "upload") {
        continue;
      }
      if (reason === null) {
        yield* this.#remove({ location, reason: neverCompleted });
      } else {
        yield { what: "kept", path: location, bytes, reason };
      }
    }
  }

  async *#removeStaged(): AsyncGenerator<PrunedPackage> {
    const jobs = await this.#rows.jobs(this.#staged.map(({ location }) => basename(location)));
    for (const { location, bytes } of this.#staged) {
      const job = jobs.get(basename(location));
      const reason = job === undefined ? this.#reasonNotToTell() : null;
      if (job?.needsMedia === true) {
        continue;
      }
      if (reason === null) {
        const isOurs: LeftoverFolder["isOurs"] = ({ key }) => stagedFileName.test(basename(key));
        const whose = job === undefined ? "that the database does not know" : "that has ended";
        yield* this.#remove({ location, reason: `media of a job ${whose}`, isOurs });
      } else {
        yield { what: "kept", path: location, bytes, reason };
      }
    }
  }

  /** Why the databases cannot tell that something is needed by nobody; null if they can. */
  #reasonNotToTell(): string | null {
    return this.#unlisted.some((location) => this.#isHere(location)) ? otherDatabase : null;
  }

  async *#remove(leftover: LeftoverFolder): AsyncGenerator<PrunedPackage> {
    this.#options.signal?.throwIfAborted();
    const result = this.#isHere(leftover.location)
      ? await removeLeftover(this.#vault, leftover, this.#options)
      : undefined;
    if (result !== undefined) {
      yield result;
    }
  }

  /** Whether a folder is in this archive, and not in another one or in a package. */
  #isHere(location: string): boolean {
    return !isElsewhere(this.#pathOf(location), { archives: this.#archives, closed: this.#closed });
  }

  #pathOf(location: string): string {
    return join(this.#vault.root, location);
  }
}

function add(
  to: Candidate[],
  { location, objects }: Pick<ListedFolder, "objects"> & { location: string },
): void {
  if (to.length < mostCandidates) {
    to.push({ location, bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0) });
  }
}

/** Where a job that has ended was uploading its package. */
export interface EndedUpload {
  readonly location: string;
  readonly begunAt: string;
  /** Whether a package is listed there. */
  readonly isListed: boolean;
}

/** How many values a statement has at most. */
const mostValues = 200;

/**
 * Selects locations to which jobs that have ended were uploading before a time, in the order of their names. An open job may be
 * uploading again to the same location, whatever the time says, and a job that has ended is never opened again.
 */
async function endedUploads(
  database: Pick<Database, "transaction">,
  after: string,
  before: Date,
): Promise<readonly EndedUpload[]> {
  const [rows = []] = await database.transaction([
    {
      sql: `SELECT location, begun_at,
          EXISTS (SELECT 1 FROM packages WHERE packages.location = uploads.location) AS is_listed
        FROM uploads WHERE location > ? AND begun_at <= ? AND NOT EXISTS
          (SELECT 1 FROM jobs WHERE jobs.job_id = uploads.job_id AND state IN (${listOf(unfinished)}))
        ORDER BY location LIMIT ?`,
      values: [after, before.toISOString(), mostValues],
    },
  ]);
  return rows.map((row) => ({
    location: String(row["location"]),
    begunAt: String(row["begun_at"]),
    isListed: Number(row["is_listed"]) > 0,
  }));
}

/** Removes the row of such a location. */
async function forgetUpload(
  database: Pick<Database, "transaction">,
  { location, begunAt }: EndedUpload,
): Promise<void> {
  await database.transaction([
    { sql: "DELETE FROM uploads WHERE location = ? AND begun_at = ?", values: [location, begunAt] },
  ]);
}

/** What several databases know together. */
export class LeftoverRows {
  readonly #databases: readonly Pick<Database, "transaction">[];

  constructor(databases: readonly Pick<Database, "transaction">[]) {
    this.#databases = databases;
  }

  /**
   * Which of these locations have a package, or an upload that may become one. Both are asked at once: a row of `uploads`
   * goes in the same transaction in which that of `packages` comes.
   */
  async known(locations: readonly string[]): Promise<ReadonlyMap<string, "package" | "upload">> {
    const known = new Map<string, "package" | "upload">();
    const rows = await this.#select(locations, (marks) => [
      `SELECT location, 'upload' AS what FROM uploads WHERE location IN (${marks})`,
      `SELECT location, 'package' AS what FROM packages WHERE location IN (${marks})`,
    ]);
    for (const row of rows) {
      // A package comes last, and counts more.
      known.set(String(row["location"]), row["what"] === "package" ? "package" : "upload");
    }
    return known;
  }

  /** The packages of a job: its own one, or the one of another job with which it has ended. */
  async packagesOf(job: string): Promise<readonly { location: string; sha256: string; isOwn: boolean }[]> {
    const rows = await this.#select([job], () => [
      "SELECT location, manifest_sha256, 1 AS is_own FROM packages WHERE package_id = ?",
      `SELECT location, manifest_sha256, 0 AS is_own FROM jobs
        WHERE job_id = ? AND state = 'reported' AND location IS NOT NULL`,
    ]);
    return rows.map((row) => ({
      location: String(row["location"]),
      sha256: String(row["manifest_sha256"]),
      isOwn: Number(row["is_own"]) > 0,
    }));
  }

  /**
   * Which of these jobs are known, and whether media that were stored for them may be needed: they are open, or have failed
   * with media that are nowhere else.
   */
  async jobs(ids: readonly string[]): Promise<ReadonlyMap<string, { readonly needsMedia: boolean }>> {
    const rows = await this.#select(ids, (marks) => [
      `SELECT job_id, CASE WHEN state IN (${listOf(unfinished)}) OR (state = 'failed' AND EXISTS
          (SELECT 1 FROM job_media WHERE job_media.job_id = jobs.job_id AND source <> 'cloud'))
          THEN 1 ELSE 0 END AS needs_media
        FROM jobs WHERE job_id IN (${marks})`,
      // The row of a job goes with its message; its package stays.
      `SELECT package_id AS job_id, 0 AS needs_media FROM packages WHERE package_id IN (${marks})`,
    ]);
    const known = new Map<string, { readonly needsMedia: boolean }>();
    for (const row of rows) {
      const id = String(row["job_id"]);
      known.set(id, { needsMedia: Number(row["needs_media"]) > 0 || known.get(id)?.needsMedia === true });
    }
    return known;
  }

  /** Runs statements with all these values in each database, each database in one transaction for some of the values. */
  async #select(
    values: readonly SqlValue[],
    sqlOf: (marks: string) => readonly string[],
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let first = 0; first < values.length; first += mostValues) {
      const some = values.slice(first, first + mostValues);
      const marks = marksFor(some);
      for (const database of this.#databases) {
        const statements: Statement[] = sqlOf(marks).map((sql) => ({ sql, values: some }));
        rows.push(...(await database.transaction(statements)).flat());
      }
    }
    return rows;
  }
}

/**
 * Tells what is not a package in a bucket, and not wrong: what is being uploaded, before its manifest is there, and what is
 * being deleted, after it.
 */
export class UnfinishedPackages {
  readonly #vault: Pick<Vault, "showsUnfinished">;
  readonly #pruned: Pick<PrunedPackages, "hasPath"> | undefined;
  #first: string | undefined;
  #count = 0;
  /** The last folder that was looked up: its objects come one after the other. */
  #last: { readonly folder: string; readonly isPruned: boolean } | undefined;

  constructor(vault: Pick<Vault, "showsUnfinished">, pruned: Pick<PrunedPackages, "hasPath"> | undefined) {
    this.#vault = vault;
    this.#pruned = pruned;
  }

  /** Whether an object that is in no package is in such a folder. */
  async has(path: string): Promise<boolean> {
    const folder = posix.dirname(path);
    if (!this.#vault.showsUnfinished || folder === ".") {
      return false;
    }
    if (isUploadLocation(folder) || (await this.#isPruned(folder))) {
      this.#first ??= folder;
      this.#count += 1;
      return true;
    }
    return false;
  }

  get notes(): readonly ArchiveNote[] {
    if (this.#first === undefined) {
      return [];
    }
    const [count, verb] = this.#count === 1 ? ["1 object", "belongs"] : [`${this.#count} objects`, "belong"];
    const text = `${count} ${verb} to packages that are being uploaded or deleted, or were never completed: dimensioner prune removes what is older than a day`;
    return [{ kind: "uploads", path: this.#first, text }];
  }

  async #isPruned(folder: string): Promise<boolean> {
    if (this.#last?.folder !== folder) {
      this.#last = { folder, isPruned: (await this.#pruned?.hasPath(folder)) === true };
    }
    return this.#last.isPruned;
  }
}
