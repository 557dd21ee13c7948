import type { Database, Row, Statement } from "./database.ts";
import { PostgresDatabase, type PostgresOptions } from "./postgres-database.ts";
import { migrations } from "./schema.ts";
import { settledWithin } from "../time/settled-within.ts";
import { identifyStore } from "./store-identity.ts";
import { WorkerLease } from "./worker-lease.ts";

export interface SharedDatabaseOptions extends Omit<PostgresOptions, "access" | "migrations"> {
  /** How long the jobs of a process that has stopped without a word are left alone. */
  readonly leaseSeconds?: number;
  /** How long they are left alone after this process has closed the database. */
  readonly closedLeaseSeconds?: number;
  /** The ID that this process had on the database before; not given: it is a worker of its own. */
  readonly workerId?: string;
}

/** A lease that cannot be given back ends by itself. With what else a node waits for, it has to close within 15 s. */
const endWithinMs = 3_000;

/** The database of a store on a PostgreSQL server, which this process works on together with others. */
export class SharedDatabase implements Database {
  /** The same for all that work on the store. */
  readonly storeId: string;
  readonly worker: WorkerLease;
  readonly #database: PostgresDatabase;
  #closing: Promise<void> | undefined;

  private constructor(database: PostgresDatabase, storeId: string, worker: WorkerLease) {
    this.#database = database;
    this.storeId = storeId;
    this.worker = worker;
  }

  /** Connects, makes the tables where they are missing, and begins a lease. Rejects with ERR_STORE. */
  static async open({
    leaseSeconds: seconds,
    closedLeaseSeconds: closedSeconds,
    workerId: id,
    ...options
  }: SharedDatabaseOptions): Promise<SharedDatabase> {
    const database = await PostgresDatabase.open({ ...options, migrations, access: "create" });
    try {
      const { storeId } = await identifyStore(database);
      const worker = await WorkerLease.begin(database, { id, seconds, closedSeconds });
      return new SharedDatabase(database, storeId, worker);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    return this.#database.transaction(statements);
  }

  /** Disconnects. The lease goes on for some seconds; what is open then is taken over by others. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Resolves when it has disconnected. */
  async ended(): Promise<void> {
    await this.#closing;
  }

  async #close(): Promise<void> {
    await settledWithin(this.worker.end(), endWithinMs);
    await this.#database.close();
  }
}
