import { join } from "node:path";
import {
  type Database,
  type Row,
  type SqlValue,
  allOf,
  lockLog,
  not,
  databaseTime,
  marksFor,
} from "../../database/database.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { isDimensionerError, DimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveProgress, PrunedPackage, PrunedSpace } from "../../model/archive-reports.ts";
import {
  type ReadDisk,
  exists,
  holdName,
  isAbsent,
  manifestFileName,
  namesIn,
  namesInState,
  trashFolderName,
} from "../archive-disk.ts";
import { hasLeftLines } from "../../database/log-table.ts";
import { type OpenStore, findDatabases, openForTool, openWithLog } from "../index-reader.ts";
import { entryOf, readEvent } from "../log/events.ts";
import type { BucketVault } from "../bucket/bucket-vault.ts";
import { removeLeftover } from "./leftovers.ts";
import { isLogged, isPruned, notHeld, prunedOf } from "../log/log-state.ts";
import { publishLeftLog, publishLog, readyLog } from "../log/open-log.ts";
import type { OpenedScope } from "../open-vault.ts";
import { filesOf } from "../packages/manifest.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import { ofFamily } from "../packages/package-index.ts";
import { SpaceGain, type SpaceNeed, type SpaceRule, explainMissing, spaceNeeded } from "./prune-space.ts";
import { inParallel, loadManifestWithin, sayRetained, straysIn } from "../walk.ts";
import { knownInstantOf } from "../../rules/instants.ts";
import { dayMs, areTooFar, tooFarMs } from "../../time/clocks.ts";
import { archivedLines } from "../log/package-proof.ts";

export interface PruneOptions {
  /** Packages archived before this are deleted; with a rule about space, none that was archived later. */
  readonly before: Date;
  /** Packages are deleted only as far as the space needs it, the oldest first. */
  readonly space?: SpaceRule | undefined;
  /** The database of the store, or the folder that holds it, or those of all stores that use the folder of packages. */
  readonly database: string;
  /** Files are opened in it. */
  readonly thread: ToolThread;
  /** Deletes also where the clock of this computer and the archive contradict each other. */
  readonly despiteClock?: boolean | undefined;
  /** Only reports what would be deleted. */
  readonly isDryRun: boolean;
  /** Aborting ends the run between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A package that is old enough to be deleted, as the index has it. */
interface Due {
  readonly id: string;
  readonly path: string;
  readonly sha256: string;
  /** The SHA-256 of the manifest that it supplements, or of its own. */
  readonly family: string;
  readonly transactionId: string | null;
  /** From when its age counts: the latest of what is known. */
  readonly since: string;
  readonly bytes: number;
}

/**
 * How many packages are noted with one transaction. The first one is alone: if nothing can be deleted, no other one is in the log.
 */
const notedAtOnce = 100;
const rowsAtOnce = 500;

/**
 * Deletes packages because of their age, or because space is needed: those that the index of a store lists and its log knows, so it costs what is due and not what
 * is kept. A hold on a package keeps it and all that belong to it. The log says of each deletion that it happens before it does; the row of
 * the index goes last, so that the next run finishes what a kill has interrupted.
 */
export class Pruning {
  readonly #scope: OpenedScope;
  readonly #options: PruneOptions;
  /** The age from which packages are due; never in the future, where every package would be. */
  readonly #before: string;
  /** What has to be deleted; undefined if the age alone decides. */
  #need: SpaceNeed | undefined;
  #space: PrunedSpace | null = null;
  #hasDeleted = false;
  #packages = 0;
  #bytes = 0;

  constructor(scope: OpenedScope, options: PruneOptions) {
    this.#scope = scope;
    this.#options = options;
    this.#before = new Date(Math.min(options.before.getTime(), Date.now())).toISOString();
  }

