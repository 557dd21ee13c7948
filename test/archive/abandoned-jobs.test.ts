import assert from "node:assert/strict";
import { hostname } from "node:os";
import { AbandonedJobs, JobTable } from "../../src/jobs/job-rows.ts";
import { always, type Database } from "../../src/database/database.ts";
import {
  closedLeaseSeconds,
  endedWorkers,
  forgetIdleWorkers,
  WorkerLease,
} from "../../src/database/worker-lease.ts";
import { unansweredError } from "../../src/database/sqlite-failures.ts";
import { describeDatabases } from "../database/databases.ts";
import type { TestDatabase } from "../database/support.ts";
import { intentOf } from "./support.ts";

describeDatabases("the jobs of a worker that has stopped", (open) => {
  let test: TestDatabase;
  let database: Database;
  let stopped: WorkerLease;
  let table: JobTable;
  const leases: WorkerLease[] = [];
  const taken = { code: "ERR_CANCELLED", sentence: "cancelledTaken" };

  const begin = async (): Promise<WorkerLease> => {
    // It is not renewed after a test has ended it.
    const lease = await WorkerLease.begin(database, { seconds: 3_600, closedSeconds: 0 });
    leases.push(lease);
    return lease;
  };
  const accept = (id: string, node = "node") =>
    table.accept({ id, node, key: null, intent: intentOf(id), items: new Map() });
  const sql = async (text: string, values: readonly string[] = []) =>
    (await database.transaction([{ sql: text, values }]))[0] ?? [];
  /** The lease of a worker ends so long before now. */
  const endLease = async ({ id }: WorkerLease, before = "1970-01-01T00:00:00.000Z") =>
    void (await sql("UPDATE workers SET lease_until = ? WHERE worker_id = ?", [before, id]));
  const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
  const take = (id: string, node = "node", isMine = false, most = 50) =>
    new AbandonedJobs(database, id).take({ node, isMine: () => isMine }, most);

  beforeEach(async () => {
    test = await open();
    database = test.database;
    stopped = await begin();
    table = new JobTable(database, stopped.id);
  });
  afterEach(async () => {
    await Promise.all(leases.splice(0).map((lease) => lease.end()));
    await test.close();
  });

  it("are left alone until its lease ends, and then go to one of several that take at the same time", async () => {
    const ids = Array.from({ length: 30 }, (_, number) => `job-${number}`);
    await Promise.all(ids.map((id) => accept(id)));
    const others = [await begin(), await begin(), await begin()];
    assert.deepEqual((await take(others[0]?.id ?? "")).jobs, []);
    await endLease(stopped);
    const found = await Promise.all(others.flatMap(({ id }) => [take(id, "node", false, 8), take(id)]));
    const got = found.flatMap(({ jobs }) => jobs.map(({ id }) => id));
    // A transaction that meets another one leaves out what that one has locked.
    const rest = (await take(others[0]?.id ?? "")).jobs.map(({ id }) => id);
    assert.deepEqual([...got, ...rest].toSorted(), ids.toSorted());
  });

  for (const [lost, nth] of [
    ["the jobs", 0],
    ["their media", 1],
  ] as const) {
    it(`are found again if the answer with ${lost} is lost, and no others with them`, async () => {
      await Promise.all(
        ["known", "one", "other"].map((id) => accept(id, id === "other" ? "another" : "node")),
      );
      const worker = await begin();
      await sql("UPDATE jobs SET worker_id = ? WHERE job_id = 'known'", [worker.id]);
      await endLease(stopped);
      let count = nth;
      const failing: Database = {
        ...database,
        transaction: async (statements) => {
          const rows = await database.transaction(statements);
          if (count-- === 0) {
            throw unansweredError("store", 30_000);
          }
          return rows;
        },
      };
      const jobs = new AbandonedJobs(failing, worker.id, (id) => id === "known");
      const takeAll = (node: string) => jobs.take({ node, isMine: () => false }, 50);
      await assert.rejects(takeAll("node"), { code: "ERR_STORE" });
      assert.deepEqual(
        (await takeAll("node")).jobs.map(({ id }) => id),
        ["one"],
      );
      assert.deepEqual(
        (await takeAll("another")).jobs.map(({ id }) => id),
        ["other"],
      );
    });
  }

  it("are changed by that worker no more, whatever it was about to do", async () => {
    const placed = { path: "folder", sha256: "a".repeat(64) };
    const item = { slot: "cloud:1", one: { path: "1.jpg", source: "cloud", contentId: "1" } } as const;
    const stored = {
      ...item.one,
      description: null,
      contentTypeAnnounced: null,
      contentTypeFound: null,
      bytes: 1,
      sha256: "b".repeat(64),
      url: null,
    };
    await accept("job");
    await table.addItems("job", new Map([[item.slot, stored]]));
    await endLease(stopped);
    const other = await begin();
    assert.deepEqual(
      (await take(other.id)).jobs.map(({ id, items }) => [id, [...items.keys()]]),
      [["job", [item.slot]]],
    );
    const before = await sql("SELECT * FROM jobs");
    await table.setCount("job", 7);
    await table.setTimes("job", 7, 7);
    await table.removeItems("job", [item.slot]);
    assert.equal(await table.withdraw("job", null), false);
    for (const change of [
      () => table.addItems("job", new Map([["cloud:2", stored]])),
      () => table.seal("job", null),
      () => table.collect("job"),
      () => table.archived("job", "key", placed, { condition: always, statements: [], atOnce: false }),
      () => table.reported("job", false),
      () => table.failed("job", { code: "ERR_FILE", message: "" }),
    ]) {
      await assert.rejects(change, taken);
    }
    assert.deepEqual(await sql("SELECT * FROM jobs"), before);
    assert.deepEqual(await sql("SELECT slot FROM job_media"), [{ slot: item.slot }]);
    await new JobTable(database, other.id).failed("job", { code: "ERR_FILE", message: "" });
  });

  it("of a node that no worker has go to a node that takes them, ten minutes later", async () => {
    await accept("job", "gone");
    const other = await begin();
    await endLease(stopped, secondsAgo(500));
    assert.deepEqual((await take(other.id, "node", true)).jobs, []);
    await endLease(stopped, secondsAgo(700));
    assert.deepEqual((await take(other.id, "node", false)).jobs, []);
    assert.equal((await take(other.id, "node", true)).jobs.length, 1);
  });

  it("of another node go to a node that takes them as soon as they are given back", async () => {
    await accept("job", "gone");
    await new AbandonedJobs(database, stopped.id).giveBack();
    const other = await begin();
    assert.deepEqual((await take(other.id, "node", false)).jobs, []);
    assert.deepEqual(
      (await take(other.id, "node", true)).jobs.map(({ id }) => id),
      ["job"],
    );
  });

  it("are free at once when it ends its lease or gives them back, and it is remembered only as long as it has some", async () => {
    const ended = async () =>
      (await database.transaction([endedWorkers(0)]))[0]?.map((row) => row["worker_id"]) ?? [];
    await accept("job");
    const idle = await begin();
    await idle.end();
    assert.deepEqual(await ended(), []);
    await stopped.end();
    assert.deepEqual(await ended(), [stopped.id]);
    const [one, two] = [await begin(), await begin()];
    assert.equal((await take(one.id)).jobs.length, 1);
    await (await begin()).end();
    assert.deepEqual(await ended(), []);
    await new AbandonedJobs(database, one.id).giveBack();
    assert.equal((await take(two.id)).jobs.length, 1);
  });
});

