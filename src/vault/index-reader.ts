import { randomUUID } from "node:crypto";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Database, type Row, type SqlValue, marksFor } from "../database/database.ts";
import { type FoundLine, LogTable, foundLineOf, selectFound } from "../database/log-table.ts";
import { intents, lengthOf, records, withTexts } from "../database/long-texts.ts";
import { isOpen } from "../database/own-jobs.ts";
import { isPostgresUrl, readPostgresUrl } from "../database/postgres-address.ts";
import { noTablesError } from "../database/postgres-connection.ts";
import { PostgresDatabase } from "../database/postgres-database.ts";
import { namedOf } from "./log/log-state.ts";
import { migrations } from "../database/schema.ts";
import { failureError, systemError } from "../database/sqlite-failures.ts";
import { readLog } from "../database/sqlite-log.ts";
import type { ToolDatabase, ToolThread } from "../database/tool-database.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import type { Finding } from "../model/archive-reports.ts";
import { sha256Of } from "../model/sha256.ts";
import { isAbsent } from "./archive-disk.ts";
import { isBucketKey } from "./store.ts";
import type { OpenedScope } from "./open-vault.ts";

/** How many rows are read at once. */
const pageRows = 1_000;

/** Tables whose rows have the SHA-256 of their text beside it. */
const checkedRows = [
  { name: "webhook record", first: 0, long: records },
  { name: "job", first: "", long: intents },
];

/**
 * The database of a store, opened for reading, also while Node-RED has it open. Nothing is written, in it or beside it.
 */
export class IndexReader {
  /** The file, or the address. */
  readonly file: string;
  /** The ID of the store, which its packages name. */
  readonly store: string;
  /** The folder of packages that the store last had; null if none is known. */
  readonly folder: string | null;
  readonly #source: IndexSource;

  private constructor(file: string, source: IndexSource, store: Row) {
    this.file = file;
    this.#source = source;
    this.store = String(store["store_id"]);
    this.folder = typeof store["folder"] === "string" ? store["folder"] : null;
  }

  /**
   * Rejects with ERR_STORE: the database is damaged, of another application, newer, or locked, or the disk reports an
   * error.
   */
  static async open(given: string, thread: ToolThread): Promise<IndexReader> {
    const source = await openIndexSource(given, thread);
    return new IndexReader(given, source, source.store);
  }

  /**
   * Reads and checks a whole file, with its log; a server checks its files itself. Rejects with ERR_STORE where it is
   * damaged.
   */
  async check(how: CheckDepth): Promise<void> {
    await this.#source.check(how);
  }

