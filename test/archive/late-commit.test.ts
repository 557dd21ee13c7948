import assert from "node:assert/strict";
import { AbandonedJobs, JobTable } from "../../src/jobs/job-rows.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { databaseNameIn, postgresOptions } from "../database/databases.ts";
import { ImpatientDatabase } from "../database/impatient-database.ts";
import { holdCommits, makeWait, untilHeldUp } from "../database/late-commits.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { intentOf } from "./support.ts";

/** The jobs of this node are committed late, as while a standby server is away that has to confirm each transaction. */
const lateNode = "late";
const prepare = `
  ${makeWait}
  CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE OF worker_id ON dimensioner.jobs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.node_id = '${lateNode}') EXECUTE FUNCTION dimensioner.wait()`;

describe("a job that PostgreSQL commits after its client has given up", () => {
  let database: PostgresDatabase;
  /** The same one for a client that gives up. */
  let impatient: ImpatientDatabase;
  let name: string;

  beforeEach(async () => {
    const options = await postgresOptions();
    name = databaseNameIn(options.address);
    database = await PostgresDatabase.open(options);
    impatient = new ImpatientDatabase(database);
    await (await sharedPostgres()).run(prepare, name);
  });
  afterEach(() => database.close());

  const accept = (id: string, node = lateNode) =>
    new JobTable(impatient, "worker").accept({ id, node, key: null, intent: intentOf(id), items: new Map() });
  const query = async (sql: string) => (await database.transaction([{ sql }]))[0] ?? [];

  it("is withdrawn then", async () => {
    const server = await sharedPostgres();
    const commit = await holdCommits(name);
    const accepted = accept("job");
    await untilHeldUp(name);
    impatient.giveUp("INSERT INTO jobs");
    await assert.rejects(accepted, { code: "ERR_STORE" });
    const withdrawn = new JobTable(database, "worker").withdraw("job", null);
    // It waits for the commit, whose outcome it cannot know before.
    const waits = server.until(
      `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND wait_event = 'transactionid'`,
    );
    await Promise.race([withdrawn, waits]);
    await commit();
    await withdrawn;
    assert.deepEqual(await query("SELECT job_id FROM jobs"), []);
  });

  it("is found if it was taken over from another worker, though it was looked for in vain", async () => {
    await accept("job");
    await query("INSERT INTO workers VALUES ('worker', '', '', '')");
    const commit = await holdCommits(name);
    const jobs = new AbandonedJobs(impatient, "other", () => false);
    const take = async () => (await jobs.take({ node: lateNode, isMine: () => false }, 50)).jobs;
    const taken = take();
    await untilHeldUp(name);
    impatient.giveUp("UPDATE jobs");
    await assert.rejects(taken, { code: "ERR_STORE" });
    assert.deepEqual(await take(), []);
    await commit();
    while ((await query("SELECT job_id FROM jobs WHERE worker_id = 'other'")).length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await inAMinute(async () =>
      assert.deepEqual(
        (await take()).map(({ id }) => id),
        ["job"],
      ),
    );
  });
});

/** Does something as if a minute had passed. */
async function inAMinute(act: () => Promise<void>): Promise<void> {
  const now = performance.now.bind(performance);
  performance.now = () => now() + 60_000;
  try {
    await act();
  } finally {
    performance.now = now;
  }
}
