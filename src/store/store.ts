import type { Database } from "./database.ts";
import type { DatabaseLease, StoreDatabases } from "./store-databases.ts";

/** A store as its config node hands it out. */
export class Store {
  /** The file of the embedded database. */
  readonly file: string;
  readonly #databases: StoreDatabases;
  #lease: Promise<DatabaseLease> | undefined;
  #isClosed = false;

  constructor(file: string, databases: StoreDatabases) {
    this.file = file;
    this.#databases = databases;
  }

  /** Opens the database with the first use; one that could not be opened is tried again. Rejects with ERR_STORE. */
  async database(): Promise<Database> {
    const opening = this.#lease ?? this.#databases.open(this.file);
    this.#lease = opening;
    try {
      const { database, release } = await opening;
      if (this.#isClosed) {
        await release();
      }
      return database;
    } catch (error) {
      if (this.#lease === opening) {
        this.#lease = undefined;
      }
      throw error;
    }
  }

  /** Lets go of the database. Resolves within a few seconds, also when the disk hangs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const lease = await this.#lease?.catch(() => undefined);
    await lease?.release();
  }
}
