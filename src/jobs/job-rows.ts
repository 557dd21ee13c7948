/**
 * The jobs of a store in its database: all SQL of the tables `jobs` and `job_media`, and what memory keeps of a job. `JobTable` has
 * the jobs of this worker, `EarlierJobs` those that earlier runs have left, and `AbandonedJobs` those of workers that have stopped.
 */
import {
  asksCloud,
  itemSources,
  readIntent,
  type Intent,
  type IntentFacts,
  type IntentTexts,
  type Picture,
  type PlacedPackage,
  type StoredItem,
} from "../vault/packages/intent.ts";
import {
  answerOf,
  measureKey,
  type Answer,
  keyOfKnown,
  noteTransaction,
} from "../vault/packages/package-keys.ts";
import { sha256Of } from "../model/sha256.ts";
import {
  lockLog,
  skipLocked,
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  oneOf,
  mayWait,
} from "../database/database.ts";
import { markHandled, markUnhandled } from "../database/inbox.ts";
import {
  hasEnded,
  isPinned,
  isOpen,
  listOf,
  lostSha256,
  openToParts,
  OwnJobs,
  ofWorker,
  unfinished,
  type JobState,
  type OwnJob,
} from "../database/own-jobs.ts";
import { intents, lengthOf, withTexts } from "../database/long-texts.ts";
import { isOldBySteady, timeToRemove } from "../database/hourly-removal.ts";
import { endedWorkers, forgetIdleWorkers } from "../database/worker-lease.ts";
import {
  keepMeasurement,
  legacyIdStatement,
  noteSearch,
  mostRemovedMeasurements,
  removeOldMeasurements,
  type FoundTransaction,
  type Search,
} from "./transactions.ts";
import { dayMs, type SteadyTime, steadyTime } from "../time/clocks.ts";

/** A job as it is stored in the database. */
export interface StoredJob {
  readonly id: string;
  readonly node: string;
  readonly state: JobState;
  /** The key of the job; null until the content of a message's media is known. */
  readonly key: string | null;
  readonly acceptedAt: Date;
  readonly intent: Intent;
  /** The given or found id of the transaction. */
  readonly transactionId: string | null;
  /** The stored media by slot. */
  readonly items: Map<string, StoredItem>;
  /** Media of messages that are not on the disk as they were stored, by slot. */
  readonly lost: Map<string, StoredItem>;
  /** The slots of those that are in the spool of one computer and nowhere else; null if there are none. */
  readonly unstaged: Set<string> | null;
  /** The number of parts of the sequence, once one of them has stated it. */
  readonly count: number | null;
  /** How long it has waited for missing media. */
  readonly waitedMs: number;
  /** How long a process has worked on it. */
  readonly openMs: number;
  /** Whether somebody was told that it takes long. */
  readonly isTold: boolean;
  /** Its package, if it is placed. */
  readonly placed: PlacedPackage | null;
}

/** A job that was accepted and whose message was not sent yet. */
export interface OpenJob {
  readonly id: string;
  /** The id of the node that accepted it. */
  readonly node: string;
  acceptedAt: Date;
  /**
   * The start of the time that it has been open, in `performance.now()`, without the time between two runs: correcting
   * the clock does not make a job old.
   */
  readonly sinceMs: number;
  readonly intent: IntentFacts;
  /** The hashes of its measurement and exact answer. */
  readonly answer: Answer;
  /** The size of its long texts, which are in the database. */
  readonly textBytes: number;
  /** Whether an earlier run has accepted it. */
  readonly isResumed: boolean;
  /** Its state in the database. */
  state: JobState;
  /** The key of the job; null until the content of a message's media is known. */
  key: string | null;
  /** The given or found id of the transaction. */
  transactionId: string | null;
  /** The stored media by slot. */
  items: Map<string, StoredItem>;
  /** Media of messages that are not on the disk as they were stored, by slot: they are missing until they arrive again. */
  readonly lost: Map<string, StoredItem>;
  /** Those that are in the work folder, and of which it is not known that the database has noted them. */
  readonly unnoted: Map<string, StoredItem>;
  /**
   * Those of `items` that the database gets only if the job has to wait: after a kill they are downloaded again. Null if there are none,
   * because thousands of jobs may wait.
   */
  unsaved: Map<string, StoredItem> | null;
  /**
   * The slots of media of messages that could not be staged: until they are, no worker without this spool may take the job over. Null if
   * there are none.
   */
  unstaged: Set<string> | null;
  /** The number of parts of the sequence, once one of them has stated it. */
  count: number | null;
  /** How long it has waited for missing media. */
  waitedMs: number;
  /** Whether somebody was told that it takes long. */
  isTold: boolean;
  /** Its package. */
  placed: PlacedPackage | null;
}

/** An open job as an earlier process has left it. */
function resumed(job: StoredJob): OpenJob {
  const { openMs, intent, ...rest } = job;
  return {
    ...rest,
    intent: factsOf(intent),
    answer: answerOf(intent),
    textBytes: textBytesOf(intent),
    // Without the wall clock, which may be wrong by years, then or now.
    sinceMs: performance.now() - openMs,
    unnoted: new Map(),
    unsaved: null,
    isResumed: true,
  };
}

/** To be called when a job has media in the database, or waits for some. */
export function beginCollecting(job: OpenJob): void {
  if (job.state === "accepted") {
    job.state = "collecting";
  }
}

