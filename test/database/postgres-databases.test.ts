import assert from "node:assert/strict";
import { createServer } from "node:net";
import { Inbox } from "../../src/database/inbox.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { type StoreConnection, StoreDatabases } from "../../src/database/store-databases.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { Store } from "../../src/vault/store.ts";
import { listen } from "../support/servers.ts";
import { postgresOptions } from "./databases.ts";

describe("the databases of stores on a PostgreSQL server", () => {
  it("keeps a database open until the last of its users has released it, and all are one worker", async () => {
    const { address } = await postgresOptions();
    const location = { kind: "postgres", address } as const;
    const databases = new StoreDatabases();
    const store = new Store(location, { kind: "folder", path: "packages" }, databases);
    const [one, two] = await Promise.all([store.connect(), store.connect()]);
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

  it("is the same worker after a deploy, and nobody takes its records meanwhile", async () => {
    const { address } = await postgresOptions();
    const location = { kind: "postgres", address } as const;
    const [deployed, other] = [new StoreDatabases(), new StoreDatabases()];
    const [before, second] = [await deployed.open(location), await other.open(location)];
    assert.notEqual(before.worker.id, second.worker.id);
    const inboxOf = ({ database, worker }: StoreConnection) =>
      new Inbox(database, { nodeId: "in", runId: worker.id, worker });
    await inboxOf(before).add(decodeTransactionRecord({ id: 1, errorCode: 0 }), 0);
    await before.release();
    assert.equal(await inboxOf(second).takeOver(), 0);
    const after = await deployed.open(location);
    assert.equal(after.worker.id, before.worker.id);
    assert.equal((await inboxOf(after).unsent(0, 10)).records.length, 1);

    // A deploy that takes longer than the lease: it is the same worker again, without the record that another one has taken.
    await after.release();
    const sql = "UPDATE workers SET lease_until = '' WHERE worker_id = ?";
    await second.database.transaction([{ sql, values: [before.worker.id] }]);
    assert.equal(await inboxOf(second).takeOver(), 1);
    const late = await deployed.open(location);
    assert.equal(late.worker.id, before.worker.id);
    assert.equal((await inboxOf(late).unsent(0, 10)).records.length, 0);
    await inboxOf(late).sent([1]);
    assert.equal((await inboxOf(second).unsent(0, 10)).records.length, 1);
    assert.equal(await inboxOf(second).takeOver(), 0);
    await Promise.all([late.release(), second.release()]);
  });

  it("gives up a server that does not respond, with a sentence about the server", async () => {
    const server = createServer();
    const port = await listen(server);
    try {
      const address = readPostgresUrl(`postgres://somebody@127.0.0.1:${port}/warehouse`);
      const databases = new StoreDatabases({ openWithinMs: 100, postgres: { connectWithinMs: 1_000 } });
      await assert.rejects(databases.open({ kind: "postgres", address }), {
        code: "ERR_STORE",
        sentence: "postgresUnanswered",
        message: /not responded for 0\.1 s\. (?!.*disk)/,
      });
    } finally {
      server.close();
    }
  });
});
