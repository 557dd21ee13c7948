import { chown, link, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, resolve } from "node:path";
import { type Database, type Row, type Statement, lockLog, marksFor } from "../../database/database.ts";
import { LogTable, appendLines } from "../../database/log-table.ts";
import { isOpen } from "../../database/own-jobs.ts";
import { isPostgresUrl, readPostgresUrl } from "../../database/postgres-address.ts";
import { PostgresDatabase } from "../../database/postgres-database.ts";
import { migrations } from "../../database/schema.ts";
import { failureError, systemError } from "../../database/sqlite-failures.ts";
import { StoreDatabase, identifyStore } from "../../database/store-databases.ts";
import { type ToolDatabase, ToolThread } from "../../database/tool-database.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/place-file.ts";
import type { ArchiveNote, ArchiveProgress, NotIndexed, RebuildReport } from "../../model/archive-reports.ts";
import { diskFacts, exists, plainDisk } from "../archive-disk.ts";
import type { VaultLocation } from "../store.ts";
import { IndexReader, isFolder } from "../index-reader.ts";
import { findLeftovers } from "./leftovers.ts";
import { type EventOf, archivedEntry, entryOf, readEvent } from "../log/events.ts";
import { lastLines, logParts, storesWithLog } from "../log/log-files.ts";
import { wasPruned } from "../log/log-state.ts";
import {
  type OpenedLog,
  catchUp,
  mendColumns,
  publishLeftLog,
  putBack,
  readWholeLog,
} from "../log/open-log.ts";
import { LogReplay, replaySchema } from "../log/replay.ts";
import { type OpenedScope, openScope } from "../open-vault.ts";
import { filesOf } from "../packages/manifest.ts";
import { insertPackages, rowOfPackage, withNumbers } from "../packages/package-index.ts";
import { keysOfManifest, keepMs, measurementOf, noteTransaction } from "../packages/package-keys.ts";
import { type WalkEntry, type WalkedPackage, damagedManifest, walkPackages } from "../walk.ts";

export interface RebuildOptions {
  /** The database's file, or the address of a PostgreSQL database. */
  readonly database: string;
  /** The ID of the store whose log is used, where there are several. */
  readonly log?: string | undefined;
  /** Whether a new log is begun, because the one beside the packages was lost. */
  readonly isLogNew?: boolean | undefined;
  /** Aborting ends the run between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const unknowable =
  "only the lost database knew which jobs were open, which webhook records no flow had handled, and which transactions had been handled";
const facts = { surface: "store", operation: "rebuild" } as const;

/** Where the rows of a run go, and which log they agree with. */
interface RebuiltStore {
  readonly scope: OpenedScope;
  readonly database: Pick<Database, "transaction">;
  /** The ID of the store. */
  readonly store: string;
  /** Whether the database has no rows of packages yet. */
  readonly isEmpty: boolean;
  /** Whether each package that is found gets a line in the log, which was lost. */
  readonly isLogNew: boolean;
}

/**
 * Makes the database of a store from the log beside its packages and from the packages, never the log from packages. If the database is
 * missing or damaged, a new one is created: it gets its name only when it is complete, and the damaged one is moved aside. Of one that is
 * whole, the log and the index are completed, and what does not differ is not written. Packages are only read. It may be aborted and
 * started again at any time.
 */
export class Rebuild {
  readonly #folder: string | VaultLocation;
  readonly #options: RebuildOptions;
  #packages = 0;
  #bytes = 0;
  #notIndexed = 0;
  #made: { readonly isNew: boolean; readonly movedTo: string | null } = { isNew: false, movedTo: null };
  #notes: ArchiveNote[] = [];

