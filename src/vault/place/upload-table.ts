import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Condition, Database, Statement } from "../../database/database.ts";
import { diskFacts } from "../archive-disk.ts";
import { ofWorker, OwnJobs } from "../../database/own-jobs.ts";

/** Where packages are being uploaded, for one worker. All methods reject with ERR_STORE. */
export class UploadTable {
  readonly #database: Pick<Database, "transaction">;
  readonly #own: OwnJobs;
  readonly #now: () => Date;

  constructor(database: Pick<Database, "transaction">, worker: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#own = new OwnJobs(database, worker, now);
    this.#now = now;
  }

  /**
   * Notes that a job uploads its package to a location, so that what is left of it can be found. Rejects with ERR_CANCELLED
   * (`cancelledTaken`) if another worker has the job, and with ERR_STORE (`jobUnknown`) if the database does not know it any more.
   */
  async begin(job: string, location: string): Promise<void> {
    await this.#change(job, {
      sql: `INSERT INTO uploads (location, job_id, begun_at) SELECT ?, job_id, ? FROM jobs WHERE ${ofWorker}
        ON CONFLICT (location) DO UPDATE SET begun_at = excluded.begun_at RETURNING location`,
      values: [location, this.#now().toISOString(), ...this.#own.values(job)],
    });
  }

  /** The same for an upload that goes on. Rejects with ERR_STORE (`uploadRemoved`) if it was given up meanwhile. */
  async refresh(job: string, location: string): Promise<void> {
    await this.#change(job, {
      sql: `UPDATE uploads SET begun_at = ? WHERE location = ? AND job_id = ?
        AND EXISTS (SELECT 1 FROM jobs WHERE ${ofWorker}) RETURNING location`,
      values: [this.#now().toISOString(), location, job, ...this.#own.values(job)],
    });
  }

  async #change(job: string, statement: Statement): Promise<void> {
    const [rows = []] = await this.#database.transaction([statement]);
    if (!(await this.#own.isChanged(job, rows))) {
      throw new DimensionerError("uploadRemoved", diskFacts);
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