  /** Counts the packages that the index lists below a folder, and their bytes. */
  async count(below: string): Promise<{ packages: number; bytes: number }> {
    const [row = {}] = await this.#select(
      `SELECT count(*) AS packages, coalesce(sum(bytes), 0) AS bytes FROM packages
        WHERE substr(location, 1, ?) = ?`,
      [below.length, below],
    );
    return { packages: Number(row["packages"]), bytes: Number(row["bytes"]) };
  }

  /** Reads the rows of the packages below a folder, some at a time. */
  async *rows(below: string): AsyncGenerator<readonly Row[]> {
    for (let after = 0; ;) {
      const rows = await this.#select(
        `SELECT * FROM packages WHERE indexed_order > ? AND substr(location, 1, ?) = ?
          ORDER BY indexed_order LIMIT ?`,
        [after, below.length, below, pageRows],
      );
      yield rows;
      if (rows.length < pageRows) {
        return;
      }
      after = Number(rows.at(-1)?.["indexed_order"]);
    }
  }

  /** The numbers that the log in this database says were added to packages, by the IDs of the packages. */
  async numbersOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const named = await namedOf(this.#source.database, ids);
    return new Map([...named].map(([id, events]) => [id, events.map(({ number }) => number)]));
  }

  /** How many lines the log in this database has, as it says itself. */
  async size(): Promise<number> {
    const [row = {}] = await this.#select("SELECT size FROM log_head", []);
    return Number(row["size"]);
  }

  /** The lines of the log from a number on, with their columns, some at a time. */
  async *lines(from: number): AsyncGenerator<readonly FoundLine[]> {
    for (let at = from; ;) {
      const rows = await this.#select(selectFound, [at, pageRows]);
      yield rows.map(foundLineOf);
      if (rows.length < pageRows) {
        return;
      }
      at = Number(rows.at(-1)?.["n"]) + 1;
    }
  }

  /**
   * Whether the index lists a package, or contains an open job that may be about to place it there, or whose process was killed
   * then; or whether it is where a package is being uploaded, or an upload was interrupted.
   */
  async isKnown({ job, sha256, path }: { job: string; sha256: string; path: string }): Promise<boolean> {
    const found = await this.#select(
      `SELECT 1 FROM packages WHERE package_id = ? AND manifest_sha256 = ?
        UNION ALL SELECT 1 FROM jobs WHERE job_id = ? AND ${isOpen}
        UNION ALL SELECT 1 FROM uploads WHERE location = ?`,
      [job, sha256, job, path],
    );
    return found.length > 0;
  }

  /** Whether an upload of a job is there, or was and is not removed yet. */
  async isUpload(path: string): Promise<boolean> {
    return (await this.#select("SELECT 1 FROM uploads WHERE location = ?", [path])).length > 0;
  }

  /** The rows of measurements with these keys, and of those that were given one of these transactions. */
  async measurements(keys: readonly string[], transactionIds: readonly string[]): Promise<readonly Row[]> {
    const ids = marksFor(transactionIds);
    return this.#select(
      `SELECT measurement_key, transaction_id, legacy_id FROM measurements
        WHERE measurement_key IN (${marksFor(keys)}) OR transaction_id IN (${ids}) OR legacy_id IN (${ids})`,
      [...keys, ...transactionIds, ...transactionIds],
    );
  }

  /** Some of the transactions that were given to more than one measurement. */
  async givenTwice(): Promise<readonly { transactionId: string; count: number }[]> {
    const rows = await this.#select(
      `SELECT transaction_id, count(*) AS count FROM measurements WHERE transaction_id IS NOT NULL
        GROUP BY transaction_id HAVING count(*) > 1 LIMIT ?`,
      [pageRows],
    );
    return rows.map((row) => ({ transactionId: String(row["transaction_id"]), count: Number(row["count"]) }));
  }

  /** Rows that are not what was written, except those of packages. */
  async *damagedRows(): AsyncGenerator<Finding> {
    for (const { name, first, long } of checkedRows) {
      const { table, key, column } = long;
      const sql = `SELECT ${key}, ${lengthOf(long)} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`;
      for (let after: SqlValue = first; ;) {
        const rows: readonly Row[] = await this.#select(sql, [after, pageRows]);
        for await (const row of withTexts(this.#source.database, long, rows)) {
          if (sha256Of(String(row[column])) !== row[`${column}_sha256`]) {
            const problem = `the row of the ${name} ${String(row[key])} is not as it was stored: it was changed`;
            yield { kind: "database", path: this.file, problem };
          }
        }
        if (rows.length < pageRows) {
          break;
        }
        after = rows.at(-1)?.[key] ?? first;
      }
    }
  }

  async close(): Promise<void> {
    await this.#source.database.close();
  }

  async #select(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    const [rows = []] = await this.#source.database.transaction([{ sql, values }]);
    return rows;
  }
}

/** `quick` does not compare the indexes with the table: otherwise millions of rows take hours, in one transaction. */
export type CheckDepth = "quick" | "whole";

/** The database of a store, opened by a program that is not its owner. */
export interface IndexSource {
  readonly database: Database;
  /** The row of the table `store`. */
  readonly store: Row;
  /** Rejects with ERR_STORE where the database is damaged. */
  check(how: CheckDepth): Promise<void>;
}

