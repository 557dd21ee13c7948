import assert from "node:assert/strict";
import { createServer, connect } from "node:net";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { migrations } from "../../src/database/schema.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { listen } from "../support/servers.ts";
import { startPostgres } from "../support/postgres.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { tlsFile } from "../support/tls.ts";
import { emptyPostgresOptions } from "./databases.ts";
import { serveError, servePlainLogin } from "../support/postgres-stub.ts";

describe("the limits for the answers of a PostgreSQL server", () => {
  const opened: PostgresDatabase[] = [];
  const open = async (url: string): Promise<PostgresDatabase> => {
    const options = { address: readPostgresUrl(url), migrations, access: "create", poolSize: 1 } as const;
    const database = await PostgresDatabase.open(options);
    opened.push(database);
    return database;
  };
  const select = (sql: string) => [{ sql, values: [] }];
  const text = (length: number) => select(`SELECT repeat('x', ${length}) AS text`);

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  for (const [how, query] of [
    ["in plain text", ""],
    ["with TLS", `?sslmode=verify-full&sslrootcert=${encodeURIComponent(tlsFile("authority.crt"))}`],
  ] as const) {
    it(`leave each of the largest answers of a store whole, and end a connection with a larger one: ${how}`, async () => {
      const database = await open(`${(await emptyPostgresOptions()).address.url}${query}`);
      const connection = async (): Promise<unknown> =>
        (await database.transaction(select("SELECT pg_backend_pid() AS pid")))[0]?.[0]?.["pid"];
      const before = await connection();
      // A transaction of several statements, one of them with a value, and one after the other.
      const largest = 55_000_000;
      const lengths = (
        await database.transaction([
          ...text(largest),
          { sql: "SELECT repeat(CAST(? AS TEXT), 55000000) AS text", values: ["y"] },
          ...select("SELECT i, repeat('x', 700) AS text FROM generate_series(1, 20000) AS i"),
        ])
      ).map((rows) => [rows.length, String(rows[0]?.["text"]).length]);
      assert.deepEqual(lengths, [
        [1, largest],
        [1, largest],
        [20_000, 700],
      ]);
      assert.equal(await connection(), before);
      await assert.rejects(database.transaction(text(70_000_000)), {
        code: "ERR_STORE",
        sentence: "postgresLong",
        message: / 64 MB /,
      });
      assert.notEqual(await connection(), before);
    });
  }

  it("know the messages of a connection also where they arrive byte by byte", async () => {
    const server = await sharedPostgres();
    const proxy = createServer((socket) => {
      const other = connect(server.port, "127.0.0.1");
      socket.setNoDelay(true).on("error", () => undefined);
      other.on("error", () => undefined).on("close", () => socket.destroy());
      socket.on("data", (bytes) => other.write(bytes)).on("close", () => other.destroy());
      let passed = 0;
      other.on("data", (bytes) => {
        // More would take minutes.
        const single = Math.min(bytes.length, Math.max(0, 30_000 - passed));
        passed += bytes.length;
        for (const byte of bytes.subarray(0, single)) {
          socket.write(Buffer.of(byte));
        }
        socket.write(bytes.subarray(single));
      });
    });
    try {
      const { address } = await emptyPostgresOptions();
      const url = address.url.replace(`:${server.port}/`, `:${await listen(proxy)}/`);
      const database = await open(url);
      assert.equal(database.isNew, true);
      await assert.rejects(database.transaction(text(70_000_000)), { sentence: "postgresLong" });
      assert.deepEqual(await database.transaction(select("SELECT 1 AS one")), [[{ one: 1 }]]);
    } finally {
      proxy.close();
    }
  });
});

describe("the login at a PostgreSQL server", () => {
  const secret = "Grüße / secret";
  let before: Record<string, string | undefined>;
  const names = ["PGPASSWORD", "PGREQUIREAUTH"] as const;
  beforeEach(() => {
    before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    process.env["PGPASSWORD"] = secret;
  });
  afterEach(() => {
    for (const name of names) {
      const value = before[name];
      if (value === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = value;
      }
    }
  });
  const failure = async (url: string) => {
    const options = { address: readPostgresUrl(url), migrations, access: "create" } as const;
    const error: unknown = await PostgresDatabase.open(options).then(
      (database) => database.close(),
      (rejected: unknown) => rejected,
    );
    assert.ok(isDimensionerError(error), String(error));
    return error;
  };

  for (const [method, name] of [
    [3, "password"],
    [5, "md5"],
  ] as const) {
    it(`sends no password that others could learn: ${name}`, async () => {
      const server = await servePlainLogin(method);
      try {
        const error = await failure(server.url);
        assert.equal(error.sentence, "postgresPlainLogin");
        assert.ok(error.message.includes(`“${name}”`), error.message);
        assert.deepEqual(server.answers, []);
        // The connection is not left to the server either.
        await server.allClosed();
      } finally {
        server.close();
      }
    });

    it(`sends it where the address or the environment allows it: ${name}`, async () => {
      const server = await servePlainLogin(method, true);
      try {
        process.env["PGREQUIREAUTH"] = `scram-sha-256,${name}`;
        assert.equal((await failure(server.url)).sentence, "postgresLogin");
        process.env["PGREQUIREAUTH"] = "none";
        assert.equal((await failure(server.url)).sentence, "postgresLoginMethod");
        assert.equal((await failure(`${server.url}?require_auth=!none`)).sentence, "postgresLogin");
        assert.equal((await failure(`${server.url}?require_auth=!${name}`)).sentence, "postgresLoginMethod");
        assert.equal(server.answers.length, 2);
      } finally {
        server.close();
      }
    });
  }

  it("sends it to a server whose certificate was verified", async () => {
    const server = await startPostgres({ isTidied: false, login: "password" });
    try {
      process.env["PGPASSWORD"] = server.admin.password;
      const url = `postgres://postgres@127.0.0.1:${server.port}/${await server.makeDatabase()}`;
      for (const query of ["", "?sslmode=no-verify"]) {
        assert.equal((await failure(`${url}${query}`)).sentence, "postgresPlainLogin");
      }
      const address = readPostgresUrl(
        `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(tlsFile("authority.crt"))}`,
      );
      await (await PostgresDatabase.open({ address, migrations, access: "create" })).close();
    } finally {
      await server.remove();
    }
  });

  it("does not repeat the password from what a server says, however it writes it", async () => {
    for (const said of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(`user:${secret}!`).toString("base64"),
      Buffer.from(secret).toString("hex"),
      secret.replace(/\W/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
    ]) {
      const server = await serveError("SFATAL", "C28P01", `Mno login with ${said}: ${"x".repeat(50_000)}`);
      try {
        const { message, cause } = await failure(server.url);
        assert.match(message, /no login with /);
        for (const text of [message, String(cause)]) {
          assert.ok(!text.includes(said.slice(4, -4)), text);
          assert.ok(text.length < 700, text);
        }
        await server.allClosed();
      } finally {
        server.close();
      }
    }
  });
});