  constructor(folder: string | VaultLocation, options: RebuildOptions) {
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
   * ERR_STORE: the database is in use, of a newer version, of another folder, of another application, or of another log; or there is no log.
   */
  async *run(): AsyncGenerator<NotIndexed> {
    const scope = await openScope(this.#folder, this.#options);
    try {
      yield* isPostgresUrl(this.#options.database)
        ? this.#fillPostgres(scope, this.#options.database)
        : this.#fillFile(scope);
    } finally {
      await scope.close();
    }
  }

  async *#fillFile(scope: OpenedScope): AsyncGenerator<NotIndexed> {
    const file = await this.#findFile();
    const thread = new ToolThread();
    try {
      const lock = await thread.open({ as: "lock", file });
      try {
        if (await isWholeDatabase(file, scope.key, thread)) {
          // The owner of an intact database takes the lock itself.
          await lock.close();
          const database = await StoreDatabase.open({ file });
          try {
            yield* this.#complete(scope, database, { store: database.storeId, name: file });
          } finally {
            await database.close();
          }
        } else {
          yield* this.#make(scope, file, thread);
        }
      } finally {
        await lock.close();
      }
    } finally {
      await thread.close();
    }
  }

  /** Other programs may use the database meanwhile, and see the packages as they come. */
  async *#fillPostgres(scope: OpenedScope, url: string): AsyncGenerator<NotIndexed> {
    const address = readPostgresUrl(url);
    const database = await PostgresDatabase.open({ address, migrations, access: "create" });
    try {
      const { folder, storeId } = await identifyStore(database);
      const isOther = folder !== null && !(await isFolder(folder, scope.key));
      // After a move, the log lies beside the packages as before.
      if (isOther && !(await storesWithLog(scope.root, scope.disk)).includes(storeId)) {
        throw new DimensionerError("storeOtherFolder", facts, { path: address.name, name: folder });
      }
      this.#made = { isNew: database.isNew, movedTo: null };
      yield* this.#complete(scope, database, { store: storeId, name: address.name });
      await database.transaction([
        {
          sql: "UPDATE store SET folder = ? WHERE folder IS NULL OR folder <> ?",
          values: [scope.key, scope.key],
        },
      ]);
    } finally {
      await database.close();
    }
  }

  /** Completes a database that is whole. */
  async *#complete(
    scope: OpenedScope,
    database: Pick<Database, "transaction">,
    own: { readonly store: string; readonly name: string },
  ): AsyncGenerator<NotIndexed> {
    const [[first] = [], [state = {}] = []] = await database.transaction([
      { sql: "SELECT line FROM log WHERE n = 1" },
      {
        sql: "SELECT size, (SELECT count(*) FROM packages) AS packages, (SELECT count(*) FROM log) AS lines FROM log_head",
      },
    ]);
    const isEmpty = state["size"] === 0 && state["packages"] === 0;
    const hasGap = Number(state["lines"]) !== Number(state["size"]);
    const log = isEmpty
      ? await this.#chooseLog(scope, own)
      : await this.#checkLog(scope, own, readEvent(String(first?.["line"]))?.what === "lost");
    if (log.store !== own.store) {
      await database.transaction([{ sql: "UPDATE store SET store_id = ?", values: [log.store] }]);
    }
    const opened = {
      table: new LogTable(database, log.store, `rebuild-${randomUUID()}`),
      vault: scope.vault,
    };
    if ((isEmpty || hasGap) && !log.isNew) {
      yield* this.#ofLog(readWholeLog(opened, database), log.store);
    }
    if (!isEmpty || log.isNew) {
      if (!log.isNew) {
        await catchUp(opened, database);
      }
      await mendColumns(database);
    }
    yield* this.#putAll({ scope, database, store: log.store, isEmpty, isLogNew: log.isNew });
    if (!isEmpty || log.isNew) {
      yield* this.#putBack(opened, database, log.isNew);
    }
    this.#notes.push(...(await findLeftovers(scope.root, scope.disk)));
  }

