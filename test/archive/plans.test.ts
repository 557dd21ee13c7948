import assert from "node:assert/strict";
import { PackageIndex } from "../../src/archive/packages/package-index.ts";
import { describeDatabases } from "../store/databases.ts";
import { stepsOf } from "../store/plans.ts";
import type { TestDatabase } from "../store/support.ts";

/** As many as make an index the faster way, also for a planner that knows how many there are. */
const packages = 20_000;

/** As databases call a step that reads a whole table, and PostgreSQL what it looks at in each row. */
const readsAll =
  /^SCAN (jobs|packages|records)\b|Seq Scan on (jobs|packages|records)|Anti Join|Filter: .*SubPlan/;

describeDatabases("archive: what reads a large index", (open) => {
  let test: TestDatabase;

  before(async () => {
    test = await open();
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${packages})
          INSERT INTO packages (package_id, job_key, measure_key, store_id, location, manifest_sha256, previous_sha256,
            supplements_sha256, archived_at, complete, files, bytes)
          SELECT 'p' || i, 'key ' || i, 'measure ' || i, 'worker', '2026/' || i, 'sha ' || i, 'sha ' || (i - 1),
            CASE WHEN i % 100 = 0 THEN 'sha ' || (i - 1) ELSE NULL END, 'time ' || (100000 + i), 1, 1, 1
          FROM n`,
      },
      { sql: "ANALYZE" },
    ]);
  });
  after(() => test.close());

  it("a job asks indexes for the packages of its keys", async () => {
    const steps = await stepsOf(test, async (database) => {
      const found = await new PackageIndex(database).ofKeys(["key 99", "measure 199"]);
      assert.deepEqual(
        found.map(({ id }) => id),
        ["p99", "p100", "p199", "p200"],
      );
    });
    const plan = steps.join("\n");
    assert.deepEqual(
      steps.filter((step) => readsAll.test(step)),
      [],
      plan,
    );
    for (const name of ["packages_key", "packages_measure", "packages_supplements"]) {
      assert.ok(plan.includes(name), `${name}\n${plan}`);
    }
  });
});
