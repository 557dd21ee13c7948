import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
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
import {
  columns,
  head,
  message,
  ready,
  row,
  serveEndless,
  serveError,
  servePlainLogin,
} from "../support/postgres-stub.ts";

/** How far the memory of a process may grow with each of the servers below. Without limits it takes gigabytes. */
const mostGrownMb = 350;
const program = new URL("./hostile-client.ts", import.meta.url);

interface Told {
  readonly sentence: string;
  readonly message: string;
  readonly grownMb: number;
}

describe("a PostgreSQL server that sends without end", () => {
  const endless = "x".repeat(1_000_000);
  const rest = Buffer.from(endless);
  const announced = 2 ** 31 - 1;
  const many = (one: Buffer): Buffer =>
    Buffer.concat(Array.from({ length: Math.ceil(1e6 / one.length) }, () => one));
  const servers: Readonly<Record<string, Parameters<typeof serveEndless>[0]>> = {
    "rows of a kilobyte": { first: columns(1), again: many(row("x".repeat(1_000))) },
    "rows without content": { first: columns(0), again: many(row()) },
    "rows of many columns": {
      first: columns(150),
      again: many(row(...Array.from({ length: 150 }, () => ""))),
    },
    "results of many columns": { again: many(columns(30_000)) },
    "one row of 500 MB": {
      first: Buffer.concat([columns(1), head("D", 5e8), Buffer.from([0, 1]), head("x", 4.9e8).subarray(1)]),
      again: rest,
    },
    "the longest row": {
      first: Buffer.concat([
        columns(1),
        head("D", 6.3e7),
        Buffer.from([0, 1]),
        head("x", 6.3e7 - 10).subarray(1),
      ]),
      again: rest,
    },
    "an error": { first: Buffer.concat([head("E", announced), Buffer.from("SFATAL\0M")]), again: rest },
    notices: { again: many(message("N", `SNOTICE\0M${"x".repeat(1_000)}\0\0`)) },
    "the end of answers": { again: many(ready) },
    "a message before the login": { login: false, first: head("R", announced), again: rest },
    "an error before the login": {
      login: false,
      first: Buffer.concat([head("E", announced), Buffer.from("SFATAL\0M")]),
      again: rest,
    },
    "settings before the login": { login: false, again: many(message("S", "name\0value\0")) },
    "login after login": { login: false, again: many(message("R", 10, "SCRAM-SHA-256\0\0")) },
    "suspended rows": { first: columns(1), again: many(Buffer.concat([row("x"), message("s")])) },
    "a web page": { login: false, again: Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n${endless}`) },
  };

  for (const [what, options] of Object.entries(servers)) {
    it(`does not fill the memory: ${what}`, async () => {
      const server = await serveEndless(options);
      try {
        const client = fork(program, [server.url], { execArgv: ["--max-old-space-size=1024"] });
        const messages: Told[] = [];
        client.on("message", (said) => messages.push(said as Told));
        await once(client, "exit");
        const [told] = messages;
        assert.ok(told !== undefined, "the process was ended, as its memory was full");
        assert.match(told.sentence, /^postgres(?:Long|Protocol)$/, told.message);
        assert.ok(told.grownMb < mostGrownMb, `${told.grownMb} MB`);
      } finally {
        server.close();
      }
    });
  }
});

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
