import assert from "node:assert/strict";
import { type LogLine, LogTable } from "../../src/database/log-table.ts";
import { describeDatabases } from "./databases.ts";
import { statementsOf, stepsOf } from "./plans.ts";
import type { TestDatabase } from "./support.ts";

const [lines, writers] = [5_000, 300];

describeDatabases("log: lines that others have left", (open) => {
  let test: TestDatabase;

  beforeEach(async () => {
    test = await open();
    const numbers = (to: number): string =>
      `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ${to - 1})`;
    await test.database.transaction([
      {
        sql: `${numbers(lines)} INSERT INTO log (n, what, writer, line)
          SELECT n, 'archived', CASE n WHEN 4500 THEN 'killed' WHEN 4600 THEN 'working' ELSE 'own' END, 'line ' || n FROM i`,
      },
      {
        sql: `${numbers(writers)} INSERT INTO log_writers (writer, published) SELECT 'prune-' || n, 3000 + n FROM i`,
      },
      { sql: "INSERT INTO log_writers (writer, published) VALUES ('killed', 4500), ('working', 4600)" },
      {
        sql: `INSERT INTO workers (worker_id, host, begun_at, lease_until)
          VALUES ('working', 'dock', '2026-11-02', '2999-01-01T00:00:00.000Z')`,
      },
      { sql: `UPDATE log_head SET size = ${lines}` },
      { sql: "ANALYZE" },
    ]);
  });
  afterEach(() => test.close());

  it("cost what was written since the last time, however many tools have ever written", async () => {
    const written: LogLine[] = [];
    const publish = (database: TestDatabase["database"]): Promise<void> =>
      new LogTable(database, "store", "own").publishLeft(async (_writer, some) => {
        written.push(...some);
      });
    const first = await statementsOf(test, publish);
    assert.deepEqual(
      written.map(({ n }) => n),
      [4_500],
    );
    assert.ok(first.length < 10, `${first.length} statements for ${writers} writers`);
    const [left] = await test.database.transaction([
      { sql: "SELECT writer, published FROM log_writers WHERE published < 5000" },
    ]);
    assert.deepEqual(left, [{ writer: "working", published: 4_600 }], "a worker at work has its own");
    const again = await statementsOf(test, publish);
    assert.deepEqual([written.length, again.length < 10], [1, true]);
    const steps = await stepsOf(test, publish);
    assert.deepEqual(
      steps.filter((step) => /^SCAN log\b(?!_)|Seq Scan on log\b(?!_)/.test(step)),
      [],
      steps.join("\n"),
    );
  });
});
