import type { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Database } from "./database.ts";
import type { DatabaseLease, StoreDatabases } from "./store-databases.ts";

/** The folder of a store's packages as its settings name it, or why they name none. */
export type PackagesFolder = { readonly path: string } | { readonly problem: DimensionerError };

/** A store as its config node hands it out. */
export class Store {
  /** The file of the embedded database. */
  readonly file: string;
  /** Where packages lie. Nobody has looked yet whether it is there: it may be a share that is not mounted. */
  readonly folder: PackagesFolder;
  readonly #databases: StoreDatabases;
  #lease: Promise<DatabaseLease> | undefined;
  #isClosed = false;

  constructor(file: string, folder: PackagesFolder, databases: StoreDatabases) {
    this.file = file;
    this.folder = folder;
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
