import assert from "node:assert/strict";
import { WallClock } from "../model-based/wall-clock.ts";
import { always } from "../../src/database/database.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { intents, lengthOf, withTexts } from "../../src/database/long-texts.ts";
import { type JobState, jobStates as meanings, statesBefore } from "../../src/database/own-jobs.ts";
import { EarlierJobs, JobTable, factsOf } from "../../src/jobs/job-rows.ts";
import { unknownInstrument } from "../../src/model/instrument.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import type { Intent, StoredItem } from "../../src/vault/packages/intent.ts";
import { describeDatabases } from "../database/databases.ts";
import { type TestDatabase, testClock } from "../database/support.ts";

const intent: Intent = {
  origin: "https://cloud.example",
  transactionId: "905865",
  measuredBy: null,
  sought: null,
  recording: null,
  media: "list",
  contentType: null,
  expect: ["video/mp4"],
  settleMs: 60_000,
  waitMs: 900_000,
  giveUpMs: 0,
  onIncomplete: "error",
  folder: ["2026-11-22", "ORDER-1-905865"],
  references: {
    transactionReference: "ORDER-1",
    customReference1: null,
    customReference2: null,
    customReference3: null,
    barcodeReference: null,
  },
  device: null,
  instrument: unknownInstrument,
  deviceLocalTime: null,
  deviceUtcTime: null,
  legalForTrade: true,
  billable: null,
  scan: null,
  measurement: '{"ok":true}',
  raw: '{"errorCode":0}',
  keep: { topic: "dock 4" },
  cloudName: null,
  sequence: null,
};

const item = (path: string): StoredItem => ({
  path,
  source: "cloud",
  contentId: path,
  description: null,
  contentTypeAnnounced: "image/jpeg",
  contentTypeFound: null,
  bytes: 12,
  sha256: "a".repeat(64),
  url: null,
});

const jobStates = Object.keys(meanings) as readonly JobState[];
const placed = { path: "2026-11-22/ORDER-1-905865", sha256: "b".repeat(64) };

