import assert from "node:assert/strict";
import type { Row } from "../../src/database/database.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase, type PostgresOptions } from "../../src/database/postgres-database.ts";
import { migrations } from "../../src/database/schema.ts";
import { isRetryable } from "../../src/errors/dimensioner-error.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { startProxy } from "../support/freezing-proxy.ts";
import { serveEnding, serveError, serveOtherLogin, serveVersion } from "../support/postgres-stub.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { closedPort } from "../support/servers.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { tlsFile } from "../support/tls.ts";
import { databaseNameIn, emptyPostgresOptions } from "./databases.ts";

describe("a PostgreSQL database", () => {
  let server: PostgresServer;
  let options: PostgresOptions;
  let name: string;
  const opened: PostgresDatabase[] = [];

  const open = async (more: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> => {
    const database = await PostgresDatabase.open({ ...options, ...more });
    opened.push(database);
    return database;
  };
  const select = async (database: PostgresDatabase, sql: string): Promise<readonly Row[]> => {
    const [rows = []] = await database.transaction([{ sql }]);
    return rows;
  };
  /** The address of the database for another user than the one that the tests use otherwise. */
  const addressFor = (user: string, database = name) =>
    readPostgresUrl(`postgres://${user}@127.0.0.1:${server.port}/${database}`);
  /** Creates a user with the password of the tests, who is no superuser. */
  const makeUser = async (user: string): Promise<string> => {
    await server.run(`CREATE ROLE ${user} LOGIN PASSWORD '${server.admin.password}'`);
    return user;
  };

  before(async () => {
    server = await sharedPostgres();
  });
  beforeEach(async () => {
    options = await emptyPostgresOptions();
    name = databaseNameIn(options.address);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  it("is made once by several that open it at the same time", async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => open({ poolSize: 1 })));
    assert.equal(all.filter(({ isNew }) => isNew).length, 1);
    const [first] = all;
    assert.ok(first !== undefined);
    assert.deepEqual(await select(first, "SELECT version FROM schema_version"), [
      { version: migrations.length },
    ]);
  });

  it("brings older tables up to date, and leaves newer ones as they are", async () => {
    const newer = [...migrations, ["ALTER TABLE store ADD COLUMN note TEXT"]];
    const one = await open();
    await select(one, "INSERT INTO store (store_id, created_at) VALUES ('kept', '')");
    const all = await open({ migrations: newer });
    assert.deepEqual(
      [all.isNew, await select(all, "SELECT store_id, note FROM store")],
      [false, [{ store_id: "kept", note: null }]],
    );
    await assert.rejects(open(), {
      code: "ERR_STORE",
      sentence: "storeNewer",
    });
    assert.deepEqual(await select(all, "SELECT version FROM schema_version"), [{ version: newer.length }]);
  });

  it("says that a port is not valid, and waits for no connection that never began", async () => {
    const address = readPostgresUrl("postgres://127.0.0.1/x?port=70000");
    await assert.rejects(open({ address, closeWithinMs: 1 }), { code: "ERR_STORE", message: /65536/ });
  });

  it("does not make tables for whoever only reads or writes, and lets a reader change nothing", async () => {
    for (const access of ["read", "write"] as const) {
      await assert.rejects(open({ access }), { code: "ERR_STORE", sentence: "postgresNoTables" });
    }
    assert.deepEqual(await server.run("SELECT to_regnamespace('dimensioner') AS found", name), [
      { found: null },
    ]);
    await open();
    const reader = await open({ access: "read" });
    assert.deepEqual(await select(reader, "SELECT * FROM jobs"), []);
    await assert.rejects(select(reader, "DELETE FROM jobs"), { message: /read-only transaction/ });
  });

  it("needs no superuser: the owner of the database makes the tables, and another one where the schema was made for it", async () => {
    const owner = await makeUser(`owner_of_${name}`);
    await server.run(`ALTER DATABASE ${name} OWNER TO ${owner}`);
    assert.equal((await open({ address: addressFor(owner) })).isNew, true);
    const { address } = await emptyPostgresOptions();
    const guest = await makeUser(`guest_of_${name}`);
    const other = databaseNameIn(address);
    const denied = {
      code: "ERR_STORE",
      sentence: "postgresDenied",
      message: /create the schema dimensioner/,
    };
    await assert.rejects(open({ address: addressFor(guest, other) }), denied);
    await server.run(`CREATE SCHEMA dimensioner AUTHORIZATION ${guest}`, other);
    assert.equal((await open({ address: addressFor(guest, other) })).isNew, true);
  });

  it("keeps one of two records that two processes receive at the same moment, and each of all others", async () => {
    const workers = [await open(), await open()];
    const inboxes = workers.map((worker) => new Inbox(worker, { nodeId: "in", runId: "run" }));
    const numbers = Array.from({ length: 25 }, (_, number) => number);
    const added = await Promise.all(
      numbers.flatMap((id) =>
        inboxes.map((inbox) => inbox.add(decodeTransactionRecord({ id, errorCode: 0 }), 60_000)),
      ),
    );
    assert.equal(added.filter((one) => one !== null).length, numbers.length);
    const [worker] = workers;
    assert.ok(worker !== undefined);
    assert.deepEqual(await select(worker, "SELECT count(*) AS records FROM records"), [
      { records: numbers.length },
    ]);
  });

  it("runs all statements of a transaction or none", async () => {
    const database = await open();
    const insert = { sql: "INSERT INTO store (store_id, created_at) VALUES (?, '')", values: ["one"] };
    const failing = [insert, { sql: "INSERT INTO store (store_id) VALUES ('no time')" }];
    await assert.rejects(database.transaction(failing), { code: "ERR_STORE", sentence: "postgresFailed" });
    assert.deepEqual(await database.transaction([]), []);
    assert.deepEqual(await database.transaction([insert, { sql: "SELECT store_id FROM store" }]), [
      [],
      [{ store_id: "one" }],
    ]);
  });

  it("keeps sizes beyond 32 bits as numbers, texts in the order of their bytes, and a text with U+0000", async () => {
    const database = await open();
    const insert = (id: string, bytes: number) => ({
      sql: `INSERT INTO packages (package_id, job_key, location, manifest_sha256, archived_at, complete, files, bytes, billable_weight)
        VALUES (?, '', '', '', '', 1, 1, ?, 1.27)`,
      values: [id, bytes],
    });
    await database.transaction([insert("a", 1), insert("B", 2 ** 40), insert("a\0b", 2)]);
    assert.deepEqual(
      await select(database, "SELECT package_id, bytes, billable_weight FROM packages ORDER BY package_id"),
      [
        { package_id: "B", bytes: 2 ** 40, billable_weight: 1.27 },
        { package_id: "a", bytes: 1, billable_weight: 1.27 },
        { package_id: "a\uFFFDb", bytes: 2, billable_weight: 1.27 },
      ],
    );
  });

  it("says what to do where it cannot be opened", async () => {
    const refused: readonly (readonly [sentence: string, url: string])[] = [
      ["postgresLogin", `postgres://nobody@127.0.0.1:${server.port}/${name}`],
      ["postgresMissing", `postgres://postgres@127.0.0.1:${server.port}/missing`],
      ["postgresUnreachable", `postgres://postgres@127.0.0.1:${closedPort}/${name}`],
    ];
    for (const [sentence, url] of refused) {
      await assert.rejects(open({ address: readPostgresUrl(url) }), { code: "ERR_STORE", sentence });
    }
    const wrong: readonly (readonly [sentence: string, url: string])[] = [
      ["postgresPassword", "postgres://user:secret@db.example/name"],
      ["postgresPassword", "postgres://user@db.example/name?password=secret"],
      ["postgresHosts", "postgres://user@one.example,two.example/name"],
      [
        "postgresHosts",
        "postgres://user@one.example:5432,two.example:5432/name?target_session_attrs=read-write",
      ],
      ["postgresAddress", "postgres:name"],
      ["postgresAddress", "postgres://[name"],
    ];
    for (const [sentence, url] of wrong) {
      assert.throws(
        () => readPostgresUrl(url),
        (error: unknown) => {
          assert.ok(error instanceof Error && "sentence" in error);
          assert.equal(error.sentence, sentence);
          assert.doesNotMatch(error.message, /secret/);
          return true;
        },
      );
    }
  });

  it("verifies the server's certificate where the address says so", async () => {
    const certified = (authority: string) =>
      readPostgresUrl(
        `${options.address.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(tlsFile(authority))}`,
      );
    const database = await open({ address: certified("authority.crt") });
    const [connection] = await select(
      database,
      "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    );
    assert.deepEqual(connection, { ssl: "true" });
    await assert.rejects(open({ address: certified("self-signed.crt") }), {
      sentence: "postgresTls",
      message: /: (?!.*(?:ENOENT|use-system-ca)).*certificate.*sslrootcert/,
    });
    await assert.rejects(open({ address: certified("not-there.crt") }), {
      sentence: "postgresTls",
      message: /not-there\.crt.*sslrootcert/,
    });
  });

  it("says that other modes of TLS verify the certificate as well, and how to name a private authority", async () => {
    const mode = (sslmode: string) => readPostgresUrl(`${options.address.url}?sslmode=${sslmode}`);
    await assert.rejects(open({ address: mode("require") }), {
      code: "ERR_STORE",
      sentence: "postgresTlsMode",
      message: /certificate.*sslmode=require .*sslrootcert/,
    });
    await assert.rejects(open({ address: mode("verify-full") }), { sentence: "postgresTls" });
  });

  it("refuses a database that cannot keep all texts, also for whoever only looks at it", async () => {
    const latin = `${name}_latin1`;
    await server.run(
      `CREATE DATABASE ${latin} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`,
    );
    const address = addressFor("postgres", latin);
    for (const access of ["create", "read", "look"] as const) {
      await assert.rejects(open({ address, access }), {
        code: "ERR_STORE",
        sentence: "postgresEncoding",
        message: /the encoding LATIN1,.*UTF8/,
      });
    }
    assert.deepEqual(await server.run("SELECT to_regnamespace('dimensioner') AS found", latin), [
      { found: null },
    ]);
  });

  for (const [code, said, sentence, advice] of [
    ["08P01", "unsupported startup parameter: options", "postgresPooler", /ignore_startup_parameters/],
    ["0A000", "currently doesn't support command-line options.", "postgresPooler", /PostgreSQL directly/],
    ["28000", 'no pg_hba.conf entry for host "::1", no encryption', "postgresNotAllowed", /Encrypt it/],
    ["28000", "SSL connection is required", "postgresNotAllowed", /Encrypt it/],
    ["08P01", "SSL required", "postgresNotAllowed", /Encrypt it/],
    ["28000", 'role "store" does not exist', "postgresLogin", /user name/],
    ["08P01", "server login has been failing", "postgresUnreachable", /server is running/],
    ["08006", "failed to connect to remote server", "postgresUnreachable", /server is running/],
  ] as const) {
    it(`says what to do if a server or a pooler refuses a connection: ${said}`, async () => {
      const stub = await serveError("SFATAL", `C${code}`, `M${said}`);
      try {
        const error = { code: "ERR_STORE", sentence, message: advice };
        await assert.rejects(open({ address: readPostgresUrl(stub.url) }), error);
      } finally {
        stub.close();
      }
    });
  }

  it("says that the environment names several hosts", async () => {
    process.env["PGHOST"] = "one.invalid,two.invalid";
    try {
      await assert.rejects(open({ address: readPostgresUrl("postgres:///name") }), {
        sentence: "postgresHosts",
        message: /one\.invalid,two\.invalid/,
      });
    } finally {
      delete process.env["PGHOST"];
    }
  });

  it("refuses a server that is older than version 14", async () => {
    const old = await serveVersion("13.23");
    try {
      await assert.rejects(open({ address: readPostgresUrl(old.url) }), {
        sentence: "postgresOld",
        message: /PostgreSQL 13\.23.* 14 /,
      });
    } finally {
      old.close();
    }
  });

  it("rejects when the server is stopped at the moment at which a connection is ready", async () => {
    const stopped = await serveEnding();
    try {
      await assert.rejects(open({ address: readPostgresUrl(stopped.url) }), {
        sentence: "postgresUnreachable",
      });
    } finally {
      stopped.close();
    }
  });

  for (const method of [7, 9] as const) {
    it(`rejects when the server asks for a login that the driver does not know: ${method}`, async () => {
      const stub = await serveOtherLogin(method);
      try {
        await assert.rejects(open({ address: readPostgresUrl(stub.url) }), {
          sentence: "postgresUnreachable",
          message: new RegExp(`type ${method}`),
        });
      } finally {
        stub.close();
      }
    });
  }

  it("closes while a connection is being opened, and does nothing with it any more", async () => {
    const proxy = await startProxy(server.port);
    try {
      const address = readPostgresUrl(options.address.url.replace(`:${server.port}/`, `:${proxy.port}/`));
      const closing = await open({ address, closeWithinMs: 100, connectWithinMs: 60_000 });
      proxy.freeze();
      const ended = ["SELECT 1", "CREATE TABLE late (x INTEGER)"].map((sql) =>
        assert.rejects(select(closing, sql), { code: "ERR_STORE", sentence: "storeClosed" }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      await closing.close();
      proxy.thaw();
      await Promise.all(ended);
      const late = await select(await open(), "SELECT to_regclass('dimensioner.late') AS late");
      assert.deepEqual(late, [{ late: null }]);
    } finally {
      proxy.close();
    }
  });

  it("does not wait for a statement that another program holds up, and closes nevertheless", async () => {
    const closing = await open({ closeWithinMs: 100 });
    // A limit that is short would hold for the statements of the opening as well, so that of one transaction is made shorter.
    const limited = await open({ answerWithinMs: 50_000 });
    assert.deepEqual(await select(limited, "SHOW statement_timeout"), [{ statement_timeout: "50s" }]);
    const impatient = [{ sql: "SET LOCAL statement_timeout = 200" }, { sql: "SELECT * FROM jobs" }];
    const end = await server.hold("LOCK TABLE dimensioner.jobs IN ACCESS EXCLUSIVE MODE", name);
    try {
      await assert.rejects(limited.transaction(impatient), { code: "ERR_STORE" });
      const ended = assert.rejects(select(closing, "SELECT * FROM jobs"), { code: "ERR_STORE" });
      await server.until("SELECT 1 FROM pg_locks WHERE NOT granted");
      await closing.close();
      await ended;
      await assert.rejects(select(closing, "SELECT 1"), { code: "ERR_STORE", sentence: "storeClosed" });
    } finally {
      await end();
    }
  });
});

describe("a PostgreSQL database whose server is restarted", () => {
  it("rejects what comes meanwhile, goes on by itself, and has lost nothing that was confirmed", async () => {
    const server = await startPostgres();
    process.env["PGPASSWORD"] = server.admin.password;
    const address = readPostgresUrl(
      `postgres://postgres@127.0.0.1:${server.port}/${await server.makeDatabase()}`,
    );
    const database = await PostgresDatabase.open({ address, migrations, access: "create" });
    try {
      const inbox = new Inbox(database, { nodeId: "in", runId: "run" });
      const add = (id: number) => inbox.add(decodeTransactionRecord({ id, errorCode: 0 }), 60_000);
      await Promise.all([add(1), add(2), add(3)]);
      const running = assert.rejects(database.transaction([{ sql: "SELECT pg_sleep(60)" }]), {
        sentence: "postgresUnreachable",
      });
      await server.until("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'");
      await server.stop();
      await running;
      await assert.rejects(add(4), (error) => isRetryable(error) && error.sentence === "postgresUnreachable");
      await server.start();
      await add(5);
      const [rows = []] = await database.transaction([
        { sql: "SELECT transaction_id FROM records ORDER BY 1" },
      ]);
      assert.deepEqual(
        rows.map((row) => row["transaction_id"]),
        ["1", "2", "3", "5"],
      );
    } finally {
      await database.close();
      await server.remove();
    }
  });
});
