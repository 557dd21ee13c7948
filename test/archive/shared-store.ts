import type { Database } from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { LogTable } from "../../src/database/log-table.ts";
import { SharedDatabase, type SharedDatabaseOptions } from "../../src/database/store-databases.ts";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { Store, type BucketLocation, type VaultLocation } from "../../src/vault/store.ts";

/**
 * A store with a PostgreSQL database and its packages in a folder or somewhere else, as one of its workers has it open. Whoever uses it closes the database, and the lease
 * ends with it. `seen`: the database as the store sees it.
 */
export async function openSharedStore(
  vault: VaultLocation | string,
  options: SharedDatabaseOptions,
  seen: (real: Database) => Database = (real) => real,
): Promise<{ readonly store: Store; readonly database: SharedDatabase }> {
  const database = await SharedDatabase.open({ closedLeaseSeconds: 0, ...options });
  const { worker } = database;
  const location = { kind: "postgres", address: options.address } as const;
  const used = seen(database);
  const connection = {
    database: used,
    worker,
    log: new LogTable(used, database.storeId, worker.id),
    arrivals: new RecordArrivals(),
    check: null,
    release: () => database.close(),
  };
  return {
    database,
    store: new Store(location, typeof vault === "string" ? { kind: "folder", path: vault } : vault, {
      open: async () => connection,
    }),
  };
}

/** A bucket of packages by its address. */
export function bucketOf(url: string, workFolder: string): BucketLocation {
  const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  return { kind: "s3", address: readS3Url(url), credentials, workFolder, retainDays: 0 };
}
