import type { Condition, Database, Statement } from "../../database/database.ts";
import { markHandled, markUnhandled } from "../../database/inbox.ts";
import type { IntentTexts, PlacedPackage, StoredItem } from "../../vault/packages/intent.ts";
import { legacyIdStatement } from "../find/measurement-table.ts";
import type { FoundTransaction } from "../find/transaction-finder.ts";
import { noteMeasurement } from "./searches.ts";
import { insertItem, lostSha256, ofWorker, readIntent, readItems, type StoredJob } from "./job-rows.ts";
import { OwnJobs } from "./own-jobs.ts";
import { sha256Of } from "../../model/sha256.ts";

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

  /** `worker`: the id of the worker that accepts the jobs, or has taken them over. */
  constructor(database: Database, worker: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#own = new OwnJobs(database, worker, now);
    this.#now = now;
  }

  /**
   * Accepts a job with its first media. Once this has resolved, the job will be finished, whatever happens; the
   * webhook's records of its transaction count as handled.
   */
  async accept(job: Pick<StoredJob, "id" | "node" | "key" | "intent" | "items">): Promise<Date> {
    const at = this.#now();
    const intent = JSON.stringify(job.intent);
    const { transactionId } = job.intent;
    await this.#database.transaction([
      {
        sql: `INSERT INTO jobs
            (job_id, node_id, job_key, state, accepted_at, changed_at, transaction_id, intent, intent_sha256, worker_id)
          VALUES (?, ?, ?, 'accepted', ?, ?, ?, ?, ?, ?)`,
        values: [
          job.id,
          job.node,
          job.key,
          at.toISOString(),
          at.toISOString(),
          transactionId,
          intent,
          sha256Of(intent),
          this.#own.worker,
        ],
      },
      ...[...job.items].map(([slot, item]) => insertItem(this.#own.values(job.id), slot, item)),
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
   * then they are not part of it.
   */
  async addItems(id: string, items: ReadonlyMap<string, StoredItem>): Promise<boolean> {
    const [, ...added] = await this.#database.transaction([
      this.#own.beginCollecting(id),
      ...[...items].map(([slot, item]) => insertItem(this.#own.values(id), slot, item)),
    ]);
    const refused = added.find((rows) => rows.length === 0);
    return refused === undefined || (await this.#own.isChanged(id, refused));
  }

  /**
   * Notes that a medium of a message is not on the disk as it was stored. Its row stays: without it, the next start would not know
   * that it is missing.
   */
  async lose(id: string, slot: string): Promise<void> {
    await this.#database.transaction([
      {
        sql: `UPDATE job_media SET sha256 = ? WHERE job_id IN (SELECT job_id FROM jobs WHERE ${ofWorker}) AND slot = ?`,
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

  /** Marks a job as collecting, if it is still `accepted`. */
  async beginCollecting(id: string): Promise<void> {
    await this.#database.transaction([this.#own.beginCollecting(id)]);
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
    const legacyId = given?.["legacy_id"];
    return moved === undefined
      ? undefined
      : {
          items: readItems(media),
          texts: readIntent(moved),
          legacyTransactionId: typeof legacyId === "string" ? legacyId : null,
        };
  }

  /**
   * Notes that the package has its final name, with its row in the index, in one transaction. Returns false, and changes
   * nothing, if the condition does not hold; true also if this package was noted before, by a transaction whose answer was lost.
   */
  async archived(
    id: string,
    key: string,
    placed: PlacedPackage,
    { condition, statements }: { readonly condition: Condition; readonly statements: readonly Statement[] },
  ): Promise<boolean> {
    const also = { job_key: key, location: placed.path, manifest_sha256: placed.sha256 };
    const [moved = []] = await this.#database.transaction([
      this.#own.move(id, "archived", { also, condition }),
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

  async reported(id: string): Promise<void> {
    await this.#own.moveTo(id, "reported");
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
