import { setTimeout as pause } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { settledWithin } from "../time/after-limit.ts";
import type { Database, Row, SqlValue, Statement, Migrations } from "./database.ts";
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
  type Access,
  encodingError,
  missingSettings,
  newerTablesError,
  noTablesError,
  oldServerError,
  oldestVersion,
  schemaName,
  settingsError,
  translateSchema,
} from "./postgres-connection.ts";
import { columnTypes, guardedClient } from "./postgres-driver.ts";

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
    const { Client, Pool: PgPool } = await import("pg");
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
      types: columnTypes(options.address.name),
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

export interface TableOptions {
  readonly address: PostgresAddress;
  /** The statements that lead from each version of the schema to the next, as SQLite writes them. */
  readonly migrations: Migrations;
  readonly access: Access;
}

/** The key of the advisory lock that whoever creates or migrates tables holds: "dimensio" in ASCII. */
const lockKey = "7235434558759594351";

/**
 * Creates the tables of a store, or migrates them to the newest version, if the access allows it. Several processes may
 * do so at the same time: they wait for each other. Returns whether the tables were created. Rejects with ERR_STORE, or
 * with PostgreSQL's error.
 */
async function prepareTables(
  client: PoolClient,
  { address, migrations, access }: TableOptions,
): Promise<boolean> {
  const server = String(await firstValue(client, "SHOW server_version"));
  if (Number.parseInt(server, 10) < oldestVersion) {
    throw oldServerError(address.name, server);
  }
  const encoding = String(await firstValue(client, "SHOW server_encoding"));
  if (encoding !== "UTF8") {
    throw encodingError(address.name, encoding);
  }
  const missing = await missingSettings(client, access);
  if (missing.length > 0) {
    throw settingsError(address.name, missing);
  }
  const isNew = access === "create" && (await createTables(client, migrations));
  const version = await findVersion(client);
  if (version > migrations.length) {
    throw newerTablesError(address.name);
  }
  if (version === 0 && access !== "look") {
    throw noTablesError(address.name);
  }
  return isNew;
}

/** Returns whether there were no tables. Leaves newer ones as they are. */
async function createTables(client: PoolClient, migrations: Migrations): Promise<boolean> {
  // A serializable transaction would see the tables as they were before it waited for the lock.
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${lockKey})`);
    const version = await findVersion(client);
    if (version < migrations.length) {
      await migrate(client, version, migrations);
    }
    await client.query("COMMIT");
    return version === 0;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** The version of the tables; 0 if there are none. */
async function findVersion(client: PoolClient): Promise<number> {
  const table = await firstValue(client, `SELECT to_regclass('${schemaName}.schema_version')`);
  return table === null ? 0 : Number(await firstValue(client, "SELECT version FROM schema_version"));
}

async function migrate(client: PoolClient, from: number, migrations: Migrations): Promise<void> {
  if (from === 0) {
    // CREATE SCHEMA IF NOT EXISTS needs the right to create one, even if there is one.
    const schema = await firstValue(client, `SELECT to_regnamespace('${schemaName}')`);
    if (schema === null) {
      await client.query(`CREATE SCHEMA ${schemaName}`);
    }
    await client.query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
    await client.query("INSERT INTO schema_version VALUES (0)");
  }
  const statements = migrations.slice(from).flat();
  for (const sql of statements.flatMap((one) =>
    typeof one === "string" ? translateSchema(one) : one.postgres,
  )) {
    await client.query(sql);
  }
  await client.query("UPDATE schema_version SET version = $1", [migrations.length]);
}

async function firstValue(client: PoolClient, sql: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(sql);
  return Object.values(rows[0] ?? {})[0];
}
