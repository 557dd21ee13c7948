import { atEnd } from "./at-end.ts";
import { startPostgres, type PostgresServer } from "./postgres.ts";

let shared: Promise<PostgresServer> | undefined;

/** The server that all test files of this process share. It is started for the first one, and removed after the last. */
export function sharedPostgres(): Promise<PostgresServer> {
  // Each test has a database of its own, with few rows.
  return (shared ??= start());
}

async function start(): Promise<PostgresServer> {
  const server = await startPostgres({ isTidied: false });
  atEnd(() => server.remove());
  return server;
}
