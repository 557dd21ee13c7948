import { readPostgresUrl } from "../../src/store/postgres-address.ts";
import { PostgresDatabase, type PostgresOptions } from "../../src/store/postgres-database.ts";
import { migrations } from "../../src/store/schema.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { openTestDatabase, reopening, type TestDatabase } from "./support.ts";

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
    remove: async () => {
      await server.run(
        `DROP DATABASE ${options.address.url.slice(options.address.url.lastIndexOf("/") + 1)}`,
      );
    },
    explain: (statements) => [
      // Reading a small table as a whole is faster, so it would not use an index.
      { sql: "SET LOCAL enable_seqscan = off" },
      ...statements.map(({ sql, values }) => ({ sql: `EXPLAIN ${sql}`, values: values ?? [] })),
    ],
  });
}

/** The address of a new database on the PostgreSQL server that all tests share, as its superuser opens it. */
export async function postgresOptions(): Promise<PostgresOptions> {
  const server = await sharedPostgres();
  const { user, password } = server.admin;
  // As PostgreSQL's own programs do, pg takes the password from the environment.
  process.env["PGPASSWORD"] = password;
  const address = readPostgresUrl(
    `postgres://${user}@127.0.0.1:${server.port}/${await server.makeDatabase()}`,
  );
  return { address, migrations, access: "create" };
}
