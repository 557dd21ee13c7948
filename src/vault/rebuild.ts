import { chown, link, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Database, Statement } from "../database/database.ts";
import { isPostgresUrl, readPostgresUrl } from "../database/postgres-address.ts";
import { PostgresDatabase } from "../database/postgres-database.ts";
import { migrations } from "../database/schema.ts";
import { failureError, systemError } from "../database/sqlite-failures.ts";
import { StoreDatabase, identifyStore } from "../database/store-databases.ts";
import { ToolThread } from "../database/tool-database.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { systemCode } from "../media/disk.ts";
import { syncFolder } from "../media/place-file.ts";
import type { ArchiveNote, ArchiveProgress, NotIndexed, RebuildReport } from "../model/archive-reports.ts";
import { diskFacts, exists, manifestFileName, plainDisk } from "./archive-disk.ts";
import type { FilesLocation } from "./files-location.ts";
import { IndexReader, isFolder } from "./index-reader.ts";
import { findLeftovers } from "./leftovers.ts";
import { type OpenedPlace, openPlace } from "./open-place.ts";
import { keepMs, measurementOf, noteTransaction } from "./packages/known-measurements.ts";
import { type Manifest, filesOf } from "./packages/manifest.ts";
import { PackageIndex, indexPackage } from "./packages/package-index.ts";
import { keysOfManifest } from "./packages/package-keys.ts";
import {
  type WalkEntry,
  type WalkedPackage,
  damagedManifest,
  loadManifestWithin,
  walkPackages,
} from "./walk.ts";

export interface RebuildOptions {
  /** The database's file, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Aborting ends the run between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const unknowable =
  "only the lost database knew which jobs were open, which webhook records no flow had handled, and which transactions had been handled";

/**
 * Adds all packages of a folder to the index of a store's database. If the database is missing or damaged, a new one is
 * created: it gets its name only when it is complete, and the damaged one is moved aside. In an intact database only
 * the index is completed. Packages are only read. It may be aborted and started again at any time.
 */
export class Rebuild {
  readonly #folder: string | FilesLocation;
  readonly #options: RebuildOptions;
  #packages = 0;
  #bytes = 0;
  #notIndexed = 0;
  #made: { readonly isNew: boolean; readonly movedTo: string | null } = { isNew: false, movedTo: null };
  #notes: ArchiveNote[] = [];

