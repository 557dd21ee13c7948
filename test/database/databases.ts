import { type PostgresAddress, readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase, type PostgresOptions } from "../../src/database/postgres-database.ts";
import { migrations } from "../../src/database/schema.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { type TestDatabase, openTestDatabase, reopening } from "./support.ts";

/** The databases that a store may have. What holds for one has to hold for the other. */
const databases: readonly (readonly [name: string, open: () => Promise<TestDatabase>])[] = [
  ["SQLite", openTestDatabase],
  ["PostgreSQL", openTestPostgres],
];

/** Describes a suite once with each database. */
export function describeDatabases(title: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  for (const [name, open] of databases) {
    describe(`${title} in ${name}`, () => suite(open));
  }
}

/** A database of its own on the PostgreSQL server that all tests share. */
async function openTestPostgres(): Promise<TestDatabase> {
  const server = await sharedPostgres();
  const options = await postgresOptions();
  const open = () => PostgresDatabase.open(options);
  return reopening(open, {
    remove: () => server.removeDatabase(databaseNameIn(options.address)),
    explain: (statements) => [
      // Reading a small table as a whole is faster, so it would not use an index.
      { sql: "SET LOCAL enable_seqscan = off" },
      ...statements.map(({ sql, values }) => ({ sql: `EXPLAIN ${sql}`, values: values ?? [] })),
    ],
  });
}

/** The name of a database that nothing but its tables is in, for copies. */
let withTables: Promise<string> | undefined;

/** The address of a new database with the tables of a store on the PostgreSQL server that all tests share, as its superuser opens it. */
export async function postgresOptions(): Promise<PostgresOptions> {
  // To copy a database costs a fifth of making its tables.
  withTables ??= optionsOf().then(async (options) => {
    await (await PostgresDatabase.open(options)).close();
    return databaseNameIn(options.address);
  });
  return await optionsOf(await withTables);
}

/** The same without the tables. */
export async function emptyPostgresOptions(): Promise<PostgresOptions> {
  return await optionsOf();
}

async function optionsOf(template?: string): Promise<PostgresOptions> {
  const server = await sharedPostgres();
  const { user, password } = server.admin;
  // As PostgreSQL's own programs do, pg takes the password from the environment.
  process.env["PGPASSWORD"] = password;
  const address = readPostgresUrl(
    `postgres://${user}@127.0.0.1:${server.port}/${await server.makeDatabase(template)}`,
  );
  return { address, migrations, access: "create" };
}

/** The name of a test's database. */
export function databaseNameIn({ url }: PostgresAddress): string {
  return url.slice(url.lastIndexOf("/") + 1);
}
