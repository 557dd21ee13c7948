import { resolve } from "node:path";
import type { PostgresAddress } from "./postgres-address.ts";

/** A value of a column or a parameter. Times are ISO 8601 text in UTC, booleans are 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

export type Row = Readonly<Record<string, SqlValue>>;

/** One SQL statement with a `?` for each of its values. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
}

/** A condition within a statement, with a `?` for each of its values. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A condition that holds. */
export const always: Condition = { sql: "1 = 1", values: [] };

/** The condition that all of these hold. */
export function allOf(...conditions: readonly Condition[]): Condition {
  return {
    sql: joined([always.sql, ...conditions.map(({ sql }) => `(${sql})`)]),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** SQLite takes each AND of a row for a level, of which it has 1,000; a search may have more words. */
const mostInRow = 100;

function joined(parts: readonly string[]): string {
  if (parts.length <= mostInRow) {
    return parts.join(" AND ");
  }
  const middle = Math.ceil(parts.length / 2);
  return `(${joined(parts.slice(0, middle))}) AND (${joined(parts.slice(middle))})`;
}

/** The condition that another one does not hold. */
export function not({ sql, values }: Condition): Condition {
  return { sql: `NOT (${sql})`, values };
}

/** The condition that a column has one of these values: never, if there are none. */
export function oneOf(column: string, values: readonly SqlValue[]): Condition {
  return values.length === 0
    ? { sql: "1 = 0", values }
    : { sql: `${column} IN (${marksFor(values)})`, values };
}

/** A `?` for each of these values. */
export function marksFor(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}

/**
 * In a statement, the database's own time after a duration such as `60 seconds`, which is the value of its `?`: the clocks
 * of several computers differ.
 */
export const databaseTime = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)";

/**
 * At the end of a subquery, locks the rows that it selects, and leaves out those that another transaction has locked. SQLite runs one
 * transaction at a time and reads a comment.
 */
export const skipLocked = "/* FOR UPDATE SKIP LOCKED */";

/**
 * At the end of the first statement of a transaction, says that it may wait a moment for another one to share its commit. SQLite, whose
 * every commit has to be on the disk before the next one begins, then writes and syncs once; PostgreSQL reads a comment.
 */
export const mayWait = "/* MAY WAIT */";

/**
 * The first statement of a transaction that adds to the log. SQLite runs one transaction at a time; PostgreSQL takes the lock before it
 * decides which rows the transaction sees, so that two workers wait for each other instead of failing.
 */
export const lockLog: Statement = { sql: "SELECT 1 /* LOCK TABLE log_head */" };

/**
 * The beginning of a statement, for the packages whose search words have the character triples that are the value of its `?`:
 * each in quotes, with a space between them.
 */
export const fromPackagesWithTriples =
  "FROM package_words CROSS JOIN packages ON indexed_order = package_words.rowid WHERE package_words MATCH ?";

/**
 * A statement that says how rare triples are, which are the value of its `?` as a JSON array, each in quotes: for each triple among how
 * many packages there are a hundred that have it, at the end or at the beginning of the index. Null if there are fewer of them.
 * PostgreSQL knows that of frequent ones only, and has no row for others.
 */
export const reachOfTriples = `SELECT value AS triple, max((SELECT max(indexed_order) FROM packages) -
    (SELECT rowid FROM package_words WHERE package_words MATCH value ORDER BY rowid DESC LIMIT 1 OFFSET 99),
    (SELECT rowid FROM package_words WHERE package_words MATCH value ORDER BY rowid LIMIT 1 OFFSET 99)) AS reach
  FROM json_each(?)`;

/** A condition for the packages that have the text, which is the value of its `?`, in their search words. */
export const hasSearchText = "instr(search_words, ?) > 0";

/** A statement of a schema: one that both databases understand, or what each of them needs. */
export type SchemaStatement =
  | string
  | { readonly sqlite: readonly string[]; readonly postgres: readonly string[] };

/** The statements that lead from each version of a schema to the next. */
export type Migrations = readonly (readonly SchemaStatement[])[];

/**
 * The database of a store: jobs, records and the index of packages. The statements are plain SQL that SQLite and
 * PostgreSQL both understand, so that either can be behind this interface.
 */
export interface Database {
  /**
   * Runs the statements in one transaction. Resolves when it is durable, with the rows of each statement. Rejects with
   * ERR_STORE: then none of the statements has an effect, or, if the database has not answered, it is not known whether all have.
   */
  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /**
   * Finishes running transactions and releases the database. Resolves within a few seconds, also if the disk hangs.
   */
  close(): Promise<void>;
}

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