/** Whether there is anything to make a package of: a medium, the measurement or the exact answer. */
export function hasContent({ items, answer }: Pick<OpenJob, "items" | "answer">): boolean {
  return items.size > 0 || answer.measurement !== null || answer.raw !== null;
}

/** What memory keeps of an intent: its long texts are in the database. */
export function factsOf({
  measurement: _measurement,
  raw: _raw,
  keep: _keep,
  ...facts
}: Intent): IntentFacts {
  return facts;
}

/** Estimates the size of a job: two bytes per character, and a fixed amount. */
export function textBytesOf({ measurement, raw, keep }: Intent): number {
  const characters = (measurement?.length ?? 0) + (raw?.length ?? 0) + JSON.stringify(keep).length;
  return 2 * characters + 1_000;
}

/** The spool that alone has a medium. */
export interface Spool {
  readonly id: string;
  /** The name of its computer, for people. */
  readonly host: string;
}

/** A job that accepts no further media. */
export interface SealedJob {
  readonly items: Map<string, StoredItem>;
  /** Undefined where its row is not what was written. */
  readonly texts: IntentTexts | undefined;
  /** The integer id of the found transaction, if its id is a GUID. */
  readonly legacyTransactionId: string | null;
}

/** The job that handles a record, with what is known of the parcel. */
type HandlingJob = Parameters<typeof markHandled>[1];

/**
 * The jobs of a store's archive nodes, for one worker: a job that another worker has taken over is never changed. All
 * methods reject with ERR_STORE, and those that return a promise of a change with ERR_CANCELLED (`cancelledTaken`) if
 * another worker has the job.
 */
export class JobTable {
  readonly #database: Database;
  readonly #own: OwnJobs;
  readonly #now: () => Date;
  readonly #steady: () => SteadyTime | null;

  /** `worker`: the id of the worker that accepts the jobs, or has taken them over. */
  constructor(database: Database, worker: string, now?: () => Date) {
    this.#database = database;
    this.#now = now ?? (() => new Date());
    this.#own = new OwnJobs(database, worker, this.#now);
    this.#steady = now === undefined ? steadyTime : () => null;
  }

  /**
   * Accepts a job with its first media. Once this has resolved, the job will be finished, whatever happens; the
   * webhook's records of its transaction count as handled. `spool`: that of its media, if it alone has them.
   */
  async accept(
    job: Pick<StoredJob, "id" | "node" | "key" | "intent" | "items">,
    spool: Spool | null = null,
  ): Promise<Date> {
    const at = this.#now();
    const steady = this.#steady();
    const intent = JSON.stringify(job.intent);
    const { transactionId } = job.intent;
    await this.#database.transaction([
      {
        sql: `INSERT INTO jobs
            (job_id, node_id, job_key, state, accepted_at, changed_at, steady_clock, accepted_steady_ms, transaction_id, intent,
              intent_sha256, worker_id)
          VALUES (?, ?, ?, 'accepted', ?, ?, ?, ?, ?, ?, ?, ?)`,
        values: [
          job.id,
          job.node,
          job.key,
          at.toISOString(),
          at.toISOString(),
          steady?.clock ?? null,
          steady?.ms ?? null,
          transactionId,
          intent,
          sha256Of(intent),
          this.#own.worker,
        ],
      },
      ...[...job.items].map(([slot, item]) => insertItem(this.#own.values(job.id), slot, item, spool)),
      ...(transactionId === null ? [] : [markHandled(transactionId, job, at)]),
      ...noteMeasurement(job, at),
    ]);
    return at;
  }

  /**
   * Removes a job whose message ends in an error because the database has not confirmed it: it may have been accepted
   * nevertheless, or be accepted yet. Returns whether it is gone: another worker may have taken it over, and finishes it.
   */
  async withdraw(id: string, transactionId: string | null): Promise<boolean> {
    const at = this.#now().toISOString();
    const isGone = { sql: "NOT EXISTS (SELECT 1 FROM jobs WHERE job_id = ?)", values: [id] };
    const found = await this.#database.transaction([
      {
        // PostgreSQL may still be about to commit the job, which nobody can see until then. A row with the same ID waits for that.
        sql: `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, intent, intent_sha256, worker_id)
          VALUES (?, '', 'failed', ?, ?, '', '', ?) ON CONFLICT (job_id) DO NOTHING`,
        values: [id, at, at, this.#own.worker],
      },
      { sql: `DELETE FROM jobs WHERE ${ofWorker}`, values: this.#own.values(id) },
      ...(transactionId === null ? [] : [markUnhandled(transactionId, id, isGone)]),
      { sql: `SELECT 1 AS gone WHERE ${isGone.sql}`, values: isGone.values },
    ]);
    return (found.at(-1) ?? []).length > 0;
  }

  /**
   * Gives a job the transaction that was found for its measurement, unless another measurement has it by now; the
   * webhook's records of the transaction count as handled then. Returns whether the job has it.
   */
  async found(job: HandlingJob, { transactionId, claim, isClaimed }: FoundTransaction): Promise<boolean> {
    const [, given = []] = await this.#database.transaction([
      claim,
      {
        sql: `UPDATE jobs SET transaction_id = ? WHERE ${ofWorker} AND ${isClaimed.sql} RETURNING job_id`,
        values: [transactionId, ...this.#own.values(job.id), ...isClaimed.values],
      },
      markHandled(transactionId, job, this.#now(), isClaimed),
    ]);
    return await this.#own.isChanged(job.id, given);
  }

