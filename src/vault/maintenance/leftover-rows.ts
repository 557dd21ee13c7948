import type { Database, Row, SqlValue, Statement } from "../../database/database.ts";
import { listOf, unfinished } from "../../database/own-jobs.ts";

/** A database of a store, as a program has opened it. */
export interface LeftoverDatabase {
  readonly database: Pick<Database, "transaction">;
  /** False if it is of a version that did not have the table `uploads` yet. */
  readonly hasUploads: boolean;
}

/** Where a job that has ended was uploading its package. */
export interface EndedUpload {
  readonly location: string;
  readonly begunAt: string;
  /** Whether a package is listed there. */
  readonly isListed: boolean;
}

/** How many values a statement has at most. */
export const mostValues = 200;

/**
 * Selects locations to which jobs that have ended were uploading before a time, in the order of their names. An open job may be
 * uploading again to the same location, whatever the time says, and a job that has ended is never opened again.
 */
export async function endedUploads(
  database: Pick<Database, "transaction">,
  after: string,
  before: Date,
): Promise<readonly EndedUpload[]> {
  const [rows = []] = await database.transaction([
    {
      sql: `SELECT location, begun_at,
          EXISTS (SELECT 1 FROM packages WHERE packages.location = uploads.location) AS is_listed
        FROM uploads WHERE location > ? AND begun_at <= ? AND NOT EXISTS
          (SELECT 1 FROM jobs WHERE jobs.job_id = uploads.job_id AND state IN (${listOf(unfinished)}))
        ORDER BY location LIMIT ?`,
      values: [after, before.toISOString(), mostValues],
    },
  ]);
  return rows.map((row) => ({
    location: String(row["location"]),
    begunAt: String(row["begun_at"]),
    isListed: Number(row["is_listed"]) > 0,
  }));
}

/** Removes the row of such a location. */
export async function forgetUpload(
  database: Pick<Database, "transaction">,
  { location, begunAt }: EndedUpload,
): Promise<void> {
  await database.transaction([
    { sql: "DELETE FROM uploads WHERE location = ? AND begun_at = ?", values: [location, begunAt] },
  ]);
}

/** What several databases know together. */
export class LeftoverRows {
  readonly #databases: readonly LeftoverDatabase[];

  constructor(databases: readonly LeftoverDatabase[]) {
    this.#databases = databases;
  }

  get isEmpty(): boolean {
    return this.#databases.length === 0;
  }

  /**
   * Which of these locations have a package, or an upload that may become one. Both are asked at once: a row of `uploads`
   * goes in the same transaction in which that of `packages` comes.
   */
  async known(locations: readonly string[]): Promise<ReadonlyMap<string, "package" | "upload">> {
    const known = new Map<string, "package" | "upload">();
    const rows = await this.#select(locations, (marks, hasUploads) => [
      ...(hasUploads ? [`SELECT location, 'upload' AS what FROM uploads WHERE location IN (${marks})`] : []),
      `SELECT location, 'package' AS what FROM packages WHERE location IN (${marks})`,
    ]);
    for (const row of rows) {
      // A package comes last, and counts more.
      known.set(String(row["location"]), row["what"] === "package" ? "package" : "upload");
    }
    return known;
  }

  /** The packages of a job: its own one, or the one of another job with which it has ended. */
  async packagesOf(job: string): Promise<readonly { location: string; sha256: string; isOwn: boolean }[]> {
    const rows = await this.#select([job], () => [
      "SELECT location, manifest_sha256, 1 AS is_own FROM packages WHERE package_id = ?",
      `SELECT location, manifest_sha256, 0 AS is_own FROM jobs
        WHERE job_id = ? AND state = 'reported' AND location IS NOT NULL`,
    ]);
    return rows.map((row) => ({
      location: String(row["location"]),
      sha256: String(row["manifest_sha256"]),
      isOwn: Number(row["is_own"]) > 0,
    }));
  }

  /**
   * Which of these jobs are known, and whether media that were stored for them may be needed: they are open, or have failed
   * with media that are nowhere else.
   */
  async jobs(ids: readonly string[]): Promise<ReadonlyMap<string, { readonly needsMedia: boolean }>> {
    const rows = await this.#select(ids, (marks) => [
      `SELECT job_id, CASE WHEN state IN (${listOf(unfinished)}) OR (state = 'failed' AND EXISTS
          (SELECT 1 FROM job_media WHERE job_media.job_id = jobs.job_id AND source <> 'cloud'))
          THEN 1 ELSE 0 END AS needs_media
        FROM jobs WHERE job_id IN (${marks})`,
    ]);
    const known = new Map<string, { readonly needsMedia: boolean }>();
    for (const row of rows) {
      const id = String(row["job_id"]);
      known.set(id, { needsMedia: Number(row["needs_media"]) > 0 || known.get(id)?.needsMedia === true });
    }
    return known;
  }

  /** Runs statements with all these values in each database, each database in one transaction for some of the values. */
  async #select(
    values: readonly SqlValue[],
    sqlOf: (marks: string, hasUploads: boolean) => readonly string[],
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let first = 0; first < values.length; first += mostValues) {
      const some = values.slice(first, first + mostValues);
      const marks = some.map(() => "?").join(", ");
      for (const { database, hasUploads } of this.#databases) {
        const statements: Statement[] = sqlOf(marks, hasUploads).map((sql) => ({ sql, values: some }));
        rows.push(...(await database.transaction(statements)).flat());
      }
    }
    return rows;
  }
}
