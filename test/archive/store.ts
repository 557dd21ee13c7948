import { join } from "node:path";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { Store } from "../../src/vault/store.ts";
import { testThreads } from "../database/support.ts";

/** Where the tests keep the database of a store: beside the packages, so that it goes with them. */
export function databaseOf(root: string): string {
  return join(root, ".dimensioner-archive", "store.sqlite");
}

/** The databases of a process that has just started, apart from their threads. */
export function newDatabases(): StoreDatabases {
  return new StoreDatabases({ threads: testThreads });
}

/** A store with its packages in a folder, as a process that has just started opens it. */
export function storeIn(
  root: string,
  databases: Pick<StoreDatabases, "open"> = newDatabases(),
  file = databaseOf(root),
  more: { readonly workFolder?: string } = {},
): Store {
  return new Store({ kind: "file", file }, { kind: "folder", path: root, ...more }, databases);
}

/** The same with its database and its spool in the folder of Node-RED, where `home` is that. */
export function storeOfKills(root: string, home: string | undefined): Store {
  return home === undefined
    ? storeIn(root)
    : storeIn(root, newDatabases(), join(home, "store.sqlite"), { workFolder: join(home, "spool") });
}
