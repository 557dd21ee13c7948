/**
 * Which worker has which jobs, and in which state they are. Each job has the ID of its worker, and every statement about a job
 * names both, so a worker that has lost a job changes nothing any more. The packages of jobs are stored under the same condition.
 */
import { isDimensionerError, DimensionerError } from "../errors/dimensioner-error.ts";
import {
  always,
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
} from "./database.ts";

const facts = { operation: "archive", surface: "disk", host: "archive" } as const;

/**
 * The states of a job, in the order in which it passes them, and what each means. docs/archive.md shows the same table.
 */
export const jobStates = {
  accepted: "The job is in the database: from now on it is finished, whatever happens to the process.",
  collecting: "Its media are being downloaded, or waited for.",
  sealing: "Nothing is added any more: the manifest is written, and the package gets its name.",
  archived: "The package is under its final name.",
  reported: "The message about the package has left the node. The job has ended, and its row goes.",
  failed: "The job has ended in an error.",
} as const satisfies Readonly<Record<string, string>>;

export type JobState = keyof typeof jobStates;

/**
 * The states from which each state can be reached. A job is sealed from `accepted` without a word where nothing but its process can add
 * anything to it: what a kill leaves of it is found in its work folder. If sealing fails at the disk, the job goes back to collecting; so
 * does a job whose package was deleted before its message was sent.
 */
export const statesBefore: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: [],
  collecting: ["accepted", "sealing", "archived"],
  sealing: ["accepted", "collecting"],
  archived: ["accepted", "sealing"],
  reported: ["archived"],
  failed: ["accepted", "collecting", "sealing"],
};

/** The states in which a job accepts further parts. */
export const openToParts: readonly JobState[] = ["accepted", "collecting"];

/** The states in which a job is resumed after a restart. */
export const unfinished: readonly JobState[] = ["accepted", "collecting", "sealing", "archived"];

/** The states of a job that has ended. */
const endStates: readonly JobState[] = ["reported", "failed"];

/** A list of states in SQL. */
export function listOf(states: readonly JobState[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}

/**
 * The condition for jobs that have not ended. Only with these words and literal values does SQLite use the indexes of open jobs; it
 * reads the whole table otherwise.
 */
export const isOpen = `state NOT IN (${listOf(endStates)})`;

/** The condition for jobs that have ended. Only with these words does SQLite use their index. */
export const hasEnded = `state IN (${listOf(endStates)})`;

/** A job that a worker has. */
export type OwnJob = readonly [jobId: string, workerId: string];

/** The condition for a job that the worker still has; its values are an `OwnJob`. */
export const ofWorker = "job_id = ? AND worker_id = ?";

/** The value of `sha256` of a medium of a message that is not on the disk as it was stored. */
export const lostSha256 = "";

/** The condition for a job that is pinned to one spool, because media of it are nowhere else. */
export const isPinned = "job_id IN (SELECT job_media.job_id FROM job_media WHERE spool_id IS NOT NULL)";

/** How a job gets another state. */
interface Move {
  /** Further columns with their values. */
  readonly also?: Readonly<Record<string, SqlValue>>;
  /** The columns that are returned if it has got the state. */
  readonly returned?: string;
  readonly condition?: Condition;
  /** Only from these of the states before it. */
  readonly from?: readonly JobState[];
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
   * know any more has ended. `instead`: statements that return rows if they have done it otherwise.
   */
  async moveTo(
    id: string,
    state: JobState,
    also: Readonly<Record<string, SqlValue>> = {},
    instead: readonly Statement[] = [],
  ): Promise<void> {
    const moved = await this.#database.transaction([...instead, this.move(id, state, { also })]);
    try {
      await this.isChanged(id, moved.flat());
    } catch (error) {
      if (!(isUnknown(error) && endStates.includes(state))) {
        throw error;
      }
    }
  }

  move(id: string, state: JobState, move: Move): Statement {
    const { also = {}, returned = "job_id", condition = always, from = statesBefore[state] } = move;
    const columns = Object.keys(also).map((column) => `${column} = ?, `);
    return {
      sql: `UPDATE jobs SET ${columns.join("")}state = ?, changed_at = ?
        WHERE ${ofWorker} AND state IN (${listOf(from)}) AND ${condition.sql} RETURNING ${returned}`,
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
      throw new DimensionerError("cancelledTaken", facts);
    }
    if (found.length === 0) {
      throw new DimensionerError("jobUnknown", facts, { value: id });
    }
    return false;
  }
}

/** Whether the database does not know the job of which this error is, or has ended it: nothing can be done for it any more. */
export function isUnknown(error: unknown): error is DimensionerError & { readonly sentence: "jobUnknown" } {
  return isDimensionerError(error) && error.sentence === "jobUnknown";
}

/** Whether another worker has the job of which this error is: this one must do nothing more with it. */
export function isTaken(error: unknown): error is DimensionerError & { readonly sentence: "cancelledTaken" } {
  return isDimensionerError(error) && error.sentence === "cancelledTaken";
}
