import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { ToolThread } from "../../../src/database/tool-database.ts";
import { LogReplay, replaySchema } from "../../../src/vault/log/replay.ts";
import { plainDisk } from "../../../src/vault/archive-disk.ts";

describe("the replay of a log", () => {
  it("finds each line by its number, however many there are", async () => {
    const thread = new ToolThread();
    const database = await thread.open({ as: "temporary", file: tmpdir() });
    try {
      await database.transaction(replaySchema.map((sql) => ({ sql })));
      await database.transaction([
        {
          sql: `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
            INSERT INTO lines SELECT 'store', i, 'line ' || i FROM n`,
        },
      ]);
      const steps: string[] = [];
      const replay = new LogReplay("/archive", "store", plainDisk, {
        select: async (sql, values) => {
          const plan = await database.select(`EXPLAIN QUERY PLAN ${sql}`, values);
          steps.push(...plan.map(({ detail }) => String(detail)).filter((step) => step.includes(" lines ")));
          return database.select(sql, values);
        },
        transaction: (statements) => database.transaction(statements),
      });
      const given = [
        { n: 7, line: "line 7" },
        { n: 8, line: "another" },
        { n: 1_000, line: "line 1000" },
      ];
      assert.deepEqual(await replay.differing(given), [8]);
      assert.deepEqual(await replay.lacking([7, 1_000]), [1_000]);
      assert.ok(steps.length >= 2);
      assert.deepEqual(
        steps.filter((step) => !step.includes("n=?")),
        [],
        "a step reads all lines of a store",
      );
    } finally {
      await database.close();
      await thread.close();
    }
  });
});
