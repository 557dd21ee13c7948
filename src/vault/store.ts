import { type DatabaseLocation, databaseText } from "../database/database.ts";
import type { StoreConnection, StoreDatabases } from "../database/store-databases.ts";
import type { DimensionerError } from "../errors/dimensioner-error.ts";
import type { ReportHeading } from "../model/archive-reports.ts";
import { resolve } from "node:path";
import type { BucketAddress } from "./s3/bucket-address.ts";
import type { Credentials } from "./s3/credentials.ts";

/** Where the packages of a store are, or why its settings do not say it. */
export type StoreVault = VaultLocation | { readonly problem: DimensionerError };

/** What opens the databases of stores. */
type OpensDatabases = Pick<StoreDatabases, "open">;

/** A store as its config node hands it out. */
export class Store {
  /** Where the database is. */
  readonly location: DatabaseLocation;
  /** The same for all stores with the same database. */
  readonly databaseKey: string;
  readonly vault: StoreVault;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly timestampRoots: string;
  /** Above the reports of exports. */
  readonly heading: ReportHeading;
  /** How much may wait on this computer until the packages are where they belong; undefined: as much as usual. */
  readonly spoolBytes: number | undefined;
  readonly #databases: OpensDatabases;

  constructor(
    location: DatabaseLocation,
    vault: StoreVault,
    databases: OpensDatabases,
    {
      timestampRoots = "",
      heading = { name: "" },
      spoolBytes,
    }: Partial<Pick<Store, "timestampRoots" | "heading" | "spoolBytes">> = {},
  ) {
    this.location = location;
    this.databaseKey = databaseText(location);
    this.vault = vault;
    this.timestampRoots = timestampRoots;
    this.heading = heading;
    this.spoolBytes = spoolBytes;
    this.#databases = databases;
  }

  /**
   * Opens the database, or shares it with its other users. Each user has a lease of its own and releases it when it has
   * finished, so that nobody's last writes depend on the order in which a deploy closes nodes. Rejects with ERR_STORE.
   */
  connect(): Promise<StoreConnection> {
    return this.#databases.open(this.location);
  }
}

/** Where the packages of a store are: in a folder, or in a bucket of an object store. Can be sent to a thread. */
export type VaultLocation = FolderLocation | BucketLocation;

export interface FolderLocation {
  readonly kind: "folder";
  /** It was not checked whether it exists: it may be a share that is not mounted. */
  readonly path: string;
  /**
   * A folder of this computer, in an existing one, for what is not a package yet while the packages are on another disk, which may be
   * away. Undefined: it is always beside the packages.
   */
  readonly workFolder?: string | undefined;
}

export interface BucketLocation {
  readonly kind: "s3";
  readonly address: BucketAddress;
  /** Null: those of the environment. */
  readonly credentials: Credentials | null;
  /** A folder of this computer for what is not a package yet. It is created if it is missing. */
  readonly workFolder: string;
  /** For how many days new objects cannot be deleted (Object Lock); 0: they can. */
  readonly retainDays: number;
}

const bucketScheme = "s3:";

/** The vault as messages name it: the path of the folder, or `s3://bucket/prefix`. */
export function vaultName(location: VaultLocation): string {
  return location.kind === "folder" ? location.path : location.address.name;
}

/** The same for the same vault. */
export function vaultKey(location: VaultLocation): string {
  if (location.kind === "folder") {
    return resolve(location.path);
  }
  const { origin, basePath, prefix } = location.address;
  return `${bucketScheme}${origin}${basePath}/${prefix}`;
}

/** Whether a key is that of a bucket. The path of a folder is absolute, and no drive has a name of two letters. */
export function isBucketKey(key: string): boolean {
  return key.startsWith(bucketScheme);
}
