import { setTimeout as pause } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { settledWithin } from "../time/settled-within.ts";
import type { Database, Row, SqlValue, Statement } from "./database.ts";
import { type PostgresAddress, loginMethodsOf } from "./postgres-address.ts";
import {
  closedPostgresError,
  connectionTo,
  isConflict,
  isFromServer,
  isOfTransaction,
  postgresError,
  sessionOptions,
  toPostgres,
  translateStatement,
} from "./postgres-connection.ts";
import { guardedClient } from "./postgres-driver.ts";
import { type TableOptions, prepareTables } from "./postgres-schema.ts";

export interface PostgresOptions extends TableOptions {
  /** How many connections are open at most. */
  readonly poolSize?: number;
  /** How long a transaction waits for a connection. */
  readonly connectWithinMs?: number;
  /** How long a statement may take. */
  readonly answerWithinMs?: number;
  /** How long `close` waits for running transactions. */
  readonly closeWithinMs?: number;
}

const defaultPoolSize = 5;
const defaultConnectMs = 10_000;
const defaultAnswerMs = 30_000;
const defaultCloseMs = 3_000;
/** How long `close` waits for a connection that it has ended; one that is still being opened ends later by itself. */
const endedWithinMs = 1_000;
/** An idle connection is closed after this time. */
const idleMs = 30_000;
/** The server has answered by then, if it can be reached: it ends a statement that takes too long. */
const slackMs = 1_000;
/** How often a transaction is run that conflicts with others. */
const mostAttempts = 20;
const longestPauseMs = 200;

/**
 * A PostgreSQL database, which any number of processes may have open. Transactions are serializable: they have the
 * results that they would have one after the other, as in SQLite, so the same statements are right in both.
 */
export class PostgresDatabase implements Database {
  readonly #address: PostgresAddress;
  readonly #pool: Pool;
  readonly #closeWithinMs: number;
  readonly #running = new Set<PoolClient>();
  #closing: Promise<void> | undefined;
  #isNew = false;
  /** True when `close` has waited long enough. */
  #isOver = false;
  /** Reject what waits for a connection: the pool forgets about it when it is ended. */
  readonly #waiting = new Set<() => void>();

  private constructor({ address, closeWithinMs = defaultCloseMs }: PostgresOptions, pool: Pool) {
    this.#address = address;
    this.#pool = pool;
    this.#closeWithinMs = closeWithinMs;
    // The server has closed a connection that nobody used; the next transaction opens another one.
    pool.on("error", () => undefined);
    // It may do so in the same packet that says that the connection is ready, before `#use` can listen.
    pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /**
   * Connects, and creates or migrates the tables if it may. Rejects with ERR_STORE: the server cannot be reached, is too old, or
   * refuses the user; the tables are those of a newer version, or missing and not to be created.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { Client, Pool: PgPool, TypeOverrides, types: known } = await import("pg");
    const types = new TypeOverrides();
    // Otherwise they would be texts. The store's numbers are all below 2^53.
    types.setTypeParser(known.builtins.INT8, Number);
    const pool = new PgPool({
      Client: guardedClient(Client, { name: options.address.name, methods: loginMethodsOf(options.address) }),
      ...connectionTo(options.address),
      options: sessionOptions(options.access, options.answerWithinMs ?? defaultAnswerMs),
      application_name: "dimensioner",
      max: options.poolSize ?? defaultPoolSize,
      connectionTimeoutMillis: options.connectWithinMs ?? defaultConnectMs,
      query_timeout: (options.answerWithinMs ?? defaultAnswerMs) + slackMs,
      idleTimeoutMillis: idleMs,
      keepAlive: true,
      types,
    });
    const database = new PostgresDatabase(options, pool);
    try {
      database.#isNew = await database.#use((client) => prepareTables(client, options));
      return database;
    } catch (error) {
      const explained = database.#explain(error);
      await database.close();
      throw explained;
    }
  }

  /** Whether the tables were created when the database was opened. */
  get isNew(): boolean {
    return this.#isNew;
  }

  async transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#use((client) => run(client, statements));
      } catch (error) {
        if (!isConflict(error) || attempt === mostAttempts || this.#closing !== undefined) {
          throw this.#explain(error);
        }
      }
      // Two that conflict must not meet again.
      await pause(Math.random() * Math.min(2 ** attempt, longestPauseMs));
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const ended = this.#pool.end();
    if (!(await settledWithin(ended, this.#closeWithinMs))) {
      this.#isOver = true;
      this.#waiting.forEach((giveUp) => giveUp());
      // Ending a connection that waits for an answer destroys its socket, and its transaction rejects.
      await Promise.all([...this.#running].map((client) => client.end()));
      // The pool waits forever for a connection whose port or host is not valid: that one never began.
      await settledWithin(ended, endedWithinMs);
    }
  }

  /** Creates the ERR_STORE for an error of `#use`. */
  #explain(error: unknown): DimensionerError {
    if (isDimensionerError(error)) {
      return error;
    }
    const isClosed = this.#closing !== undefined && !isFromServer(error);
    return isClosed ? closedPostgresError(this.#address.name) : postgresError(this.#address, error);
  }

  #connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new Error("closed"));
      this.#waiting.add(giveUp);
      const use = (client: PoolClient): void => (this.#isOver ? client.release(true) : resolve(client));
      void this.#pool
        .connect()
        .then(use, reject)
        .finally(() => this.#waiting.delete(giveUp));
    });
  }

  /** Runs some work on a connection. Rejects with the error of PostgreSQL or of the connection. */
  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let isUsable = true;
    // A lost connection also rejects what runs on it.
    const onError = (): void => {
      isUsable = false;
    };
    client.on("error", onError);
    this.#running.add(client);
    try {
      return await work(client);
    } catch (error) {
      isUsable &&= isOfTransaction(error);
      throw error;
    } finally {
      this.#running.delete(client);
      client.off("error", onError);
      client.release(!isUsable);
    }
  }
}

async function run(client: PoolClient, statements: readonly Statement[]): Promise<Row[][]> {
  const [only, ...more] = statements;
  if (only === undefined) {
    return [];
  }
  if (more.length === 0) {
    // A statement by itself is a transaction of its own.
    return [await runOne(client, only)];
  }
  await client.query("BEGIN");
  try {
    const results: Row[][] = [];
    for (const statement of statements) {
      results.push(await runOne(client, statement));
    }
    await client.query("COMMIT");
    return results;
  } catch (error) {
    if (isFromServer(error)) {
      await client.query("ROLLBACK");
    }
    throw error;
  }
}

async function runOne(client: PoolClient, { sql, values = [] }: Statement): Promise<Row[]> {
  const { rows } = await client.query<Record<string, SqlValue>>(
    translateStatement(sql),
    values.map(toPostgres),
  );
  return rows;
}
