import { RecordArrivals } from "../../src/store/record-arrivals.ts";
import { SharedDatabase, type SharedDatabaseOptions } from "../../src/store/shared-database.ts";
import { Store } from "../../src/store/store.ts";

/**
 * A store with a PostgreSQL database, as one of its workers has it open. Whoever uses it closes the database, and the lease
 * ends with it.
 */
export async function openSharedStore(
  root: string,
  options: SharedDatabaseOptions,
): Promise<{ readonly store: Store; readonly database: SharedDatabase }> {
  const database = await SharedDatabase.open({ closedLeaseSeconds: 0, ...options });
  const { worker } = database;
  const location = { kind: "postgres", address: options.address } as const;
  const lease = { database, worker, arrivals: new RecordArrivals(), release: () => database.close() };
  return {
    database,
    store: new Store(location, { kind: "folder", path: root }, { open: async () => lease }),
  };
}