describeDatabases("the lease of a worker", (open) => {
  it("is found again if a worker that had nothing takes a job in when it comes back, and is killed then", async () => {
    const test = await open();
    const { database } = test;
    // It does not renew its lease again.
    const cutOff = await WorkerLease.begin(database, { seconds: 3_600 });
    await database.transaction([{ sql: "UPDATE workers SET lease_until = ''" }, forgetIdleWorkers()]);
    const job = { id: "job", node: "node", key: null, intent: intentOf("job"), items: new Map() };
    await new JobTable(database, cutOff.id).accept(job);
    const other = await WorkerLease.begin(database, { seconds: 0.3 });
    const jobs = new AbandonedJobs(database, other.id);
    let taken: readonly { readonly id: string }[] = [];
    while (taken.length === 0) {
      taken = (await jobs.take({ node: "node", isMine: () => false }, 50)).jobs;
    }
    assert.deepEqual(
      taken.map(({ id }) => id),
      ["job"],
    );
    await Promise.all([cutOff.end(), other.end()]);
    await test.close();
  });

  it("is renewed as long as the process lives", async () => {
    const test = await open();
    const { database } = test;
    const lease = await WorkerLease.begin(database, { seconds: 0.3 });
    const until = async () =>
      String(
        (await database.transaction([{ sql: "SELECT lease_until FROM workers" }]))[0]?.[0]?.["lease_until"],
      );
    const first = await until();
    while ((await until()) === first) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(first, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok((await until()) > first);
    // As when the database is set back to a time before the process began.
    await database.transaction([{ sql: "DELETE FROM workers" }]);
    while ((await until()) === "undefined") {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await database.transaction([{ sql: "SELECT worker_id, host FROM workers" }]), [
      [{ worker_id: lease.id, host: hostname() }],
    ]);
    await lease.end();
    await test.close();
  });

  it("goes on for a while after its end, and an end that comes late does not shorten the next lease", async () => {
    const test = await open();
    const { database } = test;
    const endMs = async () => {
      const [[row] = []] = await database.transaction([{ sql: "SELECT lease_until FROM workers" }]);
      return Date.parse(String(row?.["lease_until"]));
    };
    const first = await WorkerLease.begin(database, { seconds: 3_600 });
    const beganAt = Date.now();
    while (Date.now() === beganAt) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const second = await WorkerLease.begin(database, { id: first.id, seconds: 3_600 });
    const wholeMs = await endMs();
    await first.end();
    assert.equal(await endMs(), wholeMs);
    const endedAt = Date.now();
    await second.end();
    // The clock of the database need not be that of the test to the millisecond.
    assert.ok((await endMs()) >= endedAt + (closedLeaseSeconds - 1) * 1_000);
    assert.ok((await endMs()) <= Date.now() + (closedLeaseSeconds + 1) * 1_000);
    await test.close();
  });
});
