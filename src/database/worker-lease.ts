import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { databaseTime, type Condition, type Database, type Statement } from "./database.ts";

/** What a process is to a database that it has open. */
export interface Worker {
  /** The jobs of the worker have it in their rows, and its packages in their manifests. */
  readonly id: string;
  /** Whether no other process can have the database open. */
  readonly isAlone: boolean;
}

/** How long the jobs of a worker that has stopped without a word are left alone. */
export const leaseSeconds = 60;
/**
 * How long they are left alone after it has closed the database. A deploy opens it again: Node-RED waits up to 15 s until
 * all nodes have closed, and then starts the new ones.
 */
export const closedLeaseSeconds = 20;
/** A renewal may fail twice before the lease ends. */
const renewals = 3;

/** Selects the workers whose lease ended at least so many seconds ago, and who may have left something. */
export function endedWorkers(seconds: number): Condition {
  return {
    sql: `SELECT worker_id FROM workers WHERE lease_until <= ${databaseTime}`,
    values: [inSeconds(-seconds)],
  };
}

interface LeaseOptions {
  /** The ID of the worker; another one than all others if it is not given. */
  readonly id?: string | undefined;
  readonly seconds?: number | undefined;
  /** How long the lease goes on after its `end`. */
  readonly closedSeconds?: number | undefined;
}

interface Begun {
  readonly id: string;
  readonly begunAt: string;
  readonly seconds: number;
  readonly closedSeconds: number;
}

/**
 * The lease of a process on its work in a database that several processes use: as long as it is renewed, no other one
 * takes its jobs. It is in one row for all jobs, because thousands may wait. The clock is that of the database.
 */
export class WorkerLease implements Worker {
  readonly id: string;
  readonly isAlone = false;
  readonly #database: Pick<Database, "transaction">;
  readonly #seconds: number;
  readonly #closedSeconds: number;
  /** Different for each lease of the worker. */
  readonly #begunAt: string;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #hasEnded = false;

  private constructor(
    database: Pick<Database, "transaction">,
    { id, begunAt, seconds, closedSeconds }: Begun,
  ) {
    this.#database = database;
    this.id = id;
    this.#begunAt = begunAt;
    this.#seconds = seconds;
    this.#closedSeconds = Math.min(closedSeconds, seconds);
    this.#renewLater();
  }

  /** Begins the lease of a worker, which may have had others before. Rejects with ERR_STORE. */
  static async begin(
    database: Pick<Database, "transaction">,
    { id = randomUUID(), seconds = leaseSeconds, closedSeconds = closedLeaseSeconds }: LeaseOptions = {},
  ): Promise<WorkerLease> {
    const begunAt = new Date().toISOString();
    await database.transaction([
      {
        sql: `INSERT INTO workers (worker_id, host, begun_at, lease_until) VALUES (?, ?, ?, ${databaseTime})
          ON CONFLICT (worker_id) DO UPDATE SET host = excluded.host, begun_at = excluded.begun_at,
            lease_until = excluded.lease_until`,
        values: [id, hostname(), begunAt, inSeconds(seconds)],
      },
    ]);
    return new WorkerLease(database, { id, begunAt, seconds, closedSeconds });
  }

  /**
   * Renews the lease no more: it ends soon, unless the worker begins another one. Rejects with ERR_STORE; then it ends
   * somewhat later.
   */
  async end(): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    await this.#database.transaction([
      {
        // The server may run it only after the close has given up waiting: then it must not shorten the next lease.
        sql: `UPDATE workers SET lease_until = ${databaseTime} WHERE worker_id = ? AND begun_at = ?`,
        values: [inSeconds(this.#closedSeconds), this.id, this.#begunAt],
      },
      forgetIdleWorkers(),
    ]);
  }

  /**
   * A worker that was cut off for a while, and was noted to have left nothing, may take in a job or a record before it renews
   * its lease. If it is killed then, others have to find out that it has left something. If it lives, it renews the lease.
   */
  #rememberWorkers(): Statement {
    return {
      sql: `UPDATE workers SET lease_until = ${databaseTime} WHERE lease_until IS NULL AND (${hasLeftSomething})`,
      values: [inSeconds(this.#seconds)],
    };
  }

  #renewLater(): void {
    const renew = (): void => {
      this.#renewing = this.#renew();
    };
    this.#timer = setTimeout(renew, (this.#seconds * 1000) / renewals);
    this.#timer.unref();
  }

  async #renew(): Promise<void> {
    try {
      await this.#database.transaction([
        {
          // The row is missing if the database was set back to a time before the lease began. A next lease keeps its `begun_at`.
          sql: `INSERT INTO workers (worker_id, host, begun_at, lease_until) VALUES (?, ?, ?, ${databaseTime})
            ON CONFLICT (worker_id) DO UPDATE SET lease_until = excluded.lease_until`,
          values: [this.id, hostname(), this.#begunAt, inSeconds(this.#seconds)],
        },
      ]);
    } catch {
      // Whoever uses the database hears of it. The lease may end meanwhile: then others take the jobs.
    }
    // Not in the same transaction, which may conflict with others: the lease must not end because of it.
    await this.#database.transaction([this.#rememberWorkers()]).catch(() => undefined);
    if (!this.#hasEnded) {
      this.#renewLater();
    }
  }
}

const hasLeftSomething = `
  EXISTS (SELECT 1 FROM jobs WHERE jobs.worker_id = workers.worker_id AND state NOT IN ('reported', 'failed'))
  OR EXISTS (SELECT 1 FROM records WHERE records.worker_id = workers.worker_id AND handled_at IS NULL)
  OR EXISTS (SELECT 1 FROM commands WHERE commands.worker_id = workers.worker_id)`;

/** Returns the statement that notes of workers whose lease has ended that they have left nothing. */
export function forgetIdleWorkers(): Statement {
  return {
    sql: `UPDATE workers SET lease_until = NULL WHERE lease_until <= ${databaseTime} AND NOT (${hasLeftSomething})`,
    values: [inSeconds(0)],
  };
}

/** A duration as `databaseTime` takes it. */
function inSeconds(seconds: number): string {
  return `${seconds} seconds`;
}
