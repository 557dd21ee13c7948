import { skipLocked, type Database } from "../../database/database.ts";
import { removeOldMeasurements } from "../find/measurement-table.ts";
import { endedWorkers } from "../../database/worker-lease.ts";
import type { StoredItem } from "../../vault/packages/intent.ts";
import { byJob, isOpen, listOf, readItems, readWithMedia, type TakenJobs } from "./job-rows.ts";
import { endStates } from "./job-states.ts";

const mostRemoved = 1_000;
const dayMs = 24 * 3_600_000;

/** A failed job with media that were nowhere else. */
const keepsMedia = `state = 'failed' AND EXISTS
  (SELECT 1 FROM job_media WHERE job_media.job_id = jobs.job_id AND source <> 'cloud')`;

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
    const [, rows = [], media = []] = await this.#database.transaction([
      {
        // Earlier versions had one worker.
        sql: `UPDATE jobs SET worker_id = ? WHERE worker_id IS NULL AND ${isOpen}`,
        values: [this.#worker],
      },
      {
        sql: `SELECT * FROM jobs WHERE worker_id = ? AND ${isOpen} ORDER BY accepted_at, job_id`,
        values: [this.#worker],
      },
      {
        sql: `SELECT * FROM job_media WHERE job_id IN
          (SELECT job_id FROM jobs WHERE worker_id = ? AND ${isOpen}) ORDER BY added_order`,
        values: [this.#worker],
      },
    ]);
    return readWithMedia(rows, media);
  }

  /**
   * Returns which of these jobs have ended and need their work folder no more, by their rows: all media are in a package, or in
   * the cloud. With the hashes of these media.
   */
  async withoutMedia(ids: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const found = await this.#database.transaction(
      ids.map((id) => ({
        sql: `SELECT sha256 FROM jobs LEFT JOIN job_media ON job_media.job_id = jobs.job_id
          WHERE jobs.job_id = ? AND (state = 'reported' OR state = 'failed' AND NOT (${keepsMedia}))`,
        values: [id],
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
   * Removes some jobs that ended more than `days` ago, and returns whether there may be more; the index keeps their packages. A
   * failed job with media that were nowhere else goes when `save` has returned true: its row is all that keeps them from being
   * tidied up.
   */
  async removeEnded(days: number, save: SaveMedia = async () => true): Promise<boolean> {
    const before = new Date(this.#now().getTime() - days * dayMs).toISOString();
    const [removed = [], , failed = [], media = []] = await this.#database.transaction([
      {
        sql: `DELETE FROM jobs WHERE job_id IN
          (SELECT job_id FROM jobs WHERE changed_at < ? AND state IN (${listOf(endStates)}) AND NOT (${keepsMedia})
            LIMIT ? ${skipLocked}) RETURNING job_id`,
        values: [before, mostRemoved],
      },
      removeOldMeasurements(this.#now()),
      { sql: `SELECT job_id ${oldFailed}`, values: [before, mostRemoved] },
      {
        sql: `SELECT * FROM job_media WHERE job_id IN (SELECT job_id ${oldFailed}) ORDER BY added_order`,
        values: [before, mostRemoved],
      },
    ]);
    const rows = byJob(media);
    const saved: string[] = [];
    for (const id of failed.map((row) => String(row["job_id"]))) {
      const items = [...readItems(rows.get(id) ?? []).values()];
      const onlyThere = items.filter(({ source }) => source !== "cloud");
      if (await save(id, onlyThere)) {
        saved.push(id);
      }
    }
    await this.#database.transaction(
      saved.map((id) => ({ sql: "DELETE FROM jobs WHERE job_id = ? AND state = 'failed'", values: [id] })),
    );
    return removed.length === mostRemoved || saved.length === mostRemoved;
  }
}

/** Keeps the media of a failed job. Returns whether its row is needed no more. */
type SaveMedia = (job: string, items: readonly StoredItem[]) => Promise<boolean>;

const oldFailed = `FROM jobs WHERE changed_at < ? AND ${keepsMedia} ORDER BY changed_at, job_id LIMIT ?`;
