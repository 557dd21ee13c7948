import assert from "node:assert/strict";
import { readPostgresUrl } from "../../src/store/postgres-address.ts";
import { PostgresDatabase, type PostgresOptions } from "../../src/store/postgres-database.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { databaseNameIn, postgresOptions } from "./databases.ts";
import { startPostgresProxy, type PostgresProxy } from "./postgres-proxy.ts";

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
});