  /**
   * Adds stored media, all or none; from then on the job is collecting. Returns false if the job accepts none any more;
   * then they are not part of it. `spool`: see `accept`.
   */
  async addItems(
    id: string,
    items: ReadonlyMap<string, StoredItem>,
    spool: Spool | null = null,
  ): Promise<boolean> {
    const [, ...added] = await this.#database.transaction([
      this.#own.beginCollecting(id),
      ...[...items].map(([slot, item]) => insertItem(this.#own.values(id), slot, item, spool)),
    ]);
    const refused = added.find((rows) => rows.length === 0);
    return refused === undefined || (await this.#own.isChanged(id, refused));
  }

  /** Rejects with ERR_CANCELLED (`cancelledTaken`) if another worker has the job, and with ERR_STORE. */
  async demandOwn(id: string): Promise<void> {
    await this.#own.isChanged(id, []);
  }

  /** Notes that every worker gets at these media now. */
  async noteStaged(id: string, slots: readonly string[]): Promise<void> {
    const which = oneOf("slot", slots);
    const [staged = []] = await this.#database.transaction([
      {
        sql: `UPDATE job_media SET spool_id = NULL, spool_host = NULL
          WHERE job_id IN (SELECT job_id FROM jobs WHERE ${ofWorker}) AND ${which.sql} RETURNING slot`,
        values: [...this.#own.values(id), ...which.values],
      },
    ]);
    await this.#own.isChanged(id, staged);
  }

  /**
   * Notes that a medium of a message is not on the disk as it was stored. Its row stays: without it, the next start would not know
   * that it is missing.
   */
  async lose(id: string, slot: string): Promise<void> {
    await this.#database.transaction([
      {
        sql: `UPDATE job_media SET sha256 = ?, spool_id = NULL, spool_host = NULL WHERE job_id IN (SELECT job_id FROM jobs WHERE ${ofWorker}) AND slot = ?`,
        values: [lostSha256, ...this.#own.values(id), slot],
      },
    ]);
  }

  /** Removes media that are not on the disk any more, and can be asked for again. */
  async removeItems(id: string, slots: readonly string[]): Promise<void> {
    await this.#database.transaction(
      slots.map((slot) => ({
        sql: `DELETE FROM job_media WHERE job_id IN (SELECT job_id FROM jobs WHERE ${ofWorker}) AND slot = ?`,
        values: [...this.#own.values(id), slot],
      })),
    );
  }

  async setCount(id: string, count: number): Promise<void> {
    await this.#database.transaction([
      { sql: `UPDATE jobs SET part_count = ? WHERE ${ofWorker}`, values: [count, ...this.#own.values(id)] },
    ]);
  }

  /** Notes how long a job has waited and been open, so that a restart restarts neither time. */
  async setTimes(id: string, waitedMs: number, openMs: number): Promise<void> {
    await this.#database.transaction([
      {
        sql: `UPDATE jobs SET waited_ms = ?, open_ms = ? WHERE ${ofWorker}`,
        values: [Math.round(waitedMs), Math.round(openMs), ...this.#own.values(id)],
      },
    ]);
  }

  /** Notes that somebody was told that a job takes long. */
  async setTold(id: string): Promise<void> {
    await this.#database.transaction([
      {
        sql: `UPDATE jobs SET told_at = ? WHERE ${ofWorker}`,
        values: [this.#now().toISOString(), ...this.#own.values(id)],
      },
    ]);
  }

  /** Returns a job to collecting: its package could not be placed, or was deleted. */
  async collect(id: string): Promise<void> {
    await this.#own.moveTo(id, "collecting");
  }

  /**
   * Closes a job to further media. Undefined if it is sealed already or has ended. `measurement` is the key of its
   * measurement.
   */
  async seal(id: string, measurement: string | null): Promise<SealedJob | undefined> {
    const [rows = [], media = [], [given] = []] = await this.#database.transaction([
      this.#own.move(id, "sealing", { returned: "intent, intent_sha256" }),
      { sql: "SELECT * FROM job_media WHERE job_id = ? ORDER BY added_order", values: [id] },
      ...(measurement === null ? [] : [legacyIdStatement(measurement)]),
    ]);
    await this.#own.isChanged(id, rows);
    const [moved] = rows;
    return moved === undefined
      ? undefined
      : {
          items: readItems(media),
          texts: readIntent(moved),
          legacyTransactionId: textOf(given?.["legacy_id"]),
        };
  }

  /**
   * Reads a job that nothing can be added to any more, although it is `accepted`. Undefined if it is in another state.
   */
  async read(
    id: string,
    measurement: string | null,
  ): Promise<Pick<SealedJob, "legacyTransactionId" | "texts"> | undefined> {
    const [rows = [], [given] = []] = await this.#database.transaction([
      {
        sql: `SELECT intent, intent_sha256 FROM jobs WHERE ${ofWorker} AND state = 'accepted'`,
        values: this.#own.values(id),
      },
      ...(measurement === null ? [] : [legacyIdStatement(measurement)]),
    ]);
    const [row] = rows;
    return row === undefined
      ? undefined
      : { texts: readIntent(row), legacyTransactionId: textOf(given?.["legacy_id"]) };
  }

  /**
   * Notes that the package has its final name, with its row in the index, in one transaction. Returns false, and changes
   * nothing, if the condition does not hold; true also if this package was noted before, by a transaction whose answer was lost.
   * `atOnce`: also of a job that the database does not know to be sealing.
   */
  async archived(
    id: string,
    key: string,
    placed: PlacedPackage,
    {
      condition,
      statements,
      atOnce,
    }: {
      readonly condition: Condition;
      readonly statements: readonly Statement[];
      readonly atOnce: boolean;
    },
  ): Promise<boolean> {
    const also = { job_key: key, location: placed.path, manifest_sha256: placed.sha256 };
    const [, moved = []] = await this.#database.transaction([
      lockLog,
      this.#own.move(id, "archived", { also, condition, ...(atOnce ? {} : { from: ["sealing"] }) }),
      ...statements,
    ]);
    return (await this.#own.isChanged(id, moved)) || (await this.placed(id))?.path === placed.path;
  }

  /** The package that is noted for a job, or null. */
  async placed(id: string): Promise<PlacedPackage | null> {
    const [[row] = []] = await this.#database.transaction([
      {
        sql: "SELECT location, manifest_sha256 FROM jobs WHERE job_id = ? AND state = 'archived' AND location IS NOT NULL",
        values: [id],
      },
    ]);
    return row === undefined
      ? null
      : { path: String(row["location"]), sha256: String(row["manifest_sha256"]) };
  }

  /**
   * Notes that the message has left the node. `leaves`: the row goes with it if the index has the package of this job, which says all that
   * is asked of a job that has ended. Where there are several workers it stays for a while: it tells another one that had the job.
   */
  async reported(id: string, leaves: boolean): Promise<void> {
    const remove: Statement = {
      sql: `DELETE FROM jobs WHERE ${ofWorker} AND state = 'archived' AND ${isIndexed} RETURNING job_id ${mayWait}`,
      values: this.#own.values(id),
    };
    await this.#own.moveTo(id, "reported", {}, leaves ? [remove] : []);
  }

  async failed(id: string, error: { readonly code: string; readonly message: string }): Promise<void> {
    await this.#own.moveTo(id, "failed", { error_code: error.code, error_message: error.message });
  }

  /** Marks the webhook's records of a transaction as handled by an existing job, or by its package. */
  async handled(transactionId: string, job: HandlingJob): Promise<void> {
    await this.#database.transaction([markHandled(transactionId, job, this.#now())]);
  }

  /** Reads the long texts of a job. Undefined if its row is not what was written. */
  async texts(id: string): Promise<IntentTexts | undefined> {
    const [rows = []] = await this.#database.transaction([
      { sql: "SELECT intent, intent_sha256 FROM jobs WHERE job_id = ?", values: [id] },
    ]);
    return rows[0] === undefined ? undefined : readIntent(rows[0]);
  }
}