  async *#make(scope: OpenedScope, file: string, thread: ToolThread): AsyncGenerator<NotIndexed> {
    const log = await this.#chooseLog(scope, { store: randomUUID(), name: file });
    const fresh = await beginDatabase(file, thread);
    let isWhole = false;
    const { database } = fresh;
    try {
      await database.transaction([
        { sql: "UPDATE store SET store_id = ?, folder = ?", values: [log.store, scope.key] },
      ]);
      if (!log.isNew) {
        const table = new LogTable(database, log.store, "");
        yield* this.#ofLog(readWholeLog({ table, vault: scope.vault }, database), log.store);
      }
      await fresh.index("log");
      yield* this.#putAll({ scope, database, store: log.store, isEmpty: true, isLogNew: log.isNew });
      await fresh.index();
      isWhole = true;
    } finally {
      await (isWhole ? this.#finish(fresh) : fresh.discard());
    }
    if (log.isNew) {
      const written = await thread.open({ as: "write", file });
      try {
        const table = new LogTable(written, log.store, `rebuild-${randomUUID()}`);
        yield* this.#putBack({ table, vault: scope.vault }, written, true);
      } finally {
        await written.close();
      }
    }
    this.#notes.push(...(await findLeftovers(scope.root, scope.disk, log.store)));
  }

  async #finish(fresh: NewDatabase): Promise<void> {
    const movedTo = await fresh.finish();
    this.#made = { isNew: true, movedTo };
    this.#notes.push({ kind: "not-known", path: movedTo ?? fresh.file, text: unknowable });
  }

  /** Which log a database that has none yet is made from. Throws ERR_STORE where that is not known. */
  async #chooseLog(
    { root, disk, location }: OpenedScope,
    own: { readonly store: string; readonly name: string },
  ): Promise<{ readonly store: string; readonly isNew: boolean }> {
    const stores = await storesWithLog(root, disk);
    const { log, isLogNew = false } = this.#options;
    if (isLogNew && stores.length > 0) {
      throw refuse("rebuildHasLog", { path: location, name: own.name });
    }
    if (isLogNew) {
      return { store: own.store, isNew: true };
    }
    if (stores.length === 0) {
      throw refuse("rebuildNoLog", { path: location });
    }
    const [only = "", ...more] = stores;
    const store = log ?? (stores.includes(own.store) || more.length > 0 ? own.store : only);
    if (!stores.includes(store)) {
      throw await whichLog({ root, disk, location }, stores, own.name);
    }
    return { store, isNew: false };
  }

  /** The log of a database that has one. It may be a new one, whose beginning was interrupted. */
  async #checkLog(
    { root, disk, location }: OpenedScope,
    { store, name }: { readonly store: string; readonly name: string },
    isLost: boolean,
  ): Promise<{ readonly store: string; readonly isNew: boolean }> {
    const { log, isLogNew = false } = this.#options;
    const stores = await storesWithLog(root, disk);
    if (log !== undefined && log !== store) {
      throw await whichLog({ root, disk, location }, stores, name);
    }
    if (isLogNew && (stores.length > 0 || !isLost)) {
      throw refuse("rebuildHasLog", { path: location, name });
    }
    return { store, isNew: isLogNew };
  }

  async *#putAll(target: RebuiltStore): AsyncGenerator<NotIndexed> {
    const { root, disk } = target.scope;
    const writer = new IndexWriter(target);
    try {
      if (target.isLogNew) {
        await this.#beginLog(target);
      }
      for await (const entry of walkPackages(root, root, disk)) {
        this.#options.signal?.throwIfAborted();
        if (entry.kind === "package") {
          yield* this.#counted(await writer.put(entry));
        } else {
          yield* this.#counted({ listed: [], problems: explain(entry) });
        }
      }
      yield* this.#counted(await writer.write());
      this.#options.signal?.throwIfAborted();
      this.#notes.push(...(await writer.end()));
    } finally {
      await writer.close();
    }
  }

  /** The first lines of a new log. One that was interrupted has them. */
  async #beginLog({ scope: { root, disk }, database, store }: RebuiltStore): Promise<void> {
    let packages = 0;
    for await (const entry of walkPackages(root, root, disk)) {
      this.#options.signal?.throwIfAborted();
      packages += Number(entry.kind === "package");
    }
    const [[head] = []] = await database.transaction([{ sql: "SELECT size FROM log_head" }]);
    if (head?.["size"] === 0) {
      const at = new Date().toISOString();
      const reason = "there was no log beside the packages";
      const lines = [entryOf({ what: "begun", at, store }), entryOf({ what: "lost", at, packages, reason })];
      await database.transaction([lockLog, ...appendLines(newLogWriter, lines)]);
    }
    this.#notes.push({
      kind: "begun-anew",
      path: [...logParts, store].join("/"),
      text: "a new log was begun with the packages that are here: what happened before is not known",
    });
  }

  async *#putBack(
    log: OpenedLog,
    database: Pick<Database, "transaction">,
    isNew: boolean,
  ): AsyncGenerator<NotIndexed> {
    await publishLeftLog(log);
    const { store } = log.table;
    const count = yield* this.#ofLog(putBack(log, database), store);
    if (count > 0 && !isNew) {
      const said = count === 1 ? "1 line that was" : `${count} lines that were`;
      const text = `${said} only in the database are beside the packages again`;
      this.#notes.push({ kind: "log", path: [...logParts, store].join("/"), text });
    }
  }

  async *#ofLog<T>(problems: AsyncGenerator<string, T>, store: string): AsyncGenerator<NotIndexed, T> {
    for (;;) {
      const next = await problems.next();
      if (next.done === true) {
        return next.value;
      }
      this.#notIndexed += 1;
      yield { kind: "log", path: [...logParts, store].join("/"), problem: next.value };
    }
  }

  *#counted({ listed, problems }: Written): Generator<NotIndexed> {
    this.#notIndexed += problems.length;
    this.#packages += listed.length;
    for (const { manifest } of listed) {
      this.#bytes += filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);
    }
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

