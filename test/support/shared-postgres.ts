import { startPostgres, type PostgresServer } from "./postgres.ts";

let shared: Promise<PostgresServer> | undefined;

/** The server that all suites of this process share. It is started for the first one, and removed after the last. */
export function sharedPostgres(): Promise<PostgresServer> {
  return (shared ??= startPostgres());
}

after(async () => {
  const server = await shared;
  await server?.remove();
});