/** Few enough for nobody to notice that they are removed: whoever stores something waits for them. */
const mostRemoved = 50;
/** For how long the row of a job stays whose package is in the index. */
const keepIndexedDays = 1;

/** A failed job with media that were nowhere else. */
const keepsMedia = `state = 'failed' AND EXISTS
  (SELECT 1 FROM job_media WHERE job_media.job_id = jobs.job_id AND source <> 'cloud')`;

/** Whether the index has the package of a job. */
const isIndexed = "EXISTS (SELECT 1 FROM packages WHERE package_id = jobs.job_id)";

/** The jobs that earlier runs have left in the database of a store. All methods reject with ERR_STORE. */
export class EarlierJobs {
  readonly #database: Database;
  readonly #worker: string;
  readonly #now: () => Date;

  constructor(database: Database, worker: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#worker = worker;
    this.#now = now;
  }

  /** Reads all jobs of this worker to be resumed after a restart, the oldest first. */
  async unfinished(): Promise<TakenJobs> {
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT ${shortColumns} FROM jobs WHERE worker_id = ? AND ${isOpen} ORDER BY accepted_at, job_id`,
        values: [this.#worker],
      },
    ]);
    return await readJobs(this.#database, rows);
  }

  /**
   * Returns which of these jobs have ended and need their work folder no more: by their rows, all media are in a package, or in the
   * cloud, or their package is in the index. With the hashes of these media, as far as there are rows.
   */
  async withoutMedia(ids: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const found = await this.#database.transaction(
      ids.map((id) => ({
        sql: `SELECT sha256 FROM jobs LEFT JOIN job_media ON job_media.job_id = jobs.job_id
          WHERE jobs.job_id = ? AND (state = 'reported' OR state = 'failed' AND NOT (${keepsMedia}))
          UNION ALL SELECT NULL FROM packages WHERE package_id = ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE job_id = ?)`,
        values: [id, id, id],
      })),
    );
    const ended = new Map<string, ReadonlySet<string>>();
    for (const [index, id] of ids.entries()) {
      const rows = found[index] ?? [];
      if (rows.length > 0) {
        ended.set(id, new Set(rows.map((row) => String(row["sha256"]))));
      }
    }
    return ended;
  }

  /** Returns which of these jobs are open, whichever worker has them. */
  async open(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.transaction(
      ids.map((id) => ({
        sql: `SELECT job_id FROM jobs WHERE job_id = ? AND ${isOpen}`,
        values: [id],
      })),
    );
    return new Set(rows.flat().map((row) => String(row["job_id"])));
  }

  /** Returns which of these names are ids of workers of this database whose lease has ended. */
  async endedWorkers(names: readonly string[]): Promise<string[]> {
    const ended = endedWorkers(0);
    const rows = await this.#database.transaction(
      names.map((name) => ({
        sql: `SELECT worker_id FROM workers WHERE worker_id = ? AND (lease_until IS NULL OR worker_id IN (${ended.sql}))`,
        values: [name, ...ended.values],
      })),
    );
    return rows.flat().map((row) => String(row["worker_id"]));
  }

  /**
   * Removes some jobs that ended more than `days` ago, or a day ago if the index has their packages, and returns whether there may be
   * more. A failed job with media that were nowhere else goes when `save` has returned true: its row is all that keeps them from being
   * tidied up.
   */
  async removeEnded(days: number, save: SaveMedia = async () => true): Promise<boolean> {
    const now = await timeToRemove(this.#database, this.#now());
    const daysAgo = (count: number): string => new Date(now.getTime() - count * dayMs).toISOString();
    const before = daysAgo(days);
    const isOld = isOldBySteady("accepted_steady_ms", days * dayMs, steadyTime());
    // Of a job that says itself that it was accepted since then, the clock was right.
    const isYoung = `accepted_at < ? AND NOT ${isOld.sql}`;
    const remove = (state: "failed" | "reported", which: string, values: readonly SqlValue[]): Statement => ({
      sql: `DELETE FROM jobs WHERE job_id IN
        (SELECT job_id FROM jobs WHERE ${hasEnded} AND state = '${state}' AND ${which} AND NOT (${isYoung}) LIMIT ? ${skipLocked})
        RETURNING job_id`,
      values: [...values, before, ...isOld.values, mostRemoved],
    });
    const [reported = [], others = [], measurements = [], failed = []] = await this.#database.transaction([
      remove("reported", `changed_at < ? AND (changed_at < ? OR ${isIndexed})`, [
        daysAgo(keepIndexedDays),
        before,
      ]),
      remove("failed", `changed_at < ? AND NOT (${keepsMedia})`, [before]),
      removeOldMeasurements(now),
      {
        sql: `SELECT job_id FROM jobs WHERE ${hasEnded} AND changed_at < ? AND ${keepsMedia} AND NOT (${isYoung})
          ORDER BY changed_at, job_id LIMIT ?`,
        values: [before, before, ...isOld.values, mostRemoved],
      },
    ]);
    const rows = await mediaOf(this.#database, failed.map(idOf));
    const saved: string[] = [];
    for (const id of failed.map(idOf)) {
      const items = [...readItems(rows.get(id) ?? []).values()];
      const onlyThere = items.filter(({ source }) => source !== "cloud");
      if (await save(id, onlyThere)) {
        saved.push(id);
      }
    }
    await this.#database.transaction(
      saved.map((id) => ({ sql: "DELETE FROM jobs WHERE job_id = ? AND state = 'failed'", values: [id] })),
    );
    return (
      measurements.length === mostRemovedMeasurements ||
      [reported, others, saved].some(({ length }) => length === mostRemoved)
    );
  }
}

/** Keeps the media of a failed job. Returns whether its row is needed no more. */
type SaveMedia = (job: string, items: readonly StoredItem[]) => Promise<boolean>;

/** Who takes jobs over. */
export interface Taker {
  /** The node whose jobs it takes at once. */
  readonly node: string;
  /** Whether the node takes a job of a node that no worker seems to have any more. */
  readonly isMine: (job: OpenJob) => boolean;
}

/** What an archive has taken over from other workers. */
export interface TakenOver {
  /** How many jobs. */
  readonly count: number;
  /** Whether there were as many as it takes at once. */
  readonly mayHaveMore: boolean;
  /** Ids of jobs whose row in the database is not what was written. */
  readonly damagedJobs: readonly string[];
  /** Jobs that wait for their computer; see `TakenJobs.elsewhere`. */
  readonly elsewhere: readonly PinnedElsewhere[];
}

/** Jobs of a worker that has stopped, which no worker of another computer can finish. */
export interface PinnedElsewhere {
  /** The computer whose spool alone has media of theirs. */
  readonly host: string;
  readonly count: number;
}

/** The spool of this worker. Nothing is in it if none is given. */
export interface OwnSpool {
  /** The IDs of the spool; several if processes have begun to use it at the same moment. */
  spoolIds(): Promise<readonly string[]>;
  /** Whether a job has a folder in it. */
  hasFolder(jobId: string): Promise<boolean>;
}

const noSpool: OwnSpool = { spoolIds: async () => [], hasFolder: async () => false };

/** The worker of a job that its worker has given back. */
const nobody = "";

/** As long as a worker may have the node of a job, it is left to that one. */
const othersAfterSeconds = 600;
const othersEveryMs = 60_000;
const lookEveryMs = 60_000;
const pageRows = 100;

/**
 * The jobs of workers whose lease has ended, in a database that several workers share. Several may take at the same time: each
 * job goes to one of them. Methods reject with ERR_STORE.
 */
export class AbandonedJobs {
  readonly #database: Database;
  readonly #worker: string;
  readonly #isKnown: (id: string) => boolean;
  /** Whether jobs may have been taken over although the answer of the database has not arrived. */
  #mayHaveMore = false;
  #lookedAtMs = performance.now();
  #turn: Promise<unknown> = Promise.resolve();
  #othersAtMs = Number.NEGATIVE_INFINITY;
  /** What was said last of jobs that wait for their computers. */
  #saidElsewhere = "[]";
  readonly #spool: OwnSpool;

  /** `isKnown`: whether this process has a job already. */
  constructor(
    database: Database,
    worker: string,
    isKnown: (id: string) => boolean = () => true,
    spool: OwnSpool = noSpool,
  ) {
    this.#database = database;
    this.#worker = worker;
    this.#isKnown = isKnown;
    this.#spool = spool;
  }

  /** Takes over jobs of a node, and from time to time those of nodes that are gone; no more than `most`. */
  take(taker: Taker, most: number): Promise<TakenJobs> {
    // One after the other: nobody knows yet the jobs that another call is about to return.
    const taken = this.#turn.then(() => this.#takeInTurn(taker, most));
    this.#turn = taken.catch(() => undefined);
    return taken;
  }

  async #takeInTurn({ node, isMine }: Taker, most: number): Promise<TakenJobs> {
    // PostgreSQL may commit much later what nobody can see until then, so one look after a lost answer would not be enough.
    if (this.#mayHaveMore || performance.now() - this.#lookedAtMs >= lookEveryMs) {
      this.#lookedAtMs = performance.now();
      const { mine, others } = await this.#findUnknown(node, isMine);
      this.#mayHaveMore = mine.length > 0 || others > 0;
      if (mine.length > 0) {
        return await readJobs(this.#database, mine.slice(0, most));
      }
    }
    const own = await this.#take({ sql: "node_id = ?", values: [node] }, most);
    if (own.jobs.length > 0 || performance.now() - this.#othersAtMs < othersEveryMs) {
      return own;
    }
    this.#othersAtMs = performance.now();
    await this.#database.transaction([forgetIdleWorkers()]);
    const others = await this.#findOthers(node, isMine, most);
    const taken = others.length === 0 ? own : await this.#take(oneOf("job_id", others), most);
    return { ...taken, elsewhere: await this.#findElsewhere() };
  }

  /** Gives back jobs of this worker, or all of them: another one takes them at once. */
  async giveBack(ids?: readonly string[]): Promise<void> {
    const which = ids === undefined ? { sql: "TRUE", values: [] } : oneOf("job_id", ids);
    await this.#database.transaction([
      {
        sql: `UPDATE jobs SET worker_id = ? WHERE worker_id = ? AND ${isOpen} AND ${which.sql}`,
        values: [nobody, this.#worker, ...which.values],
      },
    ]);
  }

  async #take(which: Condition, most: number): Promise<TakenJobs> {
    const ended = endedWorkers(0);
    const here = await this.#pinnedHere(ended, which, most);
    const mayHaveMore = this.#mayHaveMore;
    this.#mayHaveMore = true;
    const [rows = []] = await this.#database.transaction([
      {
        sql: `UPDATE jobs SET worker_id = ? WHERE job_id IN
          (SELECT job_id FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND ${which.sql}
            AND ${isOpen} AND ${here.sql} LIMIT ? ${skipLocked}) RETURNING ${shortColumns}`,
        values: [this.#worker, ...ended.values, ...which.values, ...here.values, most],
      },
    ]);
    const taken = await readJobs(this.#database, rows);
    this.#mayHaveMore = mayHaveMore;
    return taken;
  }

  /**
   * The condition for jobs of which this worker can get at all media: they are in no spool alone, or in its own. A computer whose disk is
   * a copy of another one has the same IDs, and not the folders.
   */
  async #pinnedHere(ended: Condition, which: Condition, most: number): Promise<Condition> {
    const ids = await this.#spool.spoolIds();
    const own = oneOf("spool_id", ids);
    const [rows = []] =
      ids.length === 0
        ? []
        : await this.#database.transaction([
            {
              sql: `SELECT DISTINCT job_id FROM job_media WHERE spool_id IS NOT NULL AND ${own.sql} AND job_id IN
                (SELECT job_id FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND ${which.sql}
                  AND ${isOpen}) LIMIT ?`,
              values: [...own.values, ...ended.values, ...which.values, most],
            },
          ]);
    const found: string[] = [];
    for (const id of rows.map(idOf)) {
      if (await this.#spool.hasFolder(id)) {
        found.push(id);
      }
    }
    const here = oneOf("job_id", found);
    return { sql: `(NOT (${isPinned}) OR ${here.sql})`, values: here.values };
  }

  /**
   * Finds jobs that wait for their computers, once so much time has passed that these do not seem to come back by themselves. None if they
   * are those that were returned before.
   */
  async #findElsewhere(): Promise<readonly PinnedElsewhere[]> {
    const ended = endedWorkers(othersAfterSeconds);
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT spool_host, count(DISTINCT job_id) AS count FROM job_media WHERE spool_id IS NOT NULL AND job_id IN
          (SELECT job_id FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND ${isOpen})
          GROUP BY spool_host ORDER BY spool_host`,
        values: ended.values,
      },
    ]);
    const found = rows.map((row) => ({ host: String(row["spool_host"]), count: Number(row["count"]) }));
    const said = JSON.stringify(found);
    const isSaid = said === this.#saidElsewhere;
    this.#saidElsewhere = said;
    return isSaid ? [] : found;
  }

  /** Finds jobs that this worker has by a transaction whose answer was lost, as far as this node has them. */
  async #findUnknown(
    node: string,
    isMine: Taker["isMine"],
  ): Promise<{ readonly mine: readonly Row[]; readonly others: number }> {
    const own = { sql: `worker_id = ? AND ${isOpen}`, values: [this.#worker] };
    const [open = []] = await this.#database.transaction([
      { sql: `SELECT job_id FROM jobs WHERE ${own.sql}`, values: own.values },
    ]);
    const ids = oneOf(
      "job_id",
      open.map(idOf).filter((id) => !this.#isKnown(id)),
    );
    if (ids.values.length === 0) {
      return { mine: [], others: 0 };
    }
    // One that has ended before the answer arrived is unknown by now, and not open any more.
    const [unknown = []] = await this.#database.transaction([
      {
        sql: `SELECT ${shortColumns} FROM jobs WHERE ${own.sql} AND ${ids.sql} ORDER BY job_id`,
        values: [...own.values, ...ids.values],
      },
    ]);
    const { jobs } = await readRows(this.#database, unknown);
    const mine = new Set(jobs.filter((job) => job.node === node || isMine(job)).map(({ id }) => id));
    return { mine: unknown.filter((row) => mine.has(idOf(row))), others: jobs.length - mine.size };
  }

  /**
   * Finds the jobs of other nodes that this one takes. What was given back belongs to nobody for whom it would have to wait: the process
   * of its worker goes on without its node.
   */
  async #findOthers(node: string, isMine: Taker["isMine"], most: number): Promise<string[]> {
    const ended = endedWorkers(othersAfterSeconds);
    const here = await this.#pinnedHere(ended, { sql: "node_id <> ?", values: [node] }, most);
    const found: string[] = [];
    for (let after = ""; found.length < most;) {
      const [rows = []] = await this.#database.transaction([
        {
          sql: `SELECT ${shortColumns} FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND node_id <> ?
            AND ${isOpen} AND ${here.sql} AND job_id > ? ORDER BY job_id LIMIT ?`,
          values: [...ended.values, node, ...here.values, after, pageRows],
        },
      ]);
      const { jobs } = await readRows(this.#database, rows);
      found.push(...jobs.filter(isMine).map(({ id }) => id));
      if (rows.length < pageRows) {
        break;
      }
      after = rows.map(idOf).at(-1) ?? "";
    }
    return found.slice(0, most);
  }
}