/** Who has written the lines of a log that was begun anew. */
const newLogWriter = "rebuild";

function refuse(
  sentence: SentenceKey,
  values: ConstructorParameters<typeof DimensionerError>[2],
): DimensionerError {
  return new DimensionerError(sentence, facts, values);
}

/** The error for a database that cannot be made from a log. `stores`: those that have one beside the packages. */
async function whichLog(
  { root, disk, location }: Pick<OpenedScope, "disk" | "location" | "root">,
  stores: readonly string[],
  name: string,
): Promise<DimensionerError> {
  const said = await Promise.all(
    stores.map(async (store) => {
      const [last] = (await lastLines(root, store, disk)).toSorted((one, other) => other.n - one.n);
      return `${store} (${readEvent(last?.line ?? "")?.at ?? "-"})`;
    }),
  );
  return refuse("rebuildWhichLog", { path: location, value: said.join(", ") || "-", name });
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
        throw new DimensionerError("storeOtherFolder", facts, { path: file, name: folder });
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

/** In one transaction. A statement for all of them has fewer values than SQLite and PostgreSQL take. */
const packagesAtOnce = 500;

/** What has become of some packages. */
interface Written {
  /** Those that the index lists now. */
  readonly listed: readonly WalkedPackage[];
  readonly problems: readonly NotIndexed[];
}

/** What the log says of a package. */
interface Logged {
  readonly archived: readonly EventOf<"archived">[];
  readonly isPruned: boolean;
  /** The numbers that were added to it. */
  readonly numbers: readonly string[];
}

/** Puts the packages into an index that the log knows, some at a time. */
class IndexWriter {
  readonly #target: RebuiltStore;
  #waiting = new Map<string, WalkedPackage>();
  #pruned = 0;
  readonly #ofOthers = new Map<string, number>();
  #others: OtherLogs | undefined;

  constructor(target: RebuiltStore) {
    this.#target = target;
  }

  async put(one: WalkedPackage): Promise<Written> {
    const { job } = one.manifest;
    // A package may be there twice; the log says which of them it is.
    const before = this.#waiting.has(job) ? await this.write() : { listed: [], problems: [] };
    this.#waiting.set(job, one);
    const written = this.#waiting.size < packagesAtOnce ? { listed: [], problems: [] } : await this.write();
    return {
      listed: [...before.listed, ...written.listed],
      problems: [...before.problems, ...written.problems],
    };
  }

  /** Writes what differs of the waiting packages in one transaction. */
  async write(): Promise<Written> {
    const packages = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (packages.length === 0) {
      return { listed: [], problems: [] };
    }
    const { database, isLogNew } = this.#target;
    const logged = await this.#logged(packages);
    const problems: NotIndexed[] = [];
    const listed: WalkedPackage[] = [];
    const lines: WalkedPackage[] = [];
    for (const one of packages) {
      const { archived = [], isPruned = false } = logged.get(one.manifest.job) ?? {};
      if (archived.length === 0 && isLogNew) {
        lines.push(one);
        listed.push(one);
      } else if (!archived.some(({ path, sha256 }) => path === one.path && sha256 === one.sha256)) {
        problems.push(...(await this.#explainUnknown(one, archived[0])));
      } else if (isPruned) {
        this.#pruned += 1;
      } else {
        listed.push(one);
      }
    }
    if (lines.length > 0) {
      await database.transaction([lockLog, ...appendLines(newLogWriter, lines.map(archivedEntry))]);
    }
    const refused = await this.#insert(
      listed.map((one) => ({ ...one, numbers: logged.get(one.manifest.job)?.numbers ?? [] })),
    );
    const isRefused = new Set(refused.map(({ path }) => path));
    return { listed: listed.filter(({ path }) => !isRefused.has(path)), problems: [...problems, ...refused] };
  }

  /** Removes the rows of packages that the log says were deleted. Returns what is worth knowing. */
  async end(): Promise<ArchiveNote[]> {
    const { database, isEmpty, scope } = this.#target;
    const [, [found = {}] = []] = await database.transaction([
      ...(isEmpty
        ? [{ sql: "SELECT 1" }]
        : [{ sql: `DELETE FROM packages WHERE ${wasPruned("packages.package_id")}` }]),
      {
        sql: `SELECT count(*) AS lost FROM log AS line WHERE what = 'archived' AND NOT (${wasPruned("line.package_id")})
          AND NOT EXISTS (SELECT 1 FROM packages WHERE packages.package_id = line.package_id)`,
      },
    ]);
    const notes: ArchiveNote[] = [];
    const say = (kind: ArchiveNote["kind"], count: number, one: string, many: string): void => {
      if (count > 0) {
        notes.push({
          kind,
          path: scope.location,
          text: count === 1 ? `1 package ${one}` : `${count} packages ${many}`,
        });
      }
    };
    say(
      "kept-here",
      this.#pruned,
      "that was deleted because of its age is here and is not indexed: it was brought back from a backup",
      "that were deleted because of their age are here and are not indexed: they were brought back from a backup",
    );
    say(
      "not-there",
      Number(found["lost"]),
      "that the log names is not in the index, because it is not here as it was archived: dimensioner verify says which one",
      "that the log names are not in the index, because they are not here as they were archived: dimensioner verify says which ones",
    );
    for (const [store, count] of this.#ofOthers) {
      say(
        "other-log",
        count,
        `is of the store ${store}, whose log is here: only a database of that store lists it`,
        `are of the store ${store}, whose log is here: only a database of that store lists them`,
      );
    }
    return notes;
  }

  async close(): Promise<void> {
    await this.#others?.close();
  }

  async #logged(packages: readonly WalkedPackage[]): Promise<ReadonlyMap<string, Logged>> {
    const [rows = []] = await this.#target.database.transaction([
      {
        sql: `SELECT package_id, what, line FROM log WHERE package_id IN (${marksFor(packages)})
          AND what IN ('archived', 'named', 'pruned', 'kept') ORDER BY n`,
        values: packages.map(({ manifest }) => manifest.job),
      },
    ]);
    const logged = new Map<string, Logged>();
    for (const row of rows) {
      const id = String(row["package_id"]);
      const before = logged.get(id) ?? { archived: [], isPruned: false, numbers: [] };
      const event = readEvent(String(row["line"]));
      if (event?.what === "archived") {
        logged.set(id, { ...before, archived: [...before.archived, event] });
      } else if (event?.what === "named") {
        logged.set(id, { ...before, numbers: [...before.numbers, event.number] });
      } else if (row["what"] !== "named") {
        logged.set(id, { ...before, isPruned: row["what"] === "pruned" });
      }
    }
    return logged;
  }

  async #explainUnknown(
    { path, sha256, manifest }: WalkedPackage,
    known: Logged["archived"][number] | undefined,
  ): Promise<readonly NotIndexed[]> {
    const { scope, database, store, isLogNew } = this.#target;
    const say = (problem: string): readonly NotIndexed[] => [{ kind: "unknown", path, problem }];
    if (known !== undefined) {
      return say(
        known.sha256 === sha256
          ? `the log has this package in ${known.path}: it was moved or copied`
          : "its manifest is not the one that the log names: it is not the one that was archived",
      );
    }
    // The next start of the store adds the line of a package that was being placed when its process was killed.
    const [jobs = []] = await database.transaction([
      { sql: `SELECT 1 FROM jobs WHERE job_id = ? AND ${isOpen}`, values: [manifest.job] },
    ]);
    if (jobs.length > 0) {
      return [];
    }
    this.#others ??= isLogNew ? undefined : await OtherLogs.open(scope, store);
    const other = await this.#others?.storeOf({ path, sha256, manifest });
    if (other !== undefined) {
      this.#ofOthers.set(other, (this.#ofOthers.get(other) ?? 0) + 1);
      return [];
    }
    return say(
      "the log does not know this package: it was not archived here, or its process was killed before its line was written",
    );
  }

  /** If the database refuses them, one by one: it may refuse the values of one package only. */
  async #insert(packages: readonly NumberedPackage[]): Promise<readonly NotIndexed[]> {
    const [only, ...more] = packages;
    if (only === undefined) {
      return [];
    }
    try {
      const statements = await this.#statementsFor(packages);
      if (statements.length > 0) {
        await this.#target.database.transaction(statements);
      }
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

  /** Nothing for what is in the database already as it should be. */
  async #statementsFor(packages: readonly NumberedPackage[]): Promise<readonly Statement[]> {
    const { database, isEmpty } = this.#target;
    if (isEmpty) {
      return [...insertPackages(packages.map(rowOf)), ...packages.flatMap(noteMeasurementOf)];
    }
    const rows = packages.map(rowOf);
    const keys = packages.flatMap(({ manifest }) => measurementOf(manifest)?.key ?? []);
    const [found = [], given = []] = await database.transaction([
      {
        sql: `SELECT * FROM packages WHERE package_id IN (${marksFor(packages)}) OR location IN (${marksFor(packages)})`,
        values: [...packages.map(({ manifest }) => manifest.job), ...packages.map(({ path }) => path)],
      },
      ...(keys.length === 0
        ? []
        : [
            {
              sql: `SELECT measurement_key FROM measurements WHERE transaction_id IS NOT NULL
                AND measurement_key IN (${marksFor(keys)})`,
              values: keys,
            },
          ]),
    ]);
    const byId = new Map(found.map((row) => [row["package_id"], row]));
    const known = new Set(given.map((row) => row["measurement_key"]));
    const differing = rows.filter((row) => !isSame(row, byId.get(row["package_id"] ?? null)));
    const ids = new Map(rows.map((row) => [row["location"], row["package_id"]]));
    // A folder contains one package.
    const replaced = found.filter(
      (row) => (ids.get(row["location"] ?? null) ?? row["package_id"]) !== row["package_id"],
    );
    const unknown = packages.filter(({ manifest }) => !known.has(measurementOf(manifest)?.key ?? null));
    return [
      ...replaced.map((row) => ({
        sql: "DELETE FROM packages WHERE package_id = ?",
        values: [row["package_id"] ?? null],
      })),
      ...(differing.length === 0 ? [] : insertPackages(differing)),
      ...unknown.flatMap(noteMeasurementOf),
    ];
  }
}

