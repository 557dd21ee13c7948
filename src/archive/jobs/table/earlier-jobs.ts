import type { Database, Row } from "../../../store/database.ts";
import { removeOldMeasurements } from "../../find/measurement-table.ts";
import { listOf, readJob, type StoredJob } from "./job-rows.ts";
import { endStates, unfinished } from "./job-states.ts";

/** The open jobs at a start. */
export interface Unfinished {
  readonly jobs: readonly StoredJob[];
  /** Ids of jobs whose row is not what was written. They stay as they are, with their files. */
  readonly damaged: readonly string[];
}

const mostRemoved = 1_000;
const dayMs = 24 * 3_600_000;

/** The jobs that earlier runs have left in the database of a store. All methods reject with ERR_STORE. */
export class EarlierJobs {
  readonly #database: Database;
  readonly #now: () => Date;

  constructor(database: Database, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#now = now;
  }

  /** Reads all jobs to be resumed after a restart, the oldest first. */
  async unfinished(): Promise<Unfinished> {
    const states = listOf(unfinished);
    const [jobs = [], media = []] = await this.#database.transaction([
      { sql: `SELECT * FROM jobs WHERE state IN (${states}) ORDER BY accepted_at, job_id` },
      {
        sql: `SELECT * FROM job_media WHERE job_id IN (SELECT job_id FROM jobs WHERE state IN (${states}))
          ORDER BY added_order`,
      },
    ]);
    const items = new Map<string, Row[]>(jobs.map((row) => [String(row["job_id"]), []]));
    media.forEach((row) => items.get(String(row["job_id"]))?.push(row));
    const read = jobs.map((row) => readJob(row, items.get(String(row["job_id"])) ?? []));
    return {
      jobs: read.filter((one) => typeof one !== "string"),
      damaged: read.filter((one) => typeof one === "string"),
    };
  }

  /**
   * Returns which of these jobs have ended and need their work folder no more: all media are in a package, or in the
   * cloud.
   */
  async withoutMedia(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.transaction(
      ids.map((id) => ({
        sql: `SELECT job_id FROM jobs WHERE job_id = ? AND (state = 'reported' OR state = 'failed'
          AND NOT EXISTS (SELECT 1 FROM job_media WHERE job_media.job_id = jobs.job_id AND source <> 'cloud'))`,
        values: [id],
      })),
    );
    return new Set(rows.flat().map((row) => String(row["job_id"])));
  }

  /** Removes jobs that ended more than `days` ago; the index keeps their packages. */
  async removeEnded(days: number): Promise<void> {
    const before = new Date(this.#now().getTime() - days * dayMs).toISOString();
    await this.#database.transaction([
      {
        sql: `DELETE FROM jobs WHERE job_id IN
          (SELECT job_id FROM jobs WHERE changed_at < ? AND state IN (${listOf(endStates)}) LIMIT ?)`,
        values: [before, mostRemoved],
      },
      removeOldMeasurements(this.#now()),
    ]);
  }
}