function idOf(row: Row): string {
  return String(row["job_id"]);
}

/**
 * Inserts a medium only while the job accepts some: a later one must never get into a package that is being sealed.
 */
function insertItem(job: OwnJob, slot: string, item: StoredItem, spool: Spool | null): Statement {
  return {
    sql: `INSERT INTO job_media (job_id, slot, path, source, content_id, description, content_type_announced,
        content_type_found, bytes, sha256, url, spool_id, spool_host)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS
        (SELECT 1 FROM jobs WHERE ${ofWorker} AND state IN (${listOf(openToParts)}))
      ON CONFLICT (job_id, slot) DO UPDATE SET path = excluded.path, source = excluded.source,
        content_id = excluded.content_id, description = excluded.description,
        content_type_announced = excluded.content_type_announced, content_type_found = excluded.content_type_found,
        bytes = excluded.bytes, sha256 = excluded.sha256, url = excluded.url,
        spool_id = excluded.spool_id, spool_host = excluded.spool_host
      RETURNING slot`,
    values: [
      job[0],
      slot,
      item.path,
      item.source,
      item.contentId,
      item.description,
      item.contentTypeAnnounced,
      item.contentTypeFound,
      item.bytes,
      item.sha256,
      item.url,
      spool?.id ?? null,
      spool?.host ?? null,
      ...job,
    ],
  };
}