  constructor(folder: string | FilesLocation, options: RebuildOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  progress(): ArchiveProgress {
    const [packages, bytes] = [this.#packages, this.#bytes];
    return { packages, bytes, expectedPackages: null, expectedBytes: null };
  }

  /** The result, after `run` has ended. */
  report(): RebuildReport {
    return {
      database: this.#made.isNew ? "made" : "completed",
      movedTo: this.#made.movedTo,
      packages: this.#packages,
      bytes: this.#bytes,
      notIndexed: this.#notIndexed,
      notes: this.#notes,
    };
  }

  /**
   * Yields what could not be indexed. Throws ERR_CONFIG or ERR_FILE (no such folder, no folder of packages, denied), or
   * ERR_STORE: the database is in use, of a newer version, of another folder, or of another application.
   */
  async *run(): AsyncGenerator<NotIndexed> {
    const place = await openPlace(this.#folder, this.#options);
    try {
      yield* isPostgresUrl(this.#options.database)
        ? this.#fillPostgres(place, this.#options.database)
        : this.#fillFile(place);
    } finally {
      await place.close();
    }
  }

  async *#fillFile(place: OpenedPlace): AsyncGenerator<NotIndexed> {
    const file = await this.#findFile();
    const thread = new ToolThread();
    try {
      const lock = await thread.open({ as: "lock", file });
      try {
        if (await isWholeDatabase(file, place.key, thread)) {
          // The owner of an intact database takes the lock itself.
          await lock.close();
          yield* this.#complete(place, file);
        } else {
          const fresh = await beginDatabase(file);
          yield* this.#make(place, fresh);
        }
      } finally {
        await lock.close();
      }
    } finally {
      await thread.close();
    }
  }

  /** Other programs may use the database meanwhile, and see the packages as they come. */
  async *#fillPostgres(place: OpenedPlace, url: string): AsyncGenerator<NotIndexed> {
    const address = readPostgresUrl(url);
    const database = await PostgresDatabase.open({ address, migrations, access: "create" });
    try {
      const { folder } = await identifyStore(database);
      const isOther = folder !== null && !(await isFolder(folder, place.key));
      if (isOther && !(await holdsNewest(place, database))) {
        throw otherFolderError(address.name, folder);
      }
      this.#made = { isNew: database.isNew, movedTo: null };
      await database.transaction([{ sql: "UPDATE store SET folder = ?", values: [place.key] }]);
      yield* this.#putAll(place, database);
      this.#notes.push(...(await findLeftovers(place.root, place.disk)));
    } finally {
      await database.close();
    }
  }

  async *#complete(place: OpenedPlace, file: string): AsyncGenerator<NotIndexed> {
    const database = await StoreDatabase.open({ file });
    try {
      yield* this.#putAll(place, database);
      this.#notes.push(...(await findLeftovers(place.root, place.disk)));
    } finally {
      await database.close();
    }
  }

  async *#make(place: OpenedPlace, fresh: NewDatabase): AsyncGenerator<NotIndexed> {
    const { storeId } = fresh.database;
    let isWhole = false;
    try {
      await fresh.database.transaction([{ sql: "UPDATE store SET folder = ?", values: [place.key] }]);
      yield* this.#putAll(place, fresh.database);
      isWhole = true;
    } finally {
      await (isWhole ? this.#finish(fresh) : fresh.discard());
    }
    this.#notes.push(...(await findLeftovers(place.root, place.disk, storeId)));
  }

  async #finish(fresh: NewDatabase): Promise<void> {
    const movedTo = await fresh.finish();
    this.#made = { isNew: true, movedTo };
    this.#notes.push({ kind: "not-known", path: movedTo ?? fresh.file, text: unknowable });
  }

  async *#putAll({ root, disk }: OpenedPlace, database: Database): AsyncGenerator<NotIndexed> {
    const writer = new IndexWriter({ root, disk }, database);
    for await (const entry of walkPackages(root, root, disk)) {
      this.#options.signal?.throwIfAborted();
      const problems = entry.kind === "package" ? await writer.put(entry) : explain(entry);
      if (entry.kind === "package") {
        this.#packages += 1;
        this.#bytes += filesOf(entry.manifest).reduce((sum, { bytes }) => sum + bytes, 0);
      }
      yield* this.#counted(problems);
    }
    yield* this.#counted(await writer.write());
    this.#options.signal?.throwIfAborted();
  }

  *#counted(problems: readonly NotIndexed[]): Generator<NotIndexed> {
    this.#notIndexed += problems.length;
    this.#packages -= problems.filter(({ kind }) => kind === "copy" || kind === "refused").length;
    yield* problems;
  }

  /** The path of the database's file without links; it need not exist. */
  async #findFile(): Promise<string> {
    const file = resolve(this.#options.database);
    return realpath(file).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") {
        return file;
      }
      throw systemError(file, error);
    });
  }
}

/**
 * Whether a database can be completed; false if it is missing or damaged. Throws ERR_STORE if it belongs to another
 * folder.
 */
async function isWholeDatabase(file: string, key: string, thread: ToolThread): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || (found.isFile() && found.size === 0)) {
    return false;
  }
  try {
    const index = await IndexReader.open(file, thread);
    try {
      await index.check("whole");
      const { folder } = index;
      const isOther = folder !== null && !(await isFolder(folder, key));
      if (isOther && (await index.count("")).packages > 0) {
        throw otherFolderError(file, folder);
      }
      return true;
    } finally {
      await index.close();
    }
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "storeDamaged") {
      return false;
    }
    throw error;
  }
}