/** A package, and the numbers that the log says were added to it. */
type NumberedPackage = Pick<Logged, "numbers"> & WalkedPackage;

function rowOf({ path, sha256, manifest, numbers }: NumberedPackage): ReturnType<typeof rowOfPackage> {
  return withNumbers(rowOfPackage(keysOfManifest(manifest), { path, sha256 }, manifest), numbers);
}

function isSame(expected: Row, found: Row | undefined): boolean {
  return (
    found !== undefined &&
    Object.entries(expected).every(([column, value]) => (found[column] ?? null) === value)
  );
}

/** So that no other measurement is given the package's transaction. */
function noteMeasurementOf({ manifest }: WalkedPackage): Statement[] {
  const known = measurementOf(manifest);
  const isKept = known !== null && Date.now() - known.acceptedAt.getTime() < keepMs;
  return isKept ? [noteTransaction(known, known)] : [];
}

/** The logs of other stores beside the same packages, in a temporary database. */
class OtherLogs {
  readonly #thread: ToolThread;
  readonly #database: ToolDatabase;

  private constructor(thread: ToolThread, database: ToolDatabase) {
    this.#thread = thread;
    this.#database = database;
  }

  static async open({ root, disk }: OpenedScope, own: string): Promise<OtherLogs> {
    const thread = new ToolThread();
    try {
      const database = await thread.open({ as: "temporary", file: root });
      await database.transaction(replaySchema.map((sql) => ({ sql })));
      for (const store of (await storesWithLog(root, disk)).filter((one) => one !== own)) {
        const replay = new LogReplay(root, store, disk, database);
        await replay.readOn();
        const run = replay.run([]);
        while ((await run.next()).done !== true) {
          // What is wrong with another log, a verification says.
        }
      }
      return new OtherLogs(thread, database);
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** The store whose log knows a package as it is. */
  async storeOf({
    path,
    sha256,
    manifest,
  }: Pick<WalkedPackage, "manifest" | "path" | "sha256">): Promise<string | undefined> {
    const [found] = await this.#database.select(
      "SELECT store FROM logged WHERE package_id = ? AND path = ? AND sha256 = ? LIMIT 1",
      [manifest.job, path, sha256],
    );
    return found === undefined ? undefined : String(found["store"]);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

/** A database that is created beside the one that it will replace. */
interface NewDatabase {
  /** The name that it will get. */
  readonly file: string;
  /** Has no indexes but those of primary and unique keys. */
  readonly database: Pick<Database, "transaction">;
  /** Creates the indexes of a table, or all that are missing: over rows that are there, it takes less time and writing. */
  index(table?: string): Promise<void>;
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
/** Each row of it is compared with those before. */
const comparedTable = "measurements";

/**
 * Creates a database that will replace the one at this path. The caller holds the lock of that one. Rejects with ERR_STORE if
 * the file there is something else.
 */
async function beginDatabase(file: string, thread: ToolThread): Promise<NewDatabase> {
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
  await (await StoreDatabase.open({ file: beginning })).close();
  const database = await thread.open({ as: "build", file: beginning });
  const left = new Map<string, { readonly table: string; readonly sql: string }>();
  for (const row of await database.select(
    "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name <> ?",
    [comparedTable],
  )) {
    left.set(String(row["name"]), { table: String(row["tbl_name"]), sql: String(row["sql"]) });
  }
  await database.transaction([...left.keys()].map((name) => ({ sql: `DROP INDEX ${name}` })));
  return {
    file,
    database,
    async index(of) {
      for (const [name, { table, sql }] of left) {
        if (of === undefined || of === table) {
          await database.transaction([{ sql }]);
          left.delete(name);
        }
      }
    },
    async finish() {
      await database.transaction([{ sql: "COMMIT" }, { sql: "PRAGMA journal_mode = WAL" }]);
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
