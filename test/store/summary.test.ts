import assert from "node:assert/strict";
import { migrations } from "../../src/store/schema.ts";
import { summarize } from "../../src/store/summary.ts";
import { openTestDatabase } from "./support.ts";

describe("the summary of a store", () => {
  it("says which SQLite and schema it has, how large it is, and what is not finished", async () => {
    const test = await openTestDatabase();
    try {
      const insert = `INSERT INTO jobs (job_id, node_id, state, accepted_at, changed_at, transaction_id, intent, intent_sha256)
        VALUES (?, 'node', ?, ?, '', '', '', '')`;
      const states = ["reported", "accepted", "collecting", "sealing", "archived", "failed"];
      await test.database.transaction([
        ...states.map((state, day) => ({ sql: insert, values: [state, state, `2026-11-2${day}`] })),
        {
          sql: `INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256, handled_at)
            VALUES ('node', '1', '', '', '', '', NULL), ('node', '2', '', '', '', '', 'now')`,
        },
      ]);
      const { sqliteVersion, bytes, ...rest } = await summarize(test.database);
      assert.match(sqliteVersion, /^3\.\d+\.\d+$/);
      assert.ok(bytes >= 4_096 && bytes % 4_096 === 0);
      assert.deepEqual(rest, {
        schemaVersion: migrations.length,
        openJobs: 4,
        oldestJobAt: "2026-11-21",
        unhandledRecords: 1,
      });
    } finally {
      await test.close();
    }
  });
});
