import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  situationStatements,
  noteSearch,
  removeOldMeasurements,
  type Candidate,
  type MeasurementSearch,
  TransactionFinder,
} from "../../../src/jobs/transactions.ts";
import { noteTransaction } from "../../../src/vault/packages/package-keys.ts";
import { JobTable } from "../../../src/jobs/job-rows.ts";
import { Inbox, RecordArrivals } from "../../../src/database/inbox.ts";
import { describeDatabases } from "../../database/databases.ts";
import { type TestDatabase } from "../../database/support.ts";
import { at, box, measured, received, tag } from "./support.ts";

const guid = "5F1C0D3E-0000-4000-8000-000000000001";
const tagged = measured("A", 0, { tag, customReference2: tag });

describeDatabases("the finder of transactions", (openDatabase) => {
  let test: TestDatabase;
  let arrivals: RecordArrivals;
  let finder: TransactionFinder;
  let now: Date;

  const open = (): void => {
    arrivals = new RecordArrivals();
    finder = new TransactionFinder({ database: test.database, arrivals, now: () => now });
  };
  beforeEach(async () => {
    test = await openDatabase();
    now = at(0);
    open();
  });
  afterEach(() => test.close());

  const inbox = (nodeId = "node", isOwn = true) => {
    const own = isOwn ? { arrivals } : {};
    return new Inbox(test.database, { nodeId, runId: "run", now: () => now, ...own });
  };
  async function post({ record, receivedAt }: Candidate, nodeId = "node"): Promise<void> {
    now = receivedAt;
    assert.notEqual(await inbox(nodeId).add(record, 0), null);
  }
  const job = (key: string, name = `job ${key}`) => ({ key, job: name, acceptedAt: at(0) });
  /** What a job's row has to be for its measurement to count. */
  const insertJob = (name: string, steadyMs: number | null = null) => ({
    sql: `INSERT INTO jobs
        (job_id, node_id, state, accepted_at, changed_at, transaction_id, intent, intent_sha256, worker_id,
          steady_clock, accepted_steady_ms)
      VALUES (?, 'node', 'accepted', '', '', '', '', '', 'worker', 'start', ?)`,
    values: [name, steadyMs],
  });
  async function accept({ key, local }: MeasurementSearch, name = `job ${key}`): Promise<void> {
    await test.database.transaction([insertJob(name), noteSearch(job(key, name), local)]);
  }
  async function end(name: string, state: "reported" | "failed"): Promise<void> {
    await test.database.transaction([
      { sql: "UPDATE jobs SET state = ? WHERE job_id = ?", values: [state, name] },
    ]);
  }
  const look = ({ key, local }: MeasurementSearch) => finder.find({ ...job(key), local });
  const claimed = async (statement: Parameters<typeof test.database.transaction>[0][0]): Promise<boolean> => {
    const [rows = []] = await test.database.transaction([statement]);
    return rows.length > 0;
  };
  /** Looks, and takes what is found. The transaction's id, or the key of the phrase that says what is missing. */
  async function take(sought: MeasurementSearch): Promise<string> {
    const found = await look(sought);
    if ("missing" in found) {
      assert.ok("phrase" in found.missing);
      return found.missing.phrase.replace("phrases.", "");
    }
    return (await claimed(found.claim)) ? found.transactionId : "taken";
  }

  it("finds the record by its tag at once, and writes its id as the cloud does", async () => {
    await accept(tagged);
    assert.equal(await take(tagged), "recordMissing");
    await post(received(guid, 0.4, { customReference2: tag }));
    assert.equal(await take(tagged), guid);
  });

  it("compares whole references, although an index can hold only the beginning of a long one", async () => {
    const long = randomBytes(3_000).toString("base64");
    const transactionReference = `${long}, mine`;
    const sought = measured("A", 0, { transactionReference });
    await accept(sought);
    await post(received("1", 3, { transactionReference: `${long}, other` }));
    now = at(60);
    assert.notEqual(await take(sought), "1");
    await post(received("2", 4, { transactionReference }));
    now = at(90);
    assert.equal(await take(sought), "2");
  });

  it("gives a record without a tag time for another one like it", async () => {
    const sought = measured("A", 0);
    await accept(sought);
    await post(received("1", 3));
    const found = await look(sought);
    assert.deepEqual("settlesInMs" in found ? found.settlesInMs : null, 10_000);
    await post(received("2", 5));
    now = at(20);
    assert.equal(await take(sought), "recordsAlike");
  });

  it("takes a record without a tag after ten seconds, and one whose tag was lost after a minute", async () => {
    for (const [sought, seconds] of [
      [measured("A", 0), 10],
      [measured("B", 0, { transactionReference: "ORDER-2", tag, customReference2: tag }), 60],
    ] as const) {
      await accept(sought);
      const { transactionReference } = sought.local.references;
      await post(received(sought.key, 3, { transactionReference }));
      now = at(3 + seconds - 0.001);
      assert.equal(await take(sought), "recordMissing");
      now = at(3 + seconds);
      assert.equal(await take(sought), sought.key);
    }
  });

  it("does not wait for a clock that was put back", async () => {
    const sought = measured("A", 0);
    await accept(sought);
    await post(received("1", 3));
    now = at(-3600);
    assert.equal(await take(sought), "1");
  });

  it("says what kept it from finding a transaction", async () => {
    for (const [sought, record, expected] of [
      [measured("A", 0), received("1", 3, { transactionReference: "ORDER-9" }), "recordMissing"],
      [measured("B", 0), received("2", 3, { size: [40, 30, 20] }), "recordsOther"],
      [measured("C", 0, { transactionReference: null }), received("3", 3), "recordUnknown"],
    ] as const) {
      await accept(sought);
      await post(record);
      now = at(60);
      assert.equal(await take(sought), expected);
    }
  });

  it("gives a transaction to one measurement only, whichever of its records the other one sees", async () => {
    const [first, second] = [tagged, measured("B", 0, { tag, customReference2: tag })];
    await accept(first);
    await accept(second);
    await post(received(guid, 3, { legacyId: "905865", customReference2: tag }));
    const found = await look(second);
    assert.equal(await take(first), guid);
    assert.ok("claim" in found);
    assert.equal(await claimed(found.claim), false, "both had looked before either took it");
    await post(received("905865", 4, { customReference2: tag }), "another node");
    assert.equal(await take(second), "recordMissing", "in the other version of its ids");
    assert.equal(await take(first), guid, "it stays with the first");
  });

  it("gives a job its transaction and handles the record in one step, or neither", async () => {
    const second = measured("B", 0, { tag, customReference2: tag });
    await accept(tagged);
    await accept(second);
    await post(received(guid, 3, { customReference2: tag }));
    const [one, two] = [await look(tagged), await look(second)];
    assert.ok("claim" in one && "claim" in two);
    const give = (id: string, found: typeof one) =>
      new JobTable(test.database, "worker").found({ id, intent: { billable: null, scan: null } }, found);
    const sql = `SELECT jobs.transaction_id AS job, measurements.transaction_id AS measurement, handled_by AS record
      FROM jobs JOIN measurements USING (job_id) LEFT JOIN records ON handled_by = job_id
      WHERE jobs.transaction_id <> '' OR measurements.transaction_id IS NOT NULL OR handled_by IS NOT NULL`;
    const given = async () => (await test.database.transaction([{ sql }]))[0];

    // The record cannot be marked as handled without one of the columns.
    await test.database.transaction([{ sql: "ALTER TABLE records RENAME COLUMN scan TO other" }]);
    await assert.rejects(give("job A", one), { code: "ERR_STORE" });
    assert.deepEqual(await given(), []);
    await test.database.transaction([{ sql: "ALTER TABLE records RENAME COLUMN other TO scan" }]);

    assert.deepEqual([await give("job B", two), await give("job A", one)], [true, false]);
    assert.deepEqual(await given(), [{ job: guid, measurement: guid.toLowerCase(), record: "job B" }]);
    assert.equal(await give("job B", two), true, "a job that has noted it before");
  });

  it("gives a measurement that is archived again the same transaction, also when its record is gone", async () => {
    await accept(tagged);
    await post(received("905865", 3, { customReference2: tag }));
    assert.equal(await take(tagged), "905865");
    await end("job A", "failed");
    await accept(tagged, "job A again");
    assert.equal(await take(tagged), "905865");
    await test.database.transaction([{ sql: "DELETE FROM records" }]);
    assert.equal(await take(tagged), "905865");
  });

  it("leaves a transaction that the cloud has named to its measurement, before and after its record comes", async () => {
    const sought = measured("A", 0);
    await accept(sought);
    await test.database.transaction([
      noteTransaction(job("remote"), { transactionId: "905865", legacyId: null }),
    ]);
    await post(received(guid, 3, { legacyId: "905865" }));
    now = at(60);
    assert.equal(await take(sought), "recordMissing");
  });

  it("finds a record that another node has handled: its package is of the same transaction", async () => {
    await accept(tagged);
    await post(received("1", 3, { customReference2: tag }));
    assert.equal(await inbox().handled("1"), 1);
    assert.equal(await take(tagged), "1");
  });

  it("leaves out what an open job may need, and not what one that has ended would have needed", async () => {
    const [first, second] = [measured("A", 0), measured("B", 1)];
    await accept(first);
    await accept(second);
    await post(received("1", 3));
    now = at(60);
    assert.equal(await take(second), "recordContested");
    await end("job A", "failed");
    assert.equal(await take(second), "1");
  });

  it("goes on after a restart with what was there", async () => {
    const [first, second] = [measured("A", 0), measured("B", 1)];
    await accept(first);
    await accept(second);
    await post(received("1", 3));
    await test.reopen();
    open();
    now = at(60);
    assert.equal(await take(first), "recordContested");
    await post(received("2", 61, { size: box }));
    await test.reopen();
    open();
    now = at(120);
    assert.equal(await take(first), "recordsAlike");
  });

  it("does not take a record that is not what was written", async () => {
    await accept(tagged);
    await post(received("1", 3, { customReference2: tag }));
    await test.database.transaction([{ sql: "UPDATE records SET record = replace(record, '1.27', '1.26')" }]);
    assert.equal(await take(tagged), "recordMissing");
  });

  for (const [what, stepSeconds] of [
    ["3 s back", -3],
    ["an hour forward", 3600],
    ["400 days forward", 400 * 24 * 3600],
    ["400 days back", -400 * 24 * 3600],
  ] as const) {
    it(`finds the record if the clock was put ${what} since the job was accepted`, async () => {
      let ms = 500_000;
      const steady = () => ({ clock: "start", ms });
      finder = new TransactionFinder({ database: test.database, arrivals, now: () => now, steady });
      const sought = measured("A", 0);
      await test.database.transaction([insertJob("job A", 500_000), noteSearch(job("A"), sought.local)]);
      const postNow = async (id: string) => {
        const { record } = received(id, 0);
        const inbox = new Inbox(test.database, {
          nodeId: "node",
          runId: "run",
          now: () => now,
          steady,
          arrivals,
        });
        assert.notEqual(await inbox.add(record, 0), null);
      };
      now = at(2 + stepSeconds);
      ms += 2_000;
      await postNow("1");
      const found = await look(sought);
      assert.equal("settlesInMs" in found ? found.settlesInMs : null, 10_000, "another one may come");
      ms += 10_000;
      assert.equal(await take(sought), "1");
      ms += 3_600_000;
      now = at(30);
      await postNow("2");
      const later = measured("B", 0);
      await test.database.transaction([insertJob("job B", 500_000), noteSearch(job("B"), later.local)]);
      assert.equal(await take(later), "recordAfter", "more than an hour later, whatever the clock says");
    });
  }

  for (const [what, stepSeconds] of [
    ["3 s back", -3],
    ["an hour forward", 3600],
    ["400 days back", -400 * 24 * 3600],
  ] as const) {
    it(`finds the record if the clock was put ${what} between the measurement and its job, and takes none that may be another's`, async () => {
      let ms = 500_000;
      const steady = () => ({ clock: "start", ms });
      finder = new TransactionFinder({ database: test.database, arrivals, now: () => now, steady });
      const postNow = async (id: string) => {
        const node = { nodeId: "node", runId: "run", now: () => now, steady, arrivals };
        assert.notEqual(await new Inbox(test.database, node).add(received(id, 0).record, 0), null);
      };
      const sentNow = (key: string) => {
        const { local } = measured(key, 0);
        return { key, local: { ...local, sentAt: now.toISOString(), sentSteady: steady() } };
      };
      const acceptNow = async ({ key, local }: MeasurementSearch) => {
        const accepted = { key, job: `job ${key}`, acceptedAt: now };
        await test.database.transaction([insertJob(accepted.job, ms), noteSearch(accepted, local)]);
      };
      const first = sentNow("A");
      now = at(1 + stepSeconds);
      ms += 1_000;
      await acceptNow(first);
      ms += 1_000;
      now = at(2 + stepSeconds);
      await postNow("1");
      ms += 60_000;
      assert.equal(await take(first), "1");
      // The next parcel with the same reference and size, and a step of the clock to its own job.
      const second = sentNow("B");
      now = at(100);
      ms += 1_000;
      await acceptNow(second);
      const third = sentNow("C");
      await acceptNow(third);
      ms += 1_000;
      await postNow("2");
      ms += 60_000;
      assert.equal(await take(second), "recordContested");
    });
  }

  for (const [what, seconds, phrase] of [
    ["2 s before", -2, "recordBefore"],
    ["an hour and 2 s after", 3602, "recordAfter"],
    ["three days before", -3 * 24 * 3600, "recordMissing"],
  ] as const) {
    it(`says of a record like it that came ${what} the measurement by the only clock that is known: ${phrase}`, async () => {
      await accept(measured("A", 0));
      await post(received("1", seconds));
      now = at(seconds + 60);
      assert.equal(await take(measured("A", 0)), phrase);
      const found = await look(measured("A", 0));
      const values = "missing" in found && "values" in found.missing ? found.missing.values : {};
      assert.deepEqual(values, phrase === "recordMissing" ? {} : { seconds: Math.abs(seconds) });
    });
  }

  it("asks indexes only", async () => {
    const steps = await test.explain(situationStatements(tagged));
    assert.deepEqual(
      steps.filter((step) => /^SCAN|Seq Scan/.test(step)),
      [],
      steps.join("\n"),
    );
    assert.ok(
      steps.some((step) => step.includes("records_reference")),
      steps.join("\n"),
    );
  });

  it("forgets old measurements whose jobs have ended", async () => {
    await accept(measured("A", 0));
    await accept(measured("B", 0));
    await end("job A", "reported");
    const keys = async () => {
      const [rows = []] = await test.database.transaction([
        { sql: "SELECT measurement_key FROM measurements" },
      ]);
      return rows.map((row) => row["measurement_key"]);
    };
    await test.database.transaction([removeOldMeasurements(at(90 * 24 * 3600))]);
    assert.deepEqual(await keys(), ["A", "B"]);
    await test.database.transaction([removeOldMeasurements(at(90 * 24 * 3600 + 1))]);
    assert.deepEqual(await keys(), ["B"]);
  });

  it("wakes who waits when a record with the tag or the reference comes, and nobody else", async () => {
    let woken = 0;
    const leave = finder.watch(tagged.local, () => {
      woken += 1;
    });
    await post(received("1", 1, { transactionReference: "ORDER-9" }));
    assert.equal(woken, 0);
    await post(received("2", 1, { transactionReference: null, customReference3: tag }));
    assert.equal(woken, 1);
    await post(received("3", 1));
    assert.equal(woken, 2);
    leave();
    await post(received("4", 1));
    assert.equal(woken, 2);
  });

  it("wakes once more when the record can be taken", async () => {
    finder = new TransactionFinder({ database: test.database, arrivals, settleMs: 20 });
    const { local } = measured("A", 0);
    let leave = (): void => undefined;
    let woken = 0;
    const twice = new Promise<void>((resolve) => {
      leave = finder.watch(local, () => {
        woken += 1;
        if (woken === 2) {
          resolve();
        }
      });
    });
    await post(received("1", 1));
    await twice;
    leave();
  });
});
