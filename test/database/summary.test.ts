import assert from "node:assert/strict";
import { oldestVersion } from "../../src/database/postgres-connection.ts";
import { migrations } from "../../src/database/schema.ts";
import { SharedDatabase } from "../../src/database/store-databases.ts";
import { summarize } from "../../src/database/summary.ts";
import { postgresOptions } from "./databases.ts";
import { type TestDatabase, openTestDatabase } from "./support.ts";

describe("the summary of a store", () => {
  async function addUnfinished({ database }: Pick<TestDatabase, "database">): Promise<void> {
    const insert = `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, transaction_id, intent, intent_sha256)
      VALUES (?, 'node', ?, ?, '', '', '', '')`;
    const states = ["reported", "accepted", "collecting", "sealing", "archived", "failed"];
    await database.transaction([
      ...states.map((state, day) => ({ sql: insert, values: [state, state, `2026-11-2${day}`] })),
      {
        sql: `INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256, handled_at)
          VALUES ('node', '1', '', '', '', '', NULL), ('node', '2', '', '', '', '', 'now')`,
      },
    ]);
  }
  const unfinished = {
    schemaVersion: migrations.length,
    openJobs: 4,
    oldestJobAt: "2026-11-21",
    unhandledRecords: 1,
  };

  it("says which SQLite and schema it has, how large it is, and what is not finished", async () => {
    const test = await openTestDatabase();
    try {
      await addUnfinished(test);
      const { version, bytes, ...rest } = await summarize(test.database, "file");
      assert.match(version, /^3\.\d+\.\d+$/);
      assert.ok(bytes >= 4_096 && bytes % 4_096 === 0);
      assert.deepEqual(rest, { ...unfinished, workers: null });
    } finally {
      await test.close();
    }
  });

  it("says which PostgreSQL it has, how large its tables are, and how many work on it now", async () => {
    // One that is closed has ended its lease, however long that takes, and no other lease ends.
    const leases = { leaseSeconds: 3_600, closedLeaseSeconds: 0, closeWithinMs: 60_000 };
    const options = { ...(await postgresOptions()), ...leases };
    const database = await SharedDatabase.open(options);
    const other = await SharedDatabase.open(options);
    try {
      await addUnfinished({ database });
      const { version, bytes, ...rest } = await summarize(database, "postgres");
      assert.ok(Number.parseInt(version, 10) >= oldestVersion, version);
      assert.match(version, /^[\d.]+$/);
      assert.ok(bytes >= 8_192 && bytes % 8_192 === 0, `${bytes} bytes`);
      assert.deepEqual(rest, { ...unfinished, workers: 2 });
      await other.close();
      assert.equal((await summarize(database, "postgres")).workers, 1);
    } finally {
      await Promise.all([database.close(), other.close()]);
    }
  });
});