/** Reads the job of a row, or returns its id if the row is not what was written. */
function readJob(row: Row, media: readonly Row[]): StoredJob | string {
  const id = String(row["job_id"]);
  const intent = readIntent(row);
  const state = unfinished.find((one) => one === row["state"]);
  if (intent === undefined || state === undefined) {
    return id;
  }
  const [path, manifest] = [textOf(row["location"]), textOf(row["manifest_sha256"])];
  return {
    id,
    node: String(row["node_id"]),
    state,
    key: textOf(row["job_key"]),
    acceptedAt: new Date(String(row["accepted_at"])),
    intent,
    transactionId: textOf(row["transaction_id"]),
    items: readItems(media),
    lost: readLost(media),
    unstaged: readUnstaged(media),
    count: row["part_count"] === null ? null : Number(row["part_count"]),
    waitedMs: Number(row["waited_ms"]),
    openMs: Number(row["open_ms"]),
    isTold: textOf(row["told_at"] ?? null) !== null,
    placed: path === null || manifest === null ? null : { path, sha256: manifest },
  };
}

/** Jobs that this worker continues with. */
export interface TakenJobs {
  readonly jobs: readonly OpenJob[];
  /** Ids of jobs whose row is not what was written. They stay as they are, with their files. */
  readonly damaged: readonly string[];
  /** Jobs that this worker cannot take because their media are on another computer that has stopped; only what is new of them. */
  readonly elsewhere: readonly PinnedElsewhere[];
}

