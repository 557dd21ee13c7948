import { type DatabaseLocation, databaseText } from "../database/database-location.ts";
import type { DatabaseLease, StoreDatabases } from "../database/store-databases.ts";
import type { DimensionerError } from "../errors/dimensioner-error.ts";
import type { FilesLocation } from "./files-location.ts";

/** Where the packages of a store are, or why its settings do not say it. */
export type StoreFiles = FilesLocation | { readonly problem: DimensionerError };

/** What opens the databases of stores. */
type OpensDatabases = Pick<StoreDatabases, "open">;

/** A store as its config node hands it out. */
export class Store {
  /** Where the database is. */
  readonly location: DatabaseLocation;
  /** The same for all stores with the same database. */
  readonly databaseKey: string;
  readonly files: StoreFiles;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly timestampRoots: string;
  readonly #databases: OpensDatabases;

  constructor(location: DatabaseLocation, files: StoreFiles, databases: OpensDatabases, timestampRoots = "") {
    this.location = location;
    this.databaseKey = databaseText(location);
    this.files = files;
    this.timestampRoots = timestampRoots;
    this.#databases = databases;
  }

  /**
   * Opens the database, or shares it with its other users. Each user has a lease of its own and releases it when it has
   * finished, so that nobody's last writes depend on the order in which a deploy closes nodes. Rejects with ERR_STORE.
   */
  lease(): Promise<DatabaseLease> {
    return this.#databases.open(this.location);
  }
}