  /** How much was processed so far. */
  progress(): ArchiveProgress {
    return { packages: this.#packages, bytes: this.#bytes, expectedPackages: null, expectedBytes: null };
  }

  /** What has become of the rule about space, after `run`; null without one. */
  space(): PrunedSpace | null {
    return this.#space;
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const { database: given, thread, isDryRun } = this.#options;
    const { key, location, hasState } = this.#scope;
    const named = await findDatabases(given, { key, name: location }, thread);
    if (await this.#isIdle(named)) {
      yield* this.#pruneAll([]);
      return;
    }
    const stores: OpenStore[] = [];
    try {
      for (const file of named) {
        stores.push(await openWithLog(file, isDryRun ? "read" : "write", thread, "prune"));
      }
      if (!isDryRun && hasState) {
        yield* this.#emptyTrash(stores);
      }
      yield* this.#pruneAll(stores);
    } finally {
      await Promise.all(
        stores.map(async ({ database, log }) => {
          await log.close();
          await database.close();
        }),
      );
    }
  }

  /** Whether there is nothing to do, as far as reading shows it: then no database is checked as a whole, and nothing is written. */
  async #isIdle(files: readonly string[]): Promise<boolean> {
    const { thread, isDryRun } = this.#options;
    const { root, disk } = this.#scope;
    if ((await namesInState(root, [trashFolderName], disk)).length > 0) {
      return false;
    }
    const databases: Database[] = [];
    try {
      for (const file of files) {
        databases.push(await openForTool(file, "read", thread));
      }
      if (await this.#hasWork(databases)) {
        return false;
      }
      // A database that cannot be written is said to be so each night, and not only when something is due.
      for (const file of isDryRun ? [] : files) {
        await (await openForTool(file, "write", thread)).close();
      }
      return true;
    } finally {
      await Promise.all(databases.map((one) => one.close()));
    }
  }

