import { DimensionerError } from "../../errors/dimensioner-error.ts";
import {
  always,
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
} from "../../database/database.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { listOf, ofWorker, type OwnJob } from "./job-rows.ts";
import { isUnknown } from "./is-taken.ts";
import { endStates, statesBefore, type JobState } from "./job-states.ts";

/** How a job gets another state. */
interface Move {
  /** Further columns with their values. */
  readonly also?: Readonly<Record<string, SqlValue>>;
  /** The columns that are returned if it has got the state. */
  readonly returned?: string;
  readonly condition?: Condition;
}

/** Changes the states of one worker's jobs: a job that another worker has taken over is never changed. */
export class OwnJobs {
  readonly worker: string;
  readonly #database: Pick<Database, "transaction">;
  readonly #now: () => Date;

  constructor(database: Pick<Database, "transaction">, worker: string, now: () => Date) {
    this.worker = worker;
    this.#database = database;
    this.#now = now;
  }

  /** The values of `ofWorker`. */
  values(id: string): OwnJob {
    return [id, this.worker];
  }

  beginCollecting(id: string): Statement {
    return {
      sql: `UPDATE jobs SET state = 'collecting', changed_at = ? WHERE ${ofWorker} AND state = 'accepted'`,
      values: [this.#now().toISOString(), ...this.values(id)],
    };
  }

  /**
   * Rejects with ERR_STORE, and with ERR_CANCELLED (`cancelledTaken`) if another worker has the job. A job that the database does not
   * know any more has ended.
   */
  async moveTo(id: string, state: JobState, also: Readonly<Record<string, SqlValue>> = {}): Promise<void> {
    const [moved = []] = await this.#database.transaction([this.move(id, state, { also })]);
    try {
      await this.isChanged(id, moved);
    } catch (error) {
      if (!(isUnknown(error) && endStates.includes(state))) {
        throw error;
      }
    }
  }

  move(id: string, state: JobState, { also = {}, returned = "job_id", condition = always }: Move): Statement {
    const columns = Object.keys(also).map((column) => `${column} = ?, `);
    return {
      sql: `UPDATE jobs SET ${columns.join("")}state = ?, changed_at = ?
        WHERE ${ofWorker} AND state IN (${listOf(statesBefore[state])}) AND ${condition.sql} RETURNING ${returned}`,
      values: [
        ...Object.values(also),
        state,
        this.#now().toISOString(),
        ...this.values(id),
        ...condition.values,
      ],
    };
  }

  /**
   * Returns whether a statement has changed a job, by the rows that it returned. If none, it is of another state than the
   * statement expects, or another worker has it, and then this rejects. So it does with ERR_STORE (`jobUnknown`) if there is no such job.
   */
  async isChanged(id: string, rows: readonly Row[]): Promise<boolean> {
    if (rows.length > 0) {
      return true;
    }
    const [found = []] = await this.#database.transaction([
      { sql: "SELECT worker_id FROM jobs WHERE job_id = ?", values: [id] },
    ]);
    if (found.some((row) => row["worker_id"] !== this.worker)) {
      throw new DimensionerError("cancelledTaken", diskFacts);
    }
    if (found.length === 0) {
      throw new DimensionerError("jobUnknown", diskFacts, { value: id });
    }
    return false;
  }
}
