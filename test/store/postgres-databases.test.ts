import assert from "node:assert/strict";
import { createServer } from "node:net";
import { readPostgresUrl } from "../../src/store/postgres-address.ts";
import { Store } from "../../src/store/store.ts";
import { StoreDatabases } from "../../src/store/store-databases.ts";
import { listen } from "../support/servers.ts";
import { postgresOptions } from "./databases.ts";

describe("the databases of stores on a PostgreSQL server", () => {
  it("keeps a database open until the last of its users has released it, and all are one worker", async () => {
    const { address } = await postgresOptions();
    const location = { kind: "postgres", address } as const;
    const databases = new StoreDatabases();
    const store = new Store(location, { path: "packages" }, databases);
    const [one, two] = await Promise.all([store.lease(), store.lease()]);
    const workers = [{ sql: "SELECT worker_id FROM workers" }];
    assert.deepEqual(
      [one.worker, one.worker.isAlone, await one.database.transaction(workers)],
      [two.worker, false, [[{ worker_id: one.worker.id }]]],
    );
    await Promise.all([one.release(), one.release()]);
    await two.database.transaction(workers);
    await two.release();
    await assert.rejects(two.database.transaction(workers), { code: "ERR_STORE", sentence: "storeClosed" });
  });

  it("opens a database again while it is being closed", async () => {
    const { address } = await postgresOptions();
    const databases = new StoreDatabases();
    const first = await databases.open({ kind: "postgres", address });
    const released = first.release();
    const again = await databases.open({ kind: "postgres", address });
    await again.database.transaction([{ sql: "SELECT 1" }]);
    await released;
    await again.release();
  });

  it("gives up a server that does not respond, with a sentence about the server", async () => {
    const server = createServer();
    const port = await listen(server);
    try {
      const address = readPostgresUrl(`postgres://somebody@127.0.0.1:${port}/warehouse`);
      const databases = new StoreDatabases({ openWithinMs: 100, postgres: { connectWithinMs: 1_000 } });
      await assert.rejects(databases.open({ kind: "postgres", address }), {
        code: "ERR_STORE",
        sentence: "postgresUnreachable",
        message: /no response within 0\.1 s/,
      });
    } finally {
      server.close();
    }
  });
});
