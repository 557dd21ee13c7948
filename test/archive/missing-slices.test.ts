import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Statement } from "../../src/database/database.ts";
import { listMissing } from "../../src/evidence/missing.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { describeDatabases } from "../database/databases.ts";
import { noting } from "../database/plans.ts";
import type { TestDatabase } from "../database/support.ts";

/** One in 4,000 is missing; two at a time have the same time. */
const rows = 16_000;
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
const period = { from: "time 0", to: "time 9" };
const timeOf = "'time ' || (100000 + i / 2)";

describeDatabases("archive: what is missing of a long period", (open) => {
  let test: TestDatabase;
  let root: string;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "missing-"));
    test = await open();
    await test.database.transaction([
      {
        sql: `INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256)
          ${numbers} SELECT 'node', 'id ' || i, ${timeOf}, '', '', '' FROM n`,
      },
      {
        sql: `INSERT INTO packages (package_id, job_key, measure_key, location, manifest_sha256, transaction_id, archived_at, complete,
            files, bytes)
          ${numbers} SELECT 'p' || i, 'key ' || i, 'measure ' || i, 'at ' || i, 'sha ' || i, 'id ' || i, ${timeOf},
            CASE WHEN i % 8000 = 4000 THEN 0 ELSE 1 END, 1, 1 FROM n WHERE i % 8000 <> 0`,
      },
      {
        // Those that have failed have a complete package, and nothing says that they had more than that.
        sql: `INSERT INTO jobs (job_id, node_id, job_key, state, accepted_at, changed_at, transaction_id, intent,
            intent_sha256)
          ${numbers} SELECT 'job ' || i, 'node', 'key ' || i, CASE WHEN i % 50 = 1 THEN 'failed' ELSE 'reported' END,
            ${timeOf}, '', 'id ' || i, '', '' FROM n`,
      },
      {
        sql: `INSERT INTO job_media (job_id, slot, path, source, bytes, sha256)
          ${numbers} SELECT 'job ' || i, 'slot', '', 'cloud', 1, 'media ' || i FROM n`,
      },
      { sql: "ANALYZE" },
    ]);
  });
  after(async () => {
    await test.close();
    await rm(root, { recursive: true });
  });

  const list = async (limit: number) => {
    const given: Statement[] = [];
    const database = noting(test.database, given);
    const found = await listMissing({ database, vault: new FolderVault(root, plainDisk) }, period, limit);
    return {
      found: found.map(({ reason, transactionId }) => `${reason} ${transactionId}`),
      lists: given.filter(({ sql }) => sql.includes("NOT EXISTS")),
      ofMedia: given.filter(({ sql }) => sql.includes("job_media m")),
    };
  };

  it("is found in slices, none of which looks at very many rows", async () => {
    const { found, lists } = await list(100);
    assert.deepEqual(found, [
      "notArchived id 16000",
      "incomplete id 12000",
      "notArchived id 8000",
      "incomplete id 4000",
    ]);
    const looked: number[] = [];
    for (const { values = [] } of lists.filter((one) => one.sql.includes("FROM records"))) {
      const [counted] = await test.database.transaction([
        {
          sql: "SELECT count(*) AS count FROM records WHERE received_at >= ? AND received_at < ?",
          values: values.slice(0, 2),
        },
      ]);
      looked.push(Number(counted?.[0]?.["count"]));
    }
    assert.equal(
      looked.reduce((sum, count) => sum + count),
      rows,
      "each is looked at once",
    );
    assert.ok(Math.max(...looked) <= 5_001, looked.join());
  });

  it("is read no further than it is wanted", async () => {
    const { found, lists } = await list(1);
    assert.deepEqual(found, ["notArchived id 16000"]);
    const oldest = lists.filter(({ sql }) => sql.includes("FROM records")).map(({ values }) => values?.[0]);
    assert.ok(
      oldest.every((from) => from !== period.from),
      oldest.join(),
    );
  });

  it("is no failed job with a complete package, each of which is looked up by an index", async () => {
    const { lists } = await list(100);
    const steps = await test.explain(lists.filter(({ sql }) => sql.includes("FROM jobs j\n")));
    const plan = steps.join("\n");
    assert.doesNotMatch(plan, /SCAN (jobs|packages)|Seq Scan on (jobs|packages)/);
    for (const index of ["jobs_accepted", "packages_transaction_lower", "packages_key", "packages_measure"]) {
      assert.ok(plan.includes(index), `${index}\n${plan}`);
    }
  });

  it("is no failed job without media, nor one with media that are looked up in all jobs", async () => {
    const { ofMedia } = await list(100);
    const plan = (await test.explain(ofMedia)).join("\n");
    assert.doesNotMatch(plan, /SCAN (j|jobs|m)\b|Seq Scan on (jobs|job_media)/);
    assert.match(plan, /jobs_(accepted|ended)/);
  });

  it("is asked of the index of incomplete packages, however many are complete", async () => {
    const { lists } = await list(1);
    const steps = await test.explain(lists.filter(({ sql }) => sql.includes("p.complete = 0")));
    assert.ok(
      steps.some((step) => step.includes("packages_incomplete")),
      steps.join("\n"),
    );
  });
});
