import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type DatabaseLocation, databaseText } from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { SharedDatabase, type StoreDatabases } from "../../src/database/store-databases.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { Store, type VaultLocation } from "../../src/vault/store.ts";
import { postgresOptions } from "../database/databases.ts";
import { withFolder } from "../media/support.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { prefix, readObjects } from "./bucket-objects.ts";
import { bucketOf } from "./shared-store.ts";
import { newDatabases } from "./store.ts";
import { readPackages } from "./support.ts";

/** A worker as a process that has just started opens the store. */
export interface OpenedStore {
  readonly store: Store;
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends its lease on a database that several workers share, as if it had not been renewed for a minute. */
  endLease(): Promise<void>;
  close(): Promise<void>;
}

/** A store of one of the four kinds. */
export interface TestPlace {
  readonly vault: VaultLocation;
  /** As the command-line tools take it. */
  readonly database: string;
  /** The object store; undefined for a folder. */
  readonly stub: BucketStub | undefined;
  open(): Promise<OpenedStore>;
  /** All packages by their location; asserts that each is whole, and that there is nothing else but the archive's own files. */
  packages(): Promise<ReadonlyMap<string, Manifest>>;
}

interface Kind {
  readonly files: "bucket" | "folder";
  readonly database: "PostgreSQL" | "SQLite";
}

/** Every combination of where the packages and the database of a store may be. */
export const storeKinds: readonly Kind[] = (["folder", "bucket"] as const).flatMap((files) =>
  (["SQLite", "PostgreSQL"] as const).map((database) => ({ files, database })),
);

/** Makes a store of a kind, and removes it again. */
export async function withPlace(kind: Kind, act: (place: TestPlace) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const stub = kind.files === "bucket" ? await startStub() : undefined;
    const opened: OpenedStore[] = [];
    try {
      const vault = stub === undefined ? await inFolder(folder) : inBucket(stub, folder);
      const openDatabase =
        kind.database === "SQLite" ? embeddedDatabase(join(folder, "store.sqlite")) : await sharedDatabase();
      await act({
        vault,
        stub,
        database: databaseText(openDatabase.location),
        packages: () => (stub === undefined ? readPackages(join(folder, "packages")) : readObjects(stub)),
        open: async () => {
          // Each worker is another computer, which does not have the disk of the others.
          const computer = kind.database === "SQLite" ? 0 : opened.length;
          const workFolder = join(folder, `work ${computer}`);
          const isBeside = vault.kind === "folder" && kind.database === "SQLite";
          const one = await openDatabase.open(isBeside ? vault : { ...vault, workFolder });
          opened.push(one);
          return one;
        },
      });
    } finally {
      await Promise.all(opened.map((one) => one.close()));
      await stub?.close();
    }
  });
}

async function inFolder(folder: string): Promise<VaultLocation> {
  const path = join(folder, "packages");
  await mkdir(path);
  return { kind: "folder", path };
}

function inBucket(stub: BucketStub, folder: string): VaultLocation {
  return bucketOf(stub.url(prefix), join(folder, "work"));
}

interface TestDatabase {
  readonly location: DatabaseLocation;
  open(vault: VaultLocation): Promise<OpenedStore>;
}

function embeddedDatabase(file: string): TestDatabase {
  const location = { kind: "file", file } as const;
  return {
    location,
    open: async (vault) => {
      const databases: StoreDatabases = newDatabases();
      const store = new Store(location, vault, databases);
      return {
        store,
        query: async (sql) => {
          const { database, release } = await store.connect();
          try {
            return (await database.transaction([{ sql }]))[0] ?? [];
          } finally {
            await release();
          }
        },
        endLease: async () => undefined,
        close: async () => undefined,
      };
    },
  };
}

async function sharedDatabase(): Promise<TestDatabase> {
  const options = await postgresOptions();
  const location = { kind: "postgres", address: options.address } as const;
  return {
    location,
    open: async (vault) => {
      // No lease is renewed after a test has ended it, and one that is closed has ended its own, however long that takes.
      const leases = { leaseSeconds: 3_600, closedLeaseSeconds: 0, closeWithinMs: 60_000 };
      const database = await SharedDatabase.open({ ...leases, ...options });
      const { worker, log, check } = database;
      const connection = {
        database,
        worker,
        log,
        check,
        arrivals: new RecordArrivals(),
        release: async () => undefined,
      };
      return {
        store: new Store(location, vault, { open: async () => connection }),
        query: async (sql) => (await database.transaction([{ sql }]))[0] ?? [],
        endLease: async () => {
          const sql = "UPDATE workers SET lease_until = '' WHERE worker_id = ?";
          await database.transaction([{ sql, values: [worker.id] }]);
        },
        close: () => database.close(),
      };
    },
  };
}
