import { skipLocked, type Condition, type Database, type Row } from "../../database/database.ts";
import { endedWorkers, forgetIdleWorkers } from "../../database/worker-lease.ts";
import { isOpen, readWithMedia, type TakenJobs } from "./job-rows.ts";
import { resumed, type OpenJob } from "./open-job.ts";

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
}

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

  /** `isKnown`: whether this process has a job already. */
  constructor(database: Database, worker: string, isKnown: (id: string) => boolean = () => true) {
    this.#database = database;
    this.#worker = worker;
    this.#isKnown = isKnown;
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
        return await this.#read(mine.slice(0, most));
      }
    }
    const own = await this.#take({ sql: "node_id = ?", values: [node] }, most);
    if (own.jobs.length > 0 || performance.now() - this.#othersAtMs < othersEveryMs) {
      return own;
    }
    this.#othersAtMs = performance.now();
    await this.#database.transaction([forgetIdleWorkers()]);
    const others = await this.#findOthers(node, isMine, most);
    return others.length === 0 ? own : await this.#take(idIn(others), most);
  }

  /** Gives back jobs of this worker, or all of them: another one takes them at once. */
  async giveBack(ids?: readonly string[]): Promise<void> {
    const which = ids === undefined ? { sql: "TRUE", values: [] } : idIn(ids);
    await this.#database.transaction([
      {
        sql: `UPDATE jobs SET worker_id = ? WHERE worker_id = ? AND ${isOpen} AND ${which.sql}`,
        values: [nobody, this.#worker, ...which.values],
      },
    ]);
  }

  async #take(which: Condition, most: number): Promise<TakenJobs> {
    const ended = endedWorkers(0);
    const mayHaveMore = this.#mayHaveMore;
    this.#mayHaveMore = true;
    const [rows = []] = await this.#database.transaction([
      {
        sql: `UPDATE jobs SET worker_id = ? WHERE job_id IN
          (SELECT job_id FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND ${which.sql}
            AND ${isOpen} LIMIT ? ${skipLocked}) RETURNING *`,
        values: [this.#worker, ...ended.values, ...which.values, most],
      },
    ]);
    const taken = await this.#read(rows);
    this.#mayHaveMore = mayHaveMore;
    return taken;
  }

  async #read(rows: readonly Row[]): Promise<TakenJobs> {
    if (rows.length === 0) {
      return { jobs: [], damaged: [] };
    }
    const ids = idIn(rows.map(idOf));
    const [media = []] = await this.#database.transaction([
      { sql: `SELECT * FROM job_media WHERE ${ids.sql} ORDER BY added_order`, values: ids.values },
    ]);
    return readWithMedia(rows, media);
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
    const ids = idIn(open.map(idOf).filter((id) => !this.#isKnown(id)));
    if (ids.values.length === 0) {
      return { mine: [], others: 0 };
    }
    // One that has ended before the answer arrived is unknown by now, and not open any more.
    const [unknown = []] = await this.#database.transaction([
      {
        sql: `SELECT * FROM jobs WHERE ${own.sql} AND ${ids.sql} ORDER BY job_id`,
        values: [...own.values, ...ids.values],
      },
    ]);
    const jobs = readWithMedia(unknown, []).jobs.map(resumed);
    const mine = new Set(jobs.filter((job) => job.node === node || isMine(job)).map(({ id }) => id));
    return { mine: unknown.filter((row) => mine.has(idOf(row))), others: jobs.length - mine.size };
  }

  /**
   * Finds the jobs of other nodes that this one takes. What was given back belongs to nobody for whom it would have to wait: the process
   * of its worker goes on without its node.
   */
  async #findOthers(node: string, isMine: Taker["isMine"], most: number): Promise<string[]> {
    const ended = endedWorkers(othersAfterSeconds);
    const found: string[] = [];
    for (let after = ""; found.length < most;) {
      const [rows = []] = await this.#database.transaction([
        {
          sql: `SELECT * FROM jobs WHERE worker_id IN (${ended.sql} UNION ALL SELECT '${nobody}') AND node_id <> ?
            AND ${isOpen} AND job_id > ? ORDER BY job_id LIMIT ?`,
          values: [...ended.values, node, after, pageRows],
        },
      ]);
      const { jobs } = readWithMedia(rows, []);
      found.push(
        ...jobs
          .map(resumed)
          .filter(isMine)
          .map(({ id }) => id),
      );
      if (rows.length < pageRows) {
        break;
      }
      after = rows.map(idOf).at(-1) ?? "";
    }
    return found.slice(0, most);
  }
}

function idIn(ids: readonly string[]): Condition {
  return { sql: `job_id IN (${ids.map(() => "?").join(", ")})`, values: ids };
}

function idOf(row: Row): string {
  return String(row["job_id"]);
}