/** What is read of the rows of many jobs: their long texts follow. */
const shortColumns = `job_id, node_id, state, job_key, accepted_at, transaction_id, part_count, waited_ms, open_ms, told_at, location,
  manifest_sha256, ${lengthOf(intents)}`;

/** Reads the jobs of rows with their media, in the order in which they were accepted. */
async function readJobs(database: Pick<Database, "transaction">, rows: readonly Row[]): Promise<TakenJobs> {
  return await readRows(database, rows, await mediaOf(database, rows.map(idOf)));
}

/** The same without reading their media. Memory has the long texts of a few at a time. */
async function readRows(
  database: Pick<Database, "transaction">,
  rows: readonly Row[],
  media: ReadonlyMap<string, readonly Row[]> = new Map(),
): Promise<TakenJobs> {
  const jobs: OpenJob[] = [];
  const damaged: string[] = [];
  for await (const row of withTexts(database, intents, rows)) {
    const job = readJob(row, media.get(idOf(row)) ?? []);
    if (typeof job === "string") {
      damaged.push(job);
    } else {
      jobs.push(resumed(job));
    }
  }
  jobs.sort((one, other) => one.acceptedAt.getTime() - other.acceptedAt.getTime());
  return { jobs, damaged, elsewhere: [] };
}

/** How many rows of media are read at once, and of how many jobs: a job may have 10,000, with texts of 10,000 characters. */
const mediaRows = 500;
const mediaJobs = 100;

