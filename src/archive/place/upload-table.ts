import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Condition, Database, Statement } from "../../store/database.ts";
import { diskFacts } from "../archive-disk.ts";
import { ofWorker } from "../jobs/table/job-rows.ts";

/** Where packages are being uploaded, for one worker. All methods reject with ERR_STORE. */
export class UploadTable {
  readonly #database: Pick<Database, "transaction">;
  readonly #worker: string;
  readonly #now: () => Date;

  constructor(database: Pick<Database, "transaction">, worker: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#worker = worker;
    this.#now = now;
  }

  /**
   * Notes that a job uploads its package to a location, so that what is left of it can be found. Rejects with ERR_CANCELLED
   * (`cancelledTaken`) if another worker has the job.
   */
  async begin(job: string, location: string): Promise<void> {
    const [rows = []] = await this.#database.transaction([
      {
        sql: `INSERT INTO uploads (location, job_id, begun_at) SELECT ?, job_id, ? FROM jobs WHERE ${ofWorker}
          ON CONFLICT (location) DO UPDATE SET begun_at = excluded.begun_at RETURNING location`,
        values: [location, this.#now().toISOString(), job, this.#worker],
      },
    ]);
    if (rows.length === 0) {
      throw new DimensionerError("cancelledTaken", diskFacts);
    }
  }

  /** The same for an upload that goes on. Rejects with ERR_STORE if it was given up meanwhile. */
  async refresh(job: string, location: string): Promise<void> {
    const isOwn = `EXISTS (SELECT 1 FROM jobs WHERE ${ofWorker})`;
    const [rows = [], own = []] = await this.#database.transaction([
      {
        sql: `UPDATE uploads SET begun_at = ? WHERE location = ? AND job_id = ? AND ${isOwn} RETURNING location`,
        values: [this.#now().toISOString(), location, job, job, this.#worker],
      },
      { sql: `SELECT 1 WHERE ${isOwn}`, values: [job, this.#worker] },
    ]);
    if (rows.length === 0) {
      throw new DimensionerError(own.length === 0 ? "cancelledTaken" : "uploadRemoved", diskFacts);
    }
  }

  /**
   * Gives up an upload: its package can no longer be noted. The row stays, so that what arrives late is removed with the next
   * tidying. Returns false if its package is in the index.
   */
  async giveUp(location: string): Promise<boolean> {
    const [, packages = []] = await this.#database.transaction([
      {
        sql: `UPDATE uploads SET job_id = NULL, begun_at = ?
          WHERE location = ? AND NOT EXISTS (SELECT 1 FROM packages WHERE location = ?)`,
        values: [this.#now().toISOString(), location, location],
      },
      { sql: "SELECT 1 FROM packages WHERE location = ? LIMIT 1", values: [location] },
    ]);
    return packages.length === 0;
  }

  /** Where the package of a job was being uploaded, the earliest first, whichever worker did it. */
  async ofJob(job: string): Promise<readonly string[]> {
    const [rows = []] = await this.#database.transaction([
      { sql: "SELECT location FROM uploads WHERE job_id = ? ORDER BY begun_at, location", values: [job] },
    ]);
    return rows.map((row) => String(row["location"]));
  }
}

/** Whether there is such an upload, and nobody has given it up. */
export function isUploading(location: string): Condition {
  return {
    sql: "EXISTS (SELECT 1 FROM uploads WHERE location = ? AND job_id IS NOT NULL)",
    values: [location],
  };
}

/** The statement that ends an upload if its package is in the index. */
export function uploaded(location: string): Statement {
  return {
    sql: "DELETE FROM uploads WHERE location = ? AND EXISTS (SELECT 1 FROM packages WHERE location = ?)",
    values: [location, location],
  };
}
