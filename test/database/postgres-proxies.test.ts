import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase, type PostgresOptions } from "../../src/database/postgres-database.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { databaseNameIn, emptyPostgresOptions, postgresOptions } from "./databases.ts";
import { type PostgresProxy, startPostgresProxy } from "./postgres-proxy.ts";

describe("a PostgreSQL database behind something else", () => {
  let server: PostgresServer;
  let options: PostgresOptions;
  let proxy: PostgresProxy;
  let database: PostgresDatabase | undefined;

  before(async () => {
    server = await sharedPostgres();
  });
  beforeEach(async () => {
    options = await postgresOptions();
  });
  afterEach(async () => {
    await database?.close();
    proxy.close();
  });

  async function open(more: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> {
    const { url } = options.address;
    const address = readPostgresUrl(url.replace(`:${server.port}/`, `:${proxy.port}/`));
    database = await PostgresDatabase.open({ ...options, address, ...more });
    return database;
  }
  const insert = { sql: "INSERT INTO store (store_id, created_at) VALUES (?, '')", values: ["one"] };
  const stored = async (): Promise<number> =>
    (await server.run("SELECT 1 FROM dimensioner.store", databaseNameIn(options.address))).length;

  for (const [what, statements] of Object.entries({
    "a statement": [insert],
    "a transaction of several": [insert, { sql: "SELECT store_id FROM store" }],
  })) {
    it(`is not asked again on a connection on which ${what} was refused because the server only copies another one`, async () => {
      proxy = await startPostgresProxy(server.port);
      const worker = await open();
      proxy.demote();
      await assert.rejects(worker.transaction(statements), { code: "ERR_STORE", message: /read-only/ });
      assert.equal(await stored(), 0);
      await worker.transaction(statements);
      assert.equal(await stored(), 1);
    });
  }

  it("keeps a connection on which values were refused", async () => {
    proxy = await startPostgresProxy(server.port);
    const worker = await open({ poolSize: 1 });
    const connection = async () => worker.transaction([{ sql: "SELECT pg_backend_pid() AS pid" }]);
    const before = await connection();
    for (const sql of ["INSERT INTO store (store_id) VALUES ('no time')", "SELECT 1 / 0"]) {
      await assert.rejects(worker.transaction([{ sql }]), { code: "ERR_STORE" });
    }
    assert.deepEqual(await connection(), before);
  });

  describe("that drops the settings of a session", () => {
    /** A user with the password of the tests and settings of its own, to whom the database belongs. */
    async function addressOf(
      user: string,
      settings: readonly string[],
    ): Promise<Pick<PostgresOptions, "address">> {
      const name = databaseNameIn(options.address);
      await server.run(`CREATE ROLE ${user} LOGIN PASSWORD '${server.admin.password}'`);
      await server.run(`ALTER DATABASE ${name} OWNER TO ${user}`);
      for (const setting of settings) {
        await server.run(`ALTER ROLE ${user} SET ${setting}`);
      }
      return { address: readPostgresUrl(`postgres://${user}@127.0.0.1:${proxy.port}/${name}`) };
    }
    beforeEach(async () => {
      options = await emptyPostgresOptions();
      proxy = await startPostgresProxy(server.port, { dropsSettings: true });
    });

    it("is refused, also if only its schema arrives in another way, and nothing is made there", async () => {
      const needed =
        "default_transaction_isolation = 'serializable', idle_in_transaction_session_timeout = '30s'";
      for (const [user, settings, said] of [
        ["pooled", [], `${needed}, search_path = dimensioner`],
        ["half_pooled", ["search_path = dimensioner"], `: ${needed}, statement_timeout`],
      ] as const) {
        await assert.rejects(open(await addressOf(user, settings)), (error: unknown) => {
          assert.ok(isDimensionerError(error));
          assert.deepEqual([error.code, error.sentence], ["ERR_STORE", "postgresSettings"]);
          assert.ok(error.message.includes(said), error.message);
          return true;
        });
      }
      const made = "SELECT 1 FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
      assert.deepEqual(await server.run(made, databaseNameIn(options.address)), []);
    });

    it("works with the settings that the documentation names for its user", async () => {
      const page = await readFile(new URL("../../docs/fleet.md", import.meta.url), "utf8");
      const settings = [...page.matchAll(/^ALTER ROLE dimensioner SET (.*);$/gm)].map(([, one = ""]) => one);
      assert.equal(settings.length, 4);
      const address = await addressOf("set_up", settings);
      const worker = await open(address);
      assert.equal(worker.isNew, true);
      const setting = { sql: "SELECT current_setting('transaction_isolation') AS level" };
      assert.deepEqual(await worker.transaction([setting]), [[{ level: "serializable" }]]);
      await worker.close();
      await open({ ...address, access: "look" });
    });
  });
});
