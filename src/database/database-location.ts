import { resolve } from "node:path";
import type { PostgresAddress } from "./postgres-address.ts";

/** Where the database of a store is: in a file on this computer, or on a PostgreSQL server. */
export type DatabaseLocation =
  | { readonly kind: "file"; readonly file: string }
  | {
      readonly kind: "postgres";
      readonly address: PostgresAddress;
      /** How many connections a process has open at most. */
      readonly poolSize?: number;
    };

/** The file or address as `--database` of the command-line tools takes it. Tells databases apart. */
export function databaseText(location: DatabaseLocation): string {
  return location.kind === "file" ? resolve(location.file) : location.address.url;
}

/** The database as messages name it. */
export function databaseName(location: DatabaseLocation): string {
  return location.kind === "file" ? location.file : location.address.name;
}