/** Whether a folder contains the newest package that an index lists, as after a move of all packages. */
async function holdsNewest({ root, disk }: OpenedPlace, database: Database): Promise<boolean> {
  const newest = await new PackageIndex(database).last();
  if (newest === undefined) {
    return true;
  }
  const found = await loadManifestWithin(root, `${newest.path}/${manifestFileName}`, disk);
  return typeof found === "object" && found.sha256 === newest.sha256;
}

function otherFolderError(path: string, folder: string): DimensionerError {
  const facts = { surface: "store", operation: "rebuild" } as const;
  return new DimensionerError("storeOtherFolder", facts, { path, name: folder });
}

function explain(entry: Exclude<WalkEntry, { kind: "package" }>): readonly NotIndexed[] {
  const { kind, path } = entry;
  switch (kind) {
    case "damaged":
      return [{ kind, path, problem: damagedManifest }];
    case "unreadable":
      return [{ kind, path, problem: entry.problem }];
    case "archive":
      return [{ kind, path, problem: "this is a separate archive: rebuild its database on its own" }];
    case "stray":
      return [];
  }
}

const packagesAtOnce = 200;

/** Adds packages to an index, some at a time. A package that exists twice is added once. */
class IndexWriter {
  readonly #place: Pick<OpenedPlace, "disk" | "root">;
  readonly #database: Database;
  #waiting = new Map<string, WalkedPackage>();

  constructor(place: Pick<OpenedPlace, "disk" | "root">, database: Database) {
    this.#place = place;
    this.#database = database;
  }

  /** Adds a package. Returns those that the index does not list. */
  async put(one: WalkedPackage): Promise<readonly NotIndexed[]> {
    const before = this.#waiting.get(one.manifest.job);
    if (before !== undefined) {
      return [explainCopy(one.path, before.path)];
    }
    this.#waiting.set(one.manifest.job, one);
    return this.#waiting.size < packagesAtOnce ? [] : await this.write();
  }

  /** Writes the waiting packages in one transaction. Returns those that the index does not list. */
  async write(): Promise<readonly NotIndexed[]> {
    const packages = [...this.#waiting.values()];
    this.#waiting = new Map();
    const copies = await this.#findCopies(packages);
    const originals = packages.filter(({ path }) => !copies.has(path));
    const refused = await this.#insert(originals);
    return [...[...copies].map(([path, original]) => explainCopy(path, original)), ...refused];
  }

  /** If the database refuses them, one by one: it may refuse the values of one package only. */
  async #insert(packages: readonly WalkedPackage[]): Promise<readonly NotIndexed[]> {
    const [only, ...more] = packages;
    if (only === undefined) {
      return [];
    }
    try {
      await this.#database.transaction(packages.flatMap(statementsOf));
      return [];
    } catch (error) {
      if (!isDimensionerError(error) || error.sentence !== "postgresFailed") {
        throw error;
      }
      if (more.length === 0) {
        return [{ kind: "refused", path: only.path, problem: error.message }];
      }
    }
    const refused: NotIndexed[] = [];
    for (const one of packages) {
      refused.push(...(await this.#insert([one])));
    }
    return refused;
  }

  /** Returns, by path, the packages whose rows name another path at which they exist. */
  async #findCopies(packages: readonly WalkedPackage[]): Promise<Map<string, string>> {
    const found = await this.#database.transaction(
      packages.map(({ manifest, path }) => ({
        sql: "SELECT location FROM packages WHERE package_id = ? AND location <> ?",
        values: [manifest.job, path],
      })),
    );
    const copies = new Map<string, string>();
    for (const [index, { path, manifest }] of packages.entries()) {
      const location = found[index]?.[0]?.["location"];
      if (typeof location === "string" && (await this.#isAt(location, manifest.job))) {
        copies.set(path, location);
      }
    }
    return copies;
  }

  async #isAt(location: string, job: string): Promise<boolean> {
    const { root, disk } = this.#place;
    const found = await loadManifestWithin(root, `${location}/${manifestFileName}`, disk);
    return typeof found === "object" && found.manifest.job === job;
  }
}