describeDatabases("the jobs of a store", (open) => {
  let test: TestDatabase;
  const clock = testClock();
  const table = () => new JobTable(test.database, "worker", clock.now);
  const earlier = () => new EarlierJobs(test.database, "worker", clock.now);
  const accept = (id: string, items: Map<string, StoredItem> = new Map()) =>
    table().accept({ id, node: "node 1", key: "key", intent, items });

  it("are read one by one, and what else the process has to do gets its turn between them", async () => {
    const ids = ["one", "three", "two"];
    for (const id of ids) {
      await accept(id);
    }
    const [rows = []] = await test.database.transaction([
      { sql: `SELECT job_id, ${lengthOf(intents)} FROM jobs ORDER BY job_id` },
    ]);
    let turns = 0;
    const read: unknown[] = [];
    for await (const { job_id: id } of withTexts(test.database, intents, rows)) {
      read.push([id, turns]);
      turns = 0;
      setImmediate(() => (turns += 1));
      // What reading many of them takes.
      for (const begun = performance.now(); performance.now() < begun + 50;) {
        // Nothing else can be done meanwhile.
      }
    }
    assert.deepEqual(read, [
      ["one", 0],
      ["three", 1],
      ["two", 1],
    ]);
  });

  const add = (id: string, slot: string, one: StoredItem) => table().addItems(id, new Map([[slot, one]]));

  /** Leads a job to a state on the shortest way. */
  async function lead(id: string, to: JobState): Promise<void> {
    await accept(id);
    const way: readonly JobState[] =
      to === "failed" ? ["accepted", "failed"] : jobStates.slice(0, jobStates.indexOf(to) + 1);
    for (const state of way.slice(1)) {
      await moves[state]?.(id);
    }
  }
  const moves: Partial<Record<JobState, (id: string) => Promise<unknown>>> = {
    collecting: (id) => table().collect(id),
    sealing: (id) => table().seal(id, null),
    archived: (id) =>
      table().archived(id, "key", placed, { condition: always, statements: [], atOnce: true }),
    reported: (id) => table().reported(id, false),
    failed: (id) => table().failed(id, { code: "ERR_FILE", message: "The disk is full." }),
  };
  const stateOf = async (id: string) => {
    const [rows] = await test.database.transaction([
      { sql: "SELECT state FROM jobs WHERE job_id = ?", values: [id] },
    ]);
    return rows?.[0]?.["state"];
  };

  beforeEach(async () => {
    test = await open();
  });
  afterEach(() => test.close());

  it("gives a restart each open job as it was, the oldest first", async () => {
    await accept("one", new Map([["0", item("first.jpg")]]));
    clock.advance(1_000);
    await accept("two");
    await table().setCount("one", 3);
    await table().setTimes("one", 1_234.5, 9_876.5);
    await add("two", "c1", item("second.jpg"));
    await lead("three", "reported");
    await test.reopen();
    const { jobs, damaged } = await earlier().unfinished();
    assert.deepEqual(damaged, []);
    assert.deepEqual(
      jobs.map(({ id, state, key, items, count, waitedMs }) => ({
        id,
        state,
        key,
        items: [...items],
        count,
        waitedMs,
      })),
      [
        {
          id: "one",
          state: "accepted",
          key: "key",
          items: [["0", item("first.jpg")]],
          count: 3,
          waitedMs: 1_235,
        },
        {
          id: "two",
          state: "collecting",
          key: "key",
          items: [["c1", item("second.jpg")]],
          count: null,
          waitedMs: 0,
        },
      ],
    );
    // Memory has their short texts only.
    assert.deepEqual(jobs[0]?.intent, factsOf(intent));
    assert.deepEqual(await table().texts(jobs[0]?.id ?? ""), intent);
  });

  for (const from of jobStates) {
    const next = jobStates.filter((to) => statesBefore[to].includes(from));
    it(`a job that is ${from} becomes ${next.join(" or ") || "nothing else"}, and stays what it is otherwise`, async () => {
      for (const [to, move] of Object.entries(moves) as [JobState, (id: string) => Promise<unknown>][]) {
        await lead(to, from);
        await move(to);
        assert.equal(await stateOf(to), next.includes(to) ? to : from);
      }
    });
  }

  it("takes a medium until it is being sealed, and none afterwards", async () => {
    await accept("job");
    assert.equal(await add("job", "1", item("1.jpg")), true);
    await table().collect("job");
    assert.equal(await add("job", "2", item("2.jpg")), true);
    await table().seal("job", null);
    assert.equal(await add("job", "3", item("3.jpg")), false);
    const [job] = (await earlier().unfinished()).jobs;
    assert.deepEqual([...(job?.items.keys() ?? [])], ["1", "2"]);
  });

  it("decides between a medium and the sealing that come at the same moment, one way or the other", async () => {
    await accept("job");
    const [wasAdded] = await Promise.all([add("job", "1", item("1.jpg")), table().seal("job", null)]);
    const [job] = (await earlier().unfinished()).jobs;
    assert.equal(job?.items.size, wasAdded ? 1 : 0);
  });

  it("says what a sealed job has, in the order in which it came", async () => {
    await accept("job", new Map([["1", item("1.jpg")]]));
    await add("job", "0", item("0.jpg"));
    assert.deepEqual(
      [...((await table().seal("job", null))?.items ?? [])],
      [
        ["1", item("1.jpg")],
        ["0", item("0.jpg")],
      ],
    );
    assert.equal(await table().seal("job", null), undefined);
  });

  it("takes all media of a message or none", async () => {
    await accept("job");
    await table().seal("job", null);
    const media = new Map([
      ["0.0", item("a.jpg")],
      ["0.1", item("b.jpg")],
    ]);
    assert.equal(await table().addItems("job", media), false);
    await table().collect("job");
    assert.equal(await table().addItems("job", media), true);
    assert.equal((await table().seal("job", null))?.items.size, 2);
  });

  it("counts the webhook's records of its transaction as handled", async () => {
    const inbox = new Inbox(test.database, { nodeId: "in", runId: "run 1" });
    await inbox.add(decodeTransactionRecord({ id: 905865, errorCode: 0 }), 1_000);
    await accept("job");
    const next = new Inbox(test.database, { nodeId: "in", runId: "run 2" });
    assert.deepEqual((await next.unsent(0, 9)).records, []);
    const another = new JobTable(test.database, "another worker", clock.now);
    assert.equal(await another.withdraw("job", intent.transactionId), false);
    assert.deepEqual((await next.unsent(0, 9)).records, []);
    assert.equal(await table().withdraw("job", intent.transactionId), true);
    assert.equal((await next.unsent(0, 9)).records.length, 1);
  });

  it("says which jobs are not what was written, and leaves their rows", async () => {
    await accept("good");
    await accept("bad");
    await test.database.transaction([
      { sql: "UPDATE jobs SET intent = replace(intent, 'ORDER-1', 'ORDER-9') WHERE job_id = 'bad'" },
    ]);
    const { jobs, damaged } = await earlier().unfinished();
    assert.deepEqual([jobs.map(({ id }) => id), damaged], [["good"], ["bad"]]);
    assert.equal(await stateOf("bad"), "accepted");
  });

  it("removes what ended long ago, and nothing that is open", async () => {
    await lead("ended", "reported");
    await lead("lost", "failed");
    await lead("open", "sealing");
    clock.advance(31 * 24 * 3_600_000);
    await earlier().removeEnded(30);
    const [rows] = await test.database.transaction([{ sql: "SELECT job_id FROM jobs" }]);
    assert.deepEqual(rows, [{ job_id: "open" }]);
  });

  it("removes no job that failed just now, while the clock was far behind", async () => {
    const wall = new WallClock();
    try {
      wall.jump(-400 * 24 * 3_600_000);
      const jobs = new JobTable(test.database, "worker");
      for (const [id, items] of [
        ["empty", new Map()],
        ["full", new Map([["color", { ...item("color.jpg"), source: "device" as const }]])],
      ] as const) {
        await jobs.accept({ id, node: "node 1", key: "key", intent, items });
        await jobs.failed(id, { code: "ERR_TIMEOUT", message: "it took too long" });
      }
      wall.reset();
      await new EarlierJobs(test.database, "worker").removeEnded(30);
      assert.deepEqual([await stateOf("empty"), await stateOf("full")], ["failed", "failed"]);
    } finally {
      wall.close();
    }
  });

  it("removes old measurements some at a time, however many there are", async () => {
    const [most, old] = [200, 500];
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${old})
          INSERT INTO measurements (measurement_key, job_id, accepted_at)
          SELECT 'key ' || n, 'job ' || n, '2020-01-01T00:00:00.000Z' FROM numbers`,
      },
    ]);
    const left: number[] = [];
    for (let hasMore = true; hasMore;) {
      hasMore = await earlier().removeEnded(30);
      const [[row] = []] = await test.database.transaction([
        { sql: "SELECT count(*) AS count FROM measurements" },
      ]);
      left.push(Number(row?.["count"]));
    }
    assert.deepEqual(left, [old - most, old - 2 * most, 0]);
  });

  it("removes nothing as old while the newest package says another day", async () => {
    await lead("ended", "reported");
    const told = clock.now().toISOString();
    clock.advance(400 * 24 * 3_600_000);
    await test.database.transaction([
      {
        sql: `INSERT INTO packages (package_id, job_key, location, manifest_sha256, measured_at, archived_at, complete, files, bytes)
          VALUES ('p', 'k', 'here', '0', ?, ?, 1, 0, 0)`,
        values: [told, clock.now().toISOString()],
      },
    ]);
    await earlier().removeEnded(30);
    assert.equal(await stateOf("ended"), "reported");
  });
});