/** Opens the database of a store for reading: a file, in the thread, or a PostgreSQL database by its address. Rejects with ERR_STORE. */
function openIndexSource(given: string, thread: ToolThread): Promise<IndexSource> {
  return isPostgresUrl(given) ? openPostgres(given, thread) : openFile(given, thread);
}

/**
 * Opens the database of a store for a program that is not its owner, a file in the thread, while its owner may have it open. Rejects with
 * ERR_STORE, and with ERR_CONFIG for an address that is none.
 */
export function openForTool(given: string, as: "read" | "write", thread: ToolThread): Promise<Database> {
  return isPostgresUrl(given)
    ? PostgresDatabase.open({ address: readPostgresUrl(given), migrations, access: as })
    : thread.open({ as, file: given });
}

/** The database of a store with its log. Whoever has opened it closes the database. */
export interface OpenStore {
  readonly database: Database;
  readonly log: LogTable;
}

/** Opens a store for a program that is not its owner and adds to its log. `tool` names it there. Rejects as `openForTool` does. */
export async function openWithLog(
  file: string,
  as: "read" | "write",
  thread: ToolThread,
  tool: string,
): Promise<OpenStore> {
  const index = await IndexReader.open(file, thread);
  try {
    // Writing to a damaged file would increase the damage. Meanwhile, the log of what Node-RED writes cannot be emptied.
    await index.check("quick");
  } finally {
    await index.close();
  }
  const database = await openForTool(file, as, thread);
  return { database, log: new LogTable(database, index.store, `${tool}-${randomUUID()}`) };
}