function statementsOf({ path, sha256, manifest }: WalkedPackage): readonly Statement[] {
  return [
    ...indexPackage(keysOfManifest(manifest), { path, sha256 }, manifest),
    ...noteMeasurementOf(manifest),
  ];
}

/** So that no other measurement is given the package's transaction. */
function noteMeasurementOf(manifest: Manifest): Statement[] {
  const known = measurementOf(manifest);
  const isKept = known !== null && Date.now() - known.acceptedAt.getTime() < keepMs;
  return isKept ? [noteTransaction(known, known)] : [];
}

function explainCopy(path: string, original: string): NotIndexed {
  return { kind: "copy", path, problem: `${original} is the same package: the index lists that one` };
}

/** A database that is created beside the one that it will replace. */
export interface NewDatabase {
  /** The name that it will get. */
  readonly file: string;
  readonly database: StoreDatabase;
  /**
   * Moves the existing database aside and gives the new one its name. Returns the path of the old one; null if there
   * was none.
   */
  finish(): Promise<string | null>;
  /** Removes the new database; the existing one was not touched. */
  discard(): Promise<void>;
}

/** The suffixes of SQLite's own files beside a database. */
const sqliteSuffixes = ["-wal", "-shm"];
/** What each SQLite file begins with. */
const sqliteMark = "SQLite format 3\0";

/**
 * Creates a database that will replace the one at this path. The caller holds the lock of that one. Rejects with ERR_STORE if
 * the file there is something else.
 */
async function beginDatabase(file: string): Promise<NewDatabase> {
  if (!(await mayBeDatabase(file))) {
    throw failureError(file, { reason: "foreign" });
  }
  const beginning = `${file}.rebuilding`;
  const discard = async (): Promise<void> => {
    for (const suffix of ["", "-lock", ...sqliteSuffixes]) {
      await rm(`${beginning}${suffix}`, { force: true });
    }
  };
  // Left by a killed rebuild.
  await discard();
  const database = await StoreDatabase.open({ file: beginning });
  return {
    file,
    database,
    async finish() {
      await database.close();
      await giveToOwner(file, beginning);
      const movedTo = await moveAside(file);
      await rename(beginning, file);
      await syncFolder(dirname(file), plainDisk, diskFacts);
      await discard();
      return movedTo;
    },
    async discard() {
      await database.close();
      await discard();
    },
  };
}

/** Whether nothing is lost if the file at a path is replaced, or its name or its beginning says that it was a database. */
async function mayBeDatabase(file: string): Promise<boolean> {
  if (file.endsWith(".sqlite") || !(await exists(file, plainDisk))) {
    return true;
  }
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(sqliteMark.length), 0, sqliteMark.length, 0);
    return bytesRead === 0 || buffer.toString("latin1") === sqliteMark;
  } finally {
    await handle.close();
  }
}

/**
 * Node-RED must be able to write a database that an administrator has created: it gets the owner of the file that it
 * replaces, or of the folder.
 */
async function giveToOwner(file: string, beginning: string): Promise<void> {
  if (process.getuid?.() !== 0) {
    return;
  }
  const { uid, gid } = await stat(file).catch(() => stat(dirname(file)));
  await chown(beginning, uid, gid);
  await chown(`${file}-lock`, uid, gid);
}

/**
 * The file also keeps its old name until the new one takes it, so that there is always a file: otherwise Node-RED could
 * create an empty one. Its log must not stay, because SQLite would use it for the new file.
 */
async function moveAside(file: string): Promise<string | null> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const aside = `${file}.damaged-${time}`;
  const isThere = await exists(file, plainDisk);
  if (isThere) {
    await link(file, aside).catch(async (error: unknown) => {
      if (systemCode(error) === "EEXIST") {
        throw error;
      }
      // Not every file system has hard links.
      await rename(file, aside);
    });
  }
  let hasMoved = isThere;
  for (const suffix of sqliteSuffixes) {
    if (await exists(`${file}${suffix}`, plainDisk)) {
      await rename(`${file}${suffix}`, `${aside}${suffix}`);
      hasMoved = true;
    }
  }
  return hasMoved ? aside : null;
}