/** The rows of the media of each job, in their order. */
async function mediaOf(
  database: Pick<Database, "transaction">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const found = new Map<string, Row[]>();
  for (let first = 0; first < ids.length; first += mediaJobs) {
    const these = oneOf("job_id", ids.slice(first, first + mediaJobs));
    let page: readonly Row[] = [];
    do {
      const after = page.at(-1)?.["added_order"] ?? 0;
      [page = []] = await database.transaction([
        {
          sql: `SELECT * FROM job_media WHERE ${these.sql} AND added_order > ? ORDER BY added_order LIMIT ?`,
          values: [...these.values, after, mediaRows],
        },
      ]);
      for (const row of page) {
        const rows = found.get(idOf(row)) ?? [];
        rows.push(row);
        found.set(idOf(row), rows);
      }
    } while (page.length === mediaRows);
  }
  return found;
}

/** Reads the media that a job has. */
function readItems(media: readonly Row[]): Map<string, StoredItem> {
  return bySlot(media.filter((row) => !isLost(row)));
}

function readLost(media: readonly Row[]): Map<string, StoredItem> {
  return bySlot(media.filter(isLost));
}

function readUnstaged(media: readonly Row[]): Set<string> | null {
  const pinned = media.filter((row) => textOf(row["spool_id"]) !== null);
  return pinned.length === 0 ? null : new Set(pinned.map((row) => String(row["slot"])));
}

function isLost(row: Row): boolean {
  return row["sha256"] === lostSha256;
}

function bySlot(media: readonly Row[]): Map<string, StoredItem> {
  return new Map(media.map((row) => [String(row["slot"]), readItem(row)]));
}

function readItem(row: Row): StoredItem {
  return {
    path: String(row["path"]),
    source: itemSources.find((one) => one === row["source"]) ?? "message",
    contentId: textOf(row["content_id"]),
    description: textOf(row["description"]),
    contentTypeAnnounced: textOf(row["content_type_announced"]),
    contentTypeFound: textOf(row["content_type_found"]),
    bytes: Number(row["bytes"]),
    sha256: String(row["sha256"]),
    url: textOf(row["url"]),
  };
}

function textOf(value: SqlValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

// Slots: the keys under which the media of a job are stored. The ids of a cloud can be any text, so each source has a
// prefix of its own.

const ofMessage = "message:";

/**
 * The slot of a medium of a message: the position of the message in its sequence, and of the medium in the message.
 */
export function messageSlot(position: number, index: number | null): string {
  return `${ofMessage}${position}${index === null ? "" : `.${index}`}`;
}

/** The position in its sequence of the message that brought a medium; null for other media. */
export function positionOf(slot: string): string | null {
  return slot.startsWith(ofMessage) ? slot.slice(ofMessage.length).replace(/\..*$/, "") : null;
}

export function pictureSlot(picture: Picture): string {
  return `device:${picture}`;
}

export const deviceVideoSlot = "device:video";

export function cloudSlot(contentId: string): string {
  return `cloud:${contentId}`;
}

/** Returns how to search for the transaction of a job. Null if too little is known of its measurement. */
export function searchOf({
  id,
  acceptedAt,
  intent,
  answer,
}: Pick<OpenJob, "id" | "acceptedAt" | "intent" | "answer">): Search | null {
  const { measuredBy, sought } = intent;
  return measuredBy === null || sought === null
    ? null
    : { job: id, key: measureKey(measuredBy, answer), acceptedAt, local: sought };
}

/**
 * Returns the statement that notes the measurement of a job, in the transaction that accepts it: that its transaction
 * is searched for, or which one it is.
 */
function noteMeasurement(
  { id, intent }: { readonly id: string; readonly intent: Intent },
  acceptedAt: Date,
): Statement[] {
  const { measuredBy, sought, transactionId } = intent;
  const answer = answerOf(intent);
  const job = (key: string) => ({ job: id, key, acceptedAt });
  if (transactionId === null) {
    const isSought = measuredBy !== null && sought !== null && asksCloud(intent);
    return isSought ? [noteSearch(job(measureKey(measuredBy, answer)), sought)] : [];
  }
  const key = keyOfKnown(measuredBy, transactionId, answer);
  if (key === null) {
    return [];
  }
  return [noteTransaction(job(key), { transactionId, legacyId: null }), keepMeasurement(job(key))];
}
