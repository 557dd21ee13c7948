import { lstat, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { systemCode } from "../../media/disk.ts";
import type { ArchiveNote, ArchiveProgress, NotIndexed, RebuildReport } from "../../model/archive-reports.ts";
import type { Database } from "../../database/database.ts";
import type { FilesLocation } from "../files-location.ts";
import { isPostgresUrl, readPostgresUrl } from "../../database/postgres-address.ts";
import { PostgresDatabase } from "../../database/postgres-database.ts";
import { migrations } from "../../database/schema.ts";
import { systemError } from "../../database/sqlite-failures.ts";
import { StoreDatabase } from "../../database/store-database.ts";
import { identifyStore } from "../../database/store-identity.ts";
import { ToolThread } from "../../database/tool-database.ts";
import { manifestFileName } from "../archive-disk.ts";
import { filesOf } from "../packages/manifest.ts";
import { PackageIndex } from "../packages/package-index.ts";
import { isFolder } from "./find-databases.ts";
import { IndexReader } from "./index-reader.ts";
import { IndexWriter } from "./index-writer.ts";
import { findLeftovers } from "./leftovers.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { openPlace, type OpenedPlace } from "./open-place.ts";
import { damagedManifest, walkPackages, type WalkEntry } from "./walk-packages.ts";
import { beginDatabase, type NewDatabase } from "./new-database.ts";

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
      const { folder, storeId } = await identifyStore(database);
      const isOther = folder !== null && !(await isFolder(folder, place.key));
      if (isOther && !(await holdsNewest(place, database, storeId))) {
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
async function holdsNewest(
  { root, disk }: OpenedPlace,
  database: Database,
  storeId: string,
): Promise<boolean> {
  const newest = await new PackageIndex(database).last(storeId);
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