  async #hasWork(databases: readonly Database[]): Promise<boolean> {
    const { space } = this.#options;
    if ((await Promise.all(databases.map(hasLeftLines))).includes(true)) {
      return true;
    }
    if (space === undefined) {
      return (await Promise.all(databases.map((one) => isAnyDue(one, this.#before)))).includes(true);
    }
    const { bytes, problem } = (this.#need = await spaceNeeded(space, this.#scope, databases));
    return bytes > 0 && problem === null;
  }

  async *#pruneAll(stores: readonly OpenStore[]): AsyncGenerator<PrunedPackage> {
    const { isDryRun, space } = this.#options;
    if (!isDryRun) {
      for (const store of stores) {
        const log = { table: store.log, vault: this.#scope.vault };
        await readyLog(log, store.database);
        await publishLeftLog(log);
      }
    }
    if (space !== undefined) {
      yield* this.#pruneForSpace(stores, space);
      return;
    }
    await this.#demandClock(stores);
    for (const store of stores) {
      for await (const rows of this.#due(store.database)) {
        for (let from = 0; from < rows.length;) {
          this.#options.signal?.throwIfAborted();
          const most = this.#mostNoted();
          yield* this.#prune(store, rows.slice(from, from + most));
          from += most;
        }
      }
    }
  }

  async #demandClock(stores: readonly OpenStore[]): Promise<void> {
    const { isDryRun, despiteClock, space } = this.#options;
    if (!isDryRun && despiteClock !== true) {
      const databases = stores.map(({ database }) => database);
      const { vault } = this.#scope;
      // A folder does not tell the time.
      const thereMs = vault.kind === "s3" ? await vault.leastTimeMs() : Date.now();
      await demandPlausibleClock(databases, { before: this.#before, isByAge: space === undefined, thereMs });
    }
  }

  #mostNoted(): number {
    return this.#hasDeleted ? notedAtOnce : 1;
  }

  /** Deletes the oldest packages of all stores until there is enough space. */
  async *#pruneForSpace(stores: readonly OpenStore[], rule: SpaceRule): AsyncGenerator<PrunedPackage> {
    const { isDryRun, signal } = this.#options;
    const databases = stores.map(({ database }) => database);
    const need = (this.#need ??= await spaceNeeded(rule, this.#scope, databases));
    const gain = new SpaceGain(this.#scope, need);
    const oldest = new OldestFirst(stores.map((store) => ({ store, pages: this.#due(store.database) })));
    let [problem, deleted, bytes] = [need.problem, 0, 0];
    // An age spares what is younger, and a clock that is ahead makes everything old.
    if (problem === null && need.bytes > 0 && areTooFar(Date.now(), Date.parse(this.#before))) {
      await this.#demandClock(stores);
    }
    while (problem === null && bytes < need.bytes && deleted < need.mostPackages) {
      signal?.throwIfAborted();
      const most = Math.min(this.#mostNoted(), need.mostPackages - deleted);
      const batch = await oldest.take(most, need.bytes - bytes);
      if (batch === undefined) {
        break;
      }
      for await (const result of this.#prune(batch.store, batch.packages)) {
        deleted += Number(result.what === "deleted");
        bytes += result.what === "deleted" ? result.bytes : 0;
        yield result;
      }
      // Of a limit of what packages use, the index has already told the whole truth.
      problem = isDryRun || rule.keepFree === undefined ? null : await gain.explain(bytes);
    }
    const missingBytes = Math.max(0, need.bytes - bytes);
    problem ??= missingBytes > 0 ? explainMissing(missingBytes, need, deleted === need.mostPackages) : null;
    this.#space = { ...need.found, missingBytes, problem };
  }

  /** The oldest first, some at a time. Age counts from the latest of what is known: the clock of Node-RED may have been behind. */
  async *#due(database: Database): AsyncGenerator<readonly Due[]> {
    const { root, start } = this.#scope;
    const below =
      start === root ? "" : `${start.slice(root.length).replaceAll("\\", "/").replace(/^\//, "")}/`;
    let after: readonly [string, string] = ["", ""];
    for (let younger: readonly Due[] = []; ;) {
      const [rows = []] = await database.transaction([
        {
          sql: `SELECT package_id, location, manifest_sha256, supplements_sha256, transaction_id, archived_at, measured_at, bytes
            FROM packages
            WHERE archived_at < ? AND (archived_at > ? OR (archived_at = ? AND package_id > ?))
              AND (substr(location, 1, ?) = ? OR location = ?)
            ORDER BY archived_at, package_id LIMIT ?`,
          values: [
            this.#before,
            after[0],
            after[0],
            after[1],
            below.length,
            below,
            below.slice(0, -1),
            rowsAtOnce,
          ],
        },
      ]);
      const last = rows.length < rowsAtOnce ? undefined : rows.at(-1);
      const end = String(last?.["archived_at"] ?? this.#before);
      const since = await latestKnown(database, rows);
      const due = [...younger, ...rows.map((row) => dueOf(row, since))]
        .filter((one) => one.since < this.#before)
        .toSorted((one, other) => (one.since < other.since ? -1 : Number(one.since > other.since)));
      yield due.filter((one) => one.since <= end);
      younger = due.filter((one) => one.since > end);
      if (last === undefined) {
        return;
      }
      after = [String(last["archived_at"]), String(last["package_id"])];
    }
  }

  /** Deletes packages that are old enough. */
  async *#prune(store: OpenStore, packages: readonly Due[]): AsyncGenerator<PrunedPackage> {
    const due: Due[] = [];
    const before = await prunedOf(
      store.database,
      packages.map(({ id }) => id),
    );
    const judge = (each: Due): Promise<PrunedPackage> => this.#judge(each, before.has(each.id), store);
    for await (const { one, result } of this.#each(packages, judge)) {
      this.#packages += 1;
      this.#bytes += one.bytes;
      if (result.what === "deleted") {
        due.push(one);
      } else {
        yield result;
      }
    }
    const settled = new Set<Due>();
    try {
      const allowed = await this.#note(store, due);
      for (const one of due.filter(({ id }) => !allowed.has(id))) {
        settled.add(one);
        yield keptFor(one, "hold");
      }
      const toDelete = due.filter(({ id }) => allowed.has(id));
      if (this.#options.isDryRun) {
        yield* toDelete.map((one) => resultOf(one, "deleted"));
        return;
      }
      const noted = await prunedOf(
        store.database,
        toDelete.map(({ id }) => id),
      );
      const work = (each: Due): Promise<PrunedPackage> => this.#remove(each, noted.get(each.id)?.at);
      for await (const { one, result } of this.#each(toDelete, work)) {
        if (result.what === "deleted") {
          this.#hasDeleted = true;
        } else {
          await this.#takeBack(store, [one], result.reason ?? result.what);
        }
        settled.add(one);
        yield result;
      }
    } finally {
      if (!this.#options.isDryRun) {
        await this.#forget(store, [...settled]);
        // A bucket that fails ends the run, and so does a disk on which the log cannot be written.
        const left = due.filter((one) => !settled.has(one));
        await this.#takeBackLeft(store, left).catch(() => undefined);
      }
    }
  }

  async #takeBackLeft(store: OpenStore, packages: readonly Due[]): Promise<void> {
    const there: Due[] = [];
    for (const one of packages) {
      if ((await this.#load(one)) !== "none") {
        there.push(one);
      }
    }
    await this.#takeBack(store, there, "the run ended before");
  }

  /** Says in the log that packages are deleted, as far as nothing belonging to them is on hold. Returns their IDs. */
  async #note({ database, log }: OpenStore, packages: readonly Due[]): Promise<ReadonlySet<string>> {
    if (packages.length === 0) {
      return new Set();
    }
    const before = this.#before;
    // The clock may have been put back since the run began, and nothing is deleted before it is old enough.
    const at = [new Date().toISOString(), before].toSorted().at(-1) ?? before;
    const reason = this.#need === undefined ? {} : { reason: this.#need.reason };
    const lines = packages.flatMap(({ id, path, sha256, transactionId, family }) =>
      log.append(
        entryOf({ what: "pruned", at, package: id, path, sha256, transactionId, before, ...reason }),
        allOf(notHeld(family), isLogged(id), not(isPruned(id))),
      ),
    );
    const ask = packages.map(({ id, family }) => {
      const { sql, values } = allOf(notHeld(family), this.#options.isDryRun ? isLogged(id) : isPruned(id));
      return { sql: `SELECT CAST(? AS TEXT) AS id WHERE ${sql}`, values: [id, ...values] };
    });
    const rows = await database.transaction(this.#options.isDryRun ? ask : [lockLog, ...lines, ...ask]);
    if (!this.#options.isDryRun) {
      await publishLog({ table: log, vault: this.#scope.vault });
    }
    return new Set(rows.slice(-packages.length).flatMap((found) => found.map(({ id }) => String(id))));
  }

  /** What has stayed must not be said to be deleted, or nobody would notice that it is lost later. */
  async #takeBack({ database, log }: OpenStore, packages: readonly Due[], reason: string): Promise<void> {
    const at = new Date().toISOString();
    const lines = packages.flatMap(({ id, path, sha256, transactionId }) =>
      log.append(
        entryOf({ what: "kept", at, package: id, path, sha256, transactionId, reason }),
        isPruned(id),
      ),
    );
    if (lines.length > 0) {
      await database.transaction([lockLog, ...lines]);
      await publishLog({ table: log, vault: this.#scope.vault });
    }
  }

  /** Removes the rows of packages that were deleted. One that was taken back keeps its own. */
  async #forget({ database }: OpenStore, packages: readonly Due[]): Promise<void> {
    if (packages.length > 0) {
      await database.transaction(
        packages.map(({ id, sha256 }) => {
          const { sql, values } = isPruned(id);
          return {
            sql: `DELETE FROM packages WHERE package_id = ? AND manifest_sha256 = ? AND ${sql}`,
            values: [id, sha256, ...values],
          };
        }),
      );
    }
  }

  /** Whether anything at its place keeps a package. `isNoted`: a run that was killed has said that it deletes it. */
  async #judge(one: Due, isNoted: boolean, { database }: OpenStore): Promise<PrunedPackage> {
    const { vault, root } = this.#scope;
    const found = await this.#load(one);
    if (found === "none") {
      return isNoted
        ? resultOf(one, "deleted")
        : keptFor(one, "it is not where the index has it: see dimensioner verify");
    }
    if (found === "damaged" || found.sha256 !== one.sha256) {
      return keptFor(one, "its manifest is not the one that was archived: see dimensioner verify");
    }
    const bytes = filesOf(found.manifest).reduce((sum, file) => sum + file.bytes, 0);
    if (this.#need !== undefined && bytes !== one.bytes) {
      return keptFor(one, "the index has another size for it than its manifest: see dimensioner verify");
    }
    if ((found.manifest.supplements?.sha256 ?? found.sha256) !== one.family) {
      return keptFor(one, "the index has it with another package than its manifest: see dimensioner verify");
    }
    const folder = join(root, one.path);
    const reason = await reasonToKeep({ folder, manifest: found.manifest }, vault.disk);
    if (reason !== null) {
      return keptFor(one, reason);
    }
    if (await this.#isHeldByHand(one, database)) {
      return keptFor(one, "hold");
    }
    const untilMs = await vault.retainedUntilMs(folder);
    const isRetained = untilMs > 0 && untilMs > (await vault.leastTimeMs());
    return isRetained ? keptFor(one, sayRetained(untilMs)) : resultOf(one, "deleted");
  }

  /** Whether somebody has put a hold file by hand into another package of the same transaction. */
  async #isHeldByHand({ id, family }: Due, database: Database): Promise<boolean> {
    const { vault, root } = this.#scope;
    const { sql, values } = ofFamily(family);
    const [others = []] = await database.transaction([
      { sql: `SELECT location FROM packages WHERE ${sql} AND package_id <> ?`, values: [...values, id] },
    ]);
    for (const { location } of others) {
      const names = await namesIn(join(root, String(location)), vault.disk);
      if (names.some((name) => holdName.test(name))) {
        return true;
      }
    }
    return false;
  }

  async #load({ path }: Due): Promise<FoundManifest | "damaged" | "none"> {
    const { root, disk } = this.#scope;
    return await loadManifestWithin(root, `${path}/${manifestFileName}`, disk);
  }

  /** The line in the log has decided: whoever wants to hold it from now on finds it there. */
  async #remove(one: Due, deletedAt: string | undefined): Promise<PrunedPackage> {
    const { vault, root, start } = this.#scope;
    const folder = join(root, one.path);
    try {
      const isThere = (await this.#load(one)) !== "none";
      if (isThere && !(await vault.removePackage(folder, start))) {
        return keptFor(one, "hold");
      }
      if (!isThere && vault.kind === "s3") {
        await this.#removeRest(vault, one, deletedAt);
      }
    } catch (error) {
      // Another run deletes it at the same time.
      if (isAbsent(error)) {
        return resultOf(one, "deleted");
      }
      // Not every object store says beforehand what it protects.
      const isProtected = isDimensionerError(error) && error.sentence === "bucketProtected";
      if (isProtected && (await exists(join(folder, manifestFileName), vault.disk))) {
        return keptFor(one, error.message);
      }
      throw error;
    }
    return resultOf(one, "deleted");
  }

  /** What a kill has left of a package in a bucket has no manifest any more; what came after it is somebody else's. */
  async #removeRest(vault: BucketVault, { path }: Due, deletedAt: string | undefined): Promise<void> {
    if (deletedAt !== undefined) {
      const beforeMs = Date.parse(deletedAt);
      const reason = "what is left of a deleted package";
      await removeLeftover(vault, { location: path, reason, isOurs: () => true }, { beforeMs });
    }
  }

  /** Ends the deletions that a kill has interrupted. What no log says was deleted stays. */
  async *#emptyTrash(stores: readonly OpenStore[]): AsyncGenerator<PrunedPackage> {
    const isDeleted = async ({ manifest: { job }, sha256 }: FoundManifest): Promise<boolean> => {
      for (const { database } of stores) {
        const { sql, values } = isPruned(job);
        const [rows = []] = await database.transaction([
          {
            sql: `SELECT line FROM log WHERE package_id = ? AND what = 'pruned' AND ${sql}`,
            values: [job, ...values],
          },
        ]);
        if (rows.some(({ line }) => String(line).includes(`"sha256":"${sha256}"`))) {
          return true;
        }
      }
      return false;
    };
    for (const path of await this.#scope.vault.emptyTrash(isDeleted)) {
      yield { what: "held", path, bytes: 0, reason: "no log says that it was deleted, or it is on hold" };
    }
  }

  /** A package that cannot be deleted does not end the run. A database or an object store that fails would fail for each of them. */
  #each(
    packages: readonly Due[],
    work: (one: Due) => Promise<PrunedPackage>,
  ): AsyncGenerator<{ readonly one: Due; readonly result: PrunedPackage }> {
    const { signal } = this.#options;
    return inParallel(packages, this.#scope.vault.worksAtOnce, async (one) => {
      signal?.throwIfAborted();
      try {
        return { one, result: await work(one) };
      } catch (error) {
        const isOfAll = isDimensionerError(error) && error.code === "ERR_STORE";
        if (isOfAll || signal?.aborted === true) {
          throw error;
        }
        const reason = error instanceof Error ? error.message : String(error);
        return { one, result: { ...resultOf(one, "failed"), reason } };
      }
    });
  }
}

/** Packages of several stores, those of each in their order, taken in the order in which they were archived. */
class OldestFirst {
  readonly #queues: {
    readonly store: OpenStore;
    readonly pages: AsyncIterator<readonly Due[]>;
    rows: Due[];
  }[];

  constructor(all: readonly { readonly store: OpenStore; readonly pages: AsyncGenerator<readonly Due[]> }[]) {
    this.#queues = all.map((one) => ({ ...one, rows: [] }));
  }

  /** Takes the oldest packages, all of one store: so many at most, and no more than have these bytes together. Undefined if none is left. */
  async take(
    most: number,
    bytes: number,
  ): Promise<{ readonly store: OpenStore; readonly packages: readonly Due[] } | undefined> {
    const [queue, next] = await this.#oldest();
    if (queue === undefined) {
      return undefined;
    }
    const packages: Due[] = [];
    for (let left = bytes; packages.length < most && left > 0;) {
      const [one] = queue.rows;
      if (one === undefined || (next !== undefined && one.since > next.since)) {
        break;
      }
      packages.push(one);
      queue.rows.shift();
      left -= one.bytes;
    }
    return { store: queue.store, packages };
  }

  /** The store with the oldest package, and the oldest package of all others. */
  async #oldest() {
    for (const queue of this.#queues) {
      while (queue.rows.length === 0) {
        const page = await queue.pages.next();
        if (page.done === true) {
          break;
        }
        queue.rows.push(...page.value);
      }
    }
    const [first, second] = this.#queues
      .filter(({ rows }) => rows.length > 0)
      .toSorted((one, other) => ((one.rows[0]?.since ?? "") < (other.rows[0]?.since ?? "") ? -1 : 1));
    return [first, second?.rows[0]] as const;
  }
}

/** Why a package has to be kept: a hold, or a file that its manifest does not list. */
async function reasonToKeep(entry: Parameters<typeof straysIn>[0], disk: ReadDisk): Promise<string | null> {
  let stray: string | null = null;
  for await (const name of straysIn(entry, disk)) {
    if (holdName.test(name)) {
      return "hold";
    }
    stray ??= name;
  }
  return stray === null ? null : `it contains ${stray}, which its manifest does not list`;
}

function keptFor(one: Due, reason: string): PrunedPackage {
  return { ...resultOf(one, reason === "hold" ? "held" : "kept"), reason };
}

function resultOf({ path, bytes }: Due, what: PrunedPackage["what"]): PrunedPackage {
  return { what, path, bytes };
}

function dueOf(row: Row, since: ReadonlyMap<string, string>): Due {
  const text = (value: SqlValue | undefined): string => String(value);
  return {
    id: text(row["package_id"]),
    path: text(row["location"]),
    sha256: text(row["manifest_sha256"]),
    family: text(row["supplements_sha256"] ?? row["manifest_sha256"]),
    transactionId: row["transaction_id"] === null ? null : text(row["transaction_id"]),
    since: since.get(text(row["package_id"])) ?? text(row["archived_at"]),
    bytes: Number(row["bytes"]),
  };
}

/** An archive in use has a package that is younger, and no longer pause counts as a holiday: a clock ahead by less would not be noticed. */
const [leastIdleMs, mostIdleMs] = [7 * dayMs, 31 * dayMs];
/** So much of an age may pass without a package: where packages are kept for a month, a clock may not be three weeks ahead. */
const idleShare = 0.25;
/** So much of an archive is never due at once where it is pruned regularly. */
const mostShare = 0.8;
/** Of fewer packages, a share says nothing. */
const leastPackages = 20;
/** How many of the newest packages are asked for the time of their devices. */
const mostAsked = 50;

const facts = { surface: "config", operation: "prune" } as const;

/**
 * Whether this computer's clock may decide what is old enough: a Raspberry Pi after a power cut, or a clock that was set by hand, may be
 * years ahead, and then everything looks old. What is deleted is lost, so the archive has to agree.
 *
 * Rejects with ERR_CONFIG if packages are due before a time only because the clock is wrong, as far as the indexes can tell: the newest of
 * all packages was archived long before now, the server of the database or the object store has another day, or nearly all are due at once. Where the clocks of
 * Node-RED and of the devices have agreed before, a package is as old as the earlier of the two says. A rule about space takes few at once,
 * however many its age allows.
 */
async function demandPlausibleClock(
  databases: readonly Pick<Database, "transaction">[],
  {
    before,
    isByAge,
    thereMs,
  }: {
    readonly before: string;
    readonly isByAge: boolean;
    /** The time where the packages are. */
    readonly thereMs: number;
  },
): Promise<void> {
  const isDue = await Promise.all(databases.map((database) => isAnyDue(database, before)));
  // Where nothing is due, that is all that it costs.
  if (!isDue.includes(true)) {
    return;
  }
  const now = new Date();
  const latestMs = now.getTime() + tooFarMs;
  let [packages, due, newestMs, otherClock] = [0, 0, 0, ""];
  for (const database of databases) {
    const [[all] = [], [old] = [], told = [], [clock] = [], last = [], agreed = []] =
      await database.transaction([
        { sql: "SELECT count(*) AS packages, max(archived_at) AS newest FROM packages" },
        { sql: "SELECT count(*) AS packages FROM packages WHERE archived_at < ?", values: [before] },
        // Devices write times in several ways, and some write something else: the last texts need not be the latest times.
        {
          sql: `SELECT DISTINCT measured_at FROM packages WHERE measured_at < ? ORDER BY measured_at DESC LIMIT ?`,
          values: [new Date(latestMs).toISOString(), mostAsked],
        },
        { sql: `SELECT ${databaseTime} AS now`, values: ["0 seconds"] },
        // With a clock that was put back, the last ones are not the newest; with an index that was made again, the newest not the last.
        {
          sql: `SELECT archived_at, measured_at FROM packages WHERE indexed_order > (SELECT max(indexed_order) - ? FROM packages)
            UNION SELECT * FROM (SELECT archived_at, measured_at FROM packages ORDER BY archived_at DESC LIMIT ?) AS newest`,
          values: [mostAsked, mostAsked],
        },
        {
          sql: "SELECT 1 FROM packages WHERE substr(measured_at, 1, 10) = substr(archived_at, 1, 10) LIMIT 1",
        },
      ]);
    packages += Number(all?.["packages"]);
    due += Number(old?.["packages"]);
    // A device whose clock has never agreed with this computer's is no witness.
    const isWitness = agreed.length > 0 || last.some(isOfOneDay);
    const archived = isWitness
      ? last.map(earlierOfClocks)
      : [archivedMs({ archived_at: all?.["newest"] ?? "" })];
    const measured = [...told, ...last].map(measuredMs).filter((ms) => ms <= latestMs);
    const gapMs = await lastBeforeGap(database, now);
    // Only devices can say that packages were archived since then.
    const known =
      gapMs === null || last.some((row) => archivedMs(row) > gapMs && isOfOneDay(row)) ? archived : [gapMs];
    newestMs = Math.max(newestMs, ...[...measured, ...known].filter((ms) => !Number.isNaN(ms)));
    const there = String(clock?.["now"] ?? "");
    otherClock = areTooFar(now.getTime(), Date.parse(there)) ? there : otherClock;
  }
  const idleMs = isByAge
    ? Math.max(leastIdleMs, (now.getTime() - Date.parse(before)) * idleShare)
    : mostIdleMs;
  if (now.getTime() - newestMs > Math.min(idleMs, mostIdleMs)) {
    const value = new Date(newestMs).toISOString();
    throw new DimensionerError("pruneClock", facts, { value, words: now.toISOString() });
  }
  if (otherClock !== "") {
    throw new DimensionerError("pruneOtherClock", facts, { value: otherClock, words: now.toISOString() });
  }
  if (areTooFar(now.getTime(), thereMs)) {
    const value = new Date(thereMs).toISOString();
    throw new DimensionerError("pruneStoreClock", facts, { value, words: now.toISOString() });
  }
  if (isByAge && packages >= leastPackages && due > packages * mostShare) {
    throw new DimensionerError("pruneNearlyAll", facts, {
      count: due,
      total: packages,
      words: now.toISOString(),
    });
  }
}

function archivedMs(row: Row): number {
  return Date.parse(String(row["archived_at"]));
}

/** NaN if the device has told no time, or one that nobody can read. */
function measuredMs(row: Row): number {
  return knownInstantOf(String(row["measured_at"] ?? ""));
}

/** Whether the clocks of the device and of this computer have agreed. */
function isOfOneDay(row: Row): boolean {
  return Math.abs(archivedMs(row) - measuredMs(row)) <= tooFarMs;
}

async function isAnyDue(database: Pick<Database, "transaction">, before: string): Promise<boolean> {
  const [rows = []] = await database.transaction([
    { sql: "SELECT 1 FROM packages WHERE archived_at < ? LIMIT 1", values: [before] },
  ]);
  return rows.length > 0;
}

/** When a package was archived, or measured if its device says that this was days earlier: this computer's clock may have been put ahead since. */
function earlierOfClocks(row: Row): number {
  const [archived, measured] = [archivedMs(row), measuredMs(row)];
  return archived - measured > tooFarMs ? measured : archived;
}

/** How far before a line of the log others are looked at: a clock that was behind was so for some lines. */
const distances = Array.from({ length: 15 }, (_, power) => 2 ** power);
/** A statement has at most so many values. */
const linesAtOnce = 500;

/** When lines of the log were written, by their numbers; NaN if that cannot be read. */
async function timesOfLines(
  database: Pick<Database, "transaction">,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const times = new Map<number, number>();
  for (let from = 0; from < numbers.length; from += linesAtOnce) {
    const values = numbers.slice(from, from + linesAtOnce);
    const [found = []] = await database.transaction([
      { sql: `SELECT n, line FROM log WHERE n IN (${marksFor(values)})`, values },
    ]);
    found.forEach(({ n, line }) => times.set(Number(n), Date.parse(readEvent(String(line))?.at ?? "")));
  }
  return times;
}

/** For so long, a log that goes on after a long pause may do so because the clock was put ahead. */
const newStartMs = 7 * dayMs;

/**
 * When the log had its last line before a pause of more than a month that ended some days ago; null if there was none. A clock that was put
 * ahead leaves such a pause, and packages that were archived since then look new.
 */
async function lastBeforeGap(database: Pick<Database, "transaction">, now: Date): Promise<number | null> {
  const [[row] = []] = await database.transaction([{ sql: "SELECT max(n) AS n FROM log" }]);
  let [first, end] = [0, Number(row?.["n"] ?? -1) + 1];
  // The first line of the last days.
  while (first < end) {
    const middle = Math.floor((first + end) / 2);
    const at = (await timesOfLines(database, [middle])).get(middle) ?? NaN;
    [first, end] = now.getTime() - at > newStartMs ? [middle + 1, end] : [first, middle];
  }
  const numbers = [first, ...distances.map((distance) => first - distance)].filter((n) => n >= 0);
  const times = await timesOfLines(database, numbers);
  const beganMs = times.get(first) ?? NaN;
  const beforeMs = Math.max(...numbers.slice(1).map((n) => times.get(n) ?? NaN));
  const isPause = beganMs - beforeMs > mostIdleMs && beganMs <= now.getTime() + tooFarMs;
  return isPause && Number.isFinite(beforeMs) ? beforeMs : null;
}

/**
 * From when the age of packages counts, by their IDs: the latest of when they were archived, when their device says that it measured, and
 * when lines were written that the log had before theirs. One of these alone is not believed, since its clock may have been ahead.
 */
async function latestKnown(
  database: Pick<Database, "transaction">,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const latestMs = Date.now() + tooFarMs;
  const lines = await archivedLines(
    database,
    rows.map((row) => String(row["package_id"])),
  );
  const before = (n: number): number[] => distances.map((distance) => n - distance).filter((one) => one >= 0);
  const numbers = [...new Set([...lines.values()].flatMap(({ n }) => before(n)))];
  const writtenAt = await timesOfLines(database, numbers);
  const isBelieved = (ms: number): boolean => ms <= latestMs;
  const dated = rows.filter((row) => !Number.isNaN(archivedMs(row)));
  return new Map(
    dated.map((row): [string, string] => {
      const [id, archived] = [String(row["package_id"]), archivedMs(row)];
      const line = lines.get(id);
      // A line that was written later, as into a log that was begun anew, says nothing of when its package was archived.
      const isOfThen = line !== undefined && !areTooFar(Date.parse(line.at), archived);
      const [, second] = (isOfThen ? before(line.n) : [])
        .map((n) => writtenAt.get(n) ?? NaN)
        .filter(isBelieved)
        .toSorted((one, other) => other - one);
      const known = [second ?? NaN, measuredMs(row)].filter(isBelieved);
      return [id, new Date(Math.max(archived, ...known)).toISOString()];
    }),
  );
}