async function openPostgres(given: string, thread: ToolThread): Promise<IndexSource> {
  const database = await openForTool(given, "read", thread);
  try {
    const [[store] = []] = await database.transaction([{ sql: "SELECT * FROM store" }]);
    if (store === undefined) {
      throw noTablesError(readPostgresUrl(given).name);
    }
    const check = (): Promise<void> => Promise.resolve();
    return { database, store, check };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openFile(file: string, thread: ToolThread): Promise<IndexSource> {
  const database = await thread.open({ as: "read", file });
  try {
    const [version = {}] = await database.select("PRAGMA user_version");
    if (Number(version["user_version"]) > migrations.length) {
      throw failureError(file, { reason: "newer-schema" });
    }
    const tables = await database.select(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('store', 'packages', 'jobs', 'records')",
    );
    const [store] = tables.length === 4 ? await database.select("SELECT * FROM store") : [];
    if (store === undefined) {
      // A store's tables may be in a log that SQLite cannot read any more.
      await checkFile(file, database, "whole");
      throw failureError(file, { reason: "foreign" });
    }
    const check = (how: CheckDepth): Promise<void> => checkFile(file, database, how);
    return { database, store, check };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function checkFile(file: string, database: ToolDatabase, how: CheckDepth): Promise<void> {
  const [result = {}] = await database.select(`PRAGMA ${how === "quick" ? "quick" : "integrity"}_check(1)`);
  const said = String(Object.values(result)[0]);
  const problem = said === "ok" ? await findLogDamage(`${file}-wal`) : said;
  if (problem !== undefined) {
    throw failureError(file, { reason: "damaged", message: problem });
  }
}

/** Node-RED may be writing the log: damage has to be found again, with nothing written in between. */
async function findLogDamage(log: string): Promise<string | undefined> {
  for (;;) {
    const before = await stateOf(log);
    if (!readLog(log).isDamaged) {
      return undefined;
    }
    await setTimeout(100);
    if ((await stateOf(log)) === before) {
      return "checksum mismatch in the write-ahead log";
    }
  }
}

async function stateOf(file: string): Promise<string> {
  const { size, mtimeNs } = await stat(file, { bigint: true }).catch(() => ({ size: 0n, mtimeNs: 0n }));
  return `${size} ${mtimeNs}`;
}

const facts = { surface: "store", operation: "database" } as const;

/** A folder of packages or a bucket. */
interface SoughtPlace {
  /** The real path of the folder, or the key of the bucket. */
  readonly key: string;
  /** For people; the key if it is not given. */
  readonly name?: string;
}

/**
 * Finds the databases of a path: the file itself or, in a folder such as the one in Node-RED's user directory, the
 * databases whose store has this folder of packages, or this bucket, and damaged ones. Rejects with ERR_STORE if there is
 * none, or the path cannot be read. The address of a PostgreSQL database names one.
 */
export async function findDatabases(
  given: string,
  { key, name = key }: SoughtPlace,
  thread: ToolThread,
): Promise<readonly string[]> {
  if (isPostgresUrl(given)) {
    return [given];
  }
  try {
    return (await stat(given)).isDirectory() ? await findIn(given, { key, name }, thread) : [given];
  } catch (error) {
    if (isDimensionerError(error)) {
      throw error;
    }
    throw isAbsent(error)
      ? new DimensionerError("storeMissing", facts, { path: given })
      : systemError(given, error);
  }
}

async function findIn(
  given: string,
  { key, name }: Required<SoughtPlace>,
  thread: ToolThread,
): Promise<readonly string[]> {
  const names = (await readdir(given)).filter((file) => file.endsWith(".sqlite")).sort();
  const files: string[] = [];
  for (const file of names.map((one) => join(given, one))) {
    const folder = await folderOf(file, thread);
    if (folder === undefined || (folder !== null && (await isFolder(folder, key)))) {
      files.push(file);
    }
  }
  if (files.length === 0) {
    throw new DimensionerError("storeNotHere", facts, { path: given, name });
  }
  return files;
}

/** Whether a folder, as a database names it, has that real path, or is the bucket with that key. */
export async function isFolder(folder: string, root: string): Promise<boolean> {
  return (await realpath(folder).catch(() => folder)) === root;
}

/** The folder of a store's packages; null if it has none, undefined if the database does not contain it. */
async function folderOf(file: string, thread: ToolThread): Promise<string | null | undefined> {
  try {
    const index = await IndexReader.open(file, thread);
    await index.close();
    return index.folder;
  } catch {
    // Who opens it again reports why it cannot be read.
    return undefined;
  }
}

interface PrunedPlace {
  /** Files are opened in it. */
  readonly thread: ToolThread;
  /** Whether the settings of one store name both the place and the database. */
  readonly isOwn: boolean;
}

/**
 * Throws ERR_STORE if a database lists the packages of another place, such as the folder that a bucket is a copy of: its
 * rows would be removed although their packages are there. What cannot be read is reported when rows are removed.
 */
export async function refuseOtherPlace(
  { key, location }: OpenedScope,
  given: string,
  { thread, isOwn }: PrunedPlace,
): Promise<void> {
  const databases = await findDatabases(given, { key, name: location }, thread).catch(() => []);
  for (const database of databases) {
    const folder = await folderOf(database, thread);
    if (typeof folder !== "string" || (await isFolder(folder, key))) {
      continue;
    }
    if (!isOwn || !mayBeSame(database, folder, key)) {
      const path = isPostgresUrl(database) ? readPostgresUrl(database).name : database;
      const facts = { surface: "store", operation: "prune" } as const;
      throw new DimensionerError("storeNotPruned", facts, { path, name: folder, value: location });
    }
  }
}

/**
 * Whether the packages of a store are the ones in this place, and not a copy of them. `isOwn`: the settings of one store name both the place
 * and the database.
 */
export async function isOfPlace(
  { file, folder }: Pick<IndexReader, "file" | "folder">,
  key: string,
  isOwn: boolean,
): Promise<boolean> {
  return folder === null || (await isFolder(folder, key)) || (isOwn && mayBeSame(file, folder, key));
}

/** Each computer may have another path to a share; a server has the path of one of them. */
function mayBeSame(database: string, folder: string, key: string): boolean {
  return isPostgresUrl(database) && !isBucketKey(folder) && !isBucketKey(key);
}
