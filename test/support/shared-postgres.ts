import { startPostgres, type PostgresServer } from "./postgres.ts";

let shared: Promise<PostgresServer> | undefined;

/** The server that all suites of this process share. It is started for the first one, and removed after the last. */
export function sharedPostgres(): Promise<PostgresServer> {
  // Each test has a database of its own, with few rows.
  return (shared ??= startPostgres({ isTidied: false }));
}

after(async () => {
  const server = await shared;
  await server?.remove();
});
