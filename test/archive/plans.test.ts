import assert from "node:assert/strict";
import { PackageIndex } from "../../src/vault/packages/package-index.ts";
import { describeDatabases } from "../database/databases.ts";
import type { Statement } from "../../src/database/database.ts";
import { withFolder } from "../media/support.ts";
import { noting, stepsOf } from "../database/plans.ts";
import type { TestDatabase } from "../database/support.ts";
import { databaseOf, newDatabases, storeIn } from "./store.ts";
import { openArchive } from "./support.ts";

/** As many as make an index the faster way, also for a planner that knows how many there are. */
const packages = 20_000;

/** As databases call a step that reads a whole table, and PostgreSQL what it looks at in each row. */
const readsAll =
  /^SCAN (jobs|packages|records)\b|Seq Scan on (jobs|packages|records)|Anti Join|Filter: .*SubPlan/;
/** An index of open jobs only, and the end of one of packages. */
const readsLittle = /INDEX (jobs_open|jobs_worker|packages_archived)$/;
const isSlow = (step: string): boolean => readsAll.test(step) && !readsLittle.test(step);

describeDatabases("archive: what reads a large index", (open) => {
  let test: TestDatabase;

  before(async () => {
    test = await open();
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${packages})
          INSERT INTO packages (package_id, job_key, measure_key, store_id, location, manifest_sha256,
            supplements_sha256, archived_at, complete, files, bytes)
          SELECT 'p' || i, 'key ' || i, 'measure ' || i, CASE WHEN i <= 10000 THEN 'earlier' ELSE 'worker' END, '2026/' || i, 'sha ' || i,
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
    assert.deepEqual(steps.filter(isSlow), [], plan);
    for (const name of ["packages_key", "packages_measure", "packages_supplements"]) {
      assert.ok(plan.includes(name), `${name}\n${plan}`);
    }
  });
});

describe("archive: what an archive reads of an embedded database when it is opened", () => {
  it("is no whole table of jobs, packages or records", () =>
    withFolder(async (root) => {
      const given: Statement[] = [];
      const databases = newDatabases();
      const open: typeof databases.open = async (location) => {
        const connection = await databases.open(location);
        return { ...connection, database: noting(connection.database, given) };
      };
      await (await openArchive(root, undefined, { store: storeIn(root, { open }) })).close();
      const { database, release } = await databases.open({ kind: "file", file: databaseOf(root) });
      const plans = await database.transaction(
        given.map(({ sql, values = [] }) => ({ sql: `EXPLAIN QUERY PLAN ${sql}`, values })),
      );
      await release();
      const asked = plans.flatMap((rows, at) =>
        rows.map((row) => ({ step: String(row["detail"]), sql: given[at]?.sql })),
      );
      assert.deepEqual(
        asked.filter(({ step }) => isSlow(step)),
        [],
      );
      assert.ok(
        asked.some(({ step }) => /^SEARCH jobs USING.* INDEX jobs_worker \(worker_id=\?\)/.test(step)),
      );
    }));
});
