import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Inbox } from "../../src/database/inbox.ts";
import { WorkerLease, endedWorkers } from "../../src/database/worker-lease.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { describeDatabases } from "./databases.ts";
import { stepsOf } from "./plans.ts";
import { type TestDatabase, testClock } from "./support.ts";

const hourMs = 3_600_000;

const record = (id: string | number, more: object = {}) =>
  decodeTransactionRecord({ id, errorCode: 0, transactionReference: `ORDER-${id}`, ...more });

describeDatabases("the inbox of a store", (open) => {
  let test: TestDatabase;
  let clock: ReturnType<typeof testClock>;
  const inbox = (runId = "run 1", nodeId = "node 1") =>
    new Inbox(test.database, { nodeId, runId, now: clock.now });
  const correctionsOf = async (one: Inbox) =>
    (await one.unsent(0, 100)).records.map(({ corrects }) => corrects);
  const idsOf = async (one: Inbox) =>
    (await one.unsent(0, 100)).records.map(({ record: { transactionId } }) => transactionId);

  beforeEach(async () => {
    test = await open();
    clock = testClock();
  });
  afterEach(() => test.close());

  it("gives a restart all that nobody has handled, in order of arrival, as it was received", async () => {
    const given = [record(3), record(1), record(2, { extra: { deep: [1, "two"] } })];
    for (const one of given) {
      assert.notEqual(await inbox().add(one, hourMs), null);
    }
    await test.reopen();
    const { records, damaged, hasMore } = await inbox("run 2").unsent(0, 100);
    assert.deepEqual(
      records.map((one) => one.record),
      given,
    );
    assert.deepEqual([...new Set(records.map(({ isResumed }) => isResumed))], [true]);
    assert.deepEqual([damaged, hasMore], [[], false]);
  });

  it("gives a deploy only what was not sent yet, and a restart also what was sent and not handled", async () => {
    const one = inbox();
    const [first = 0] = [await one.add(record(1), hourMs), await one.add(record(2), hourMs)].map(Number);
    await one.sent([first]);
    assert.deepEqual(await idsOf(inbox("run 1")), ["2"]);
    assert.deepEqual(await idsOf(inbox("run 2")), ["1", "2"]);
  });

  it("gives them some at a time", async () => {
    for (const id of [1, 2, 3, 4, 5]) {
      await inbox().add(record(id), hourMs);
    }
    const pages: string[][] = [];
    for (let after = 0, hasMore = true; hasMore;) {
      const page = await inbox("run 2").unsent(after, 2);
      pages.push(page.records.map((one) => one.record.transactionId));
      ({ last: after, hasMore } = page);
    }
    assert.deepEqual(pages, [["1", "2"], ["3", "4"], ["5"]]);
  });

  it("gives back after a restart the device that was known when the record arrived", async () => {
    await inbox().add(record(1, { deviceSerialNumber: "SN-4", deviceCertificate: "AM-4" }), hourMs);
    const [kept] = (await inbox("run 2").unsent(0, 1)).records;
    assert.deepEqual([kept?.record.deviceSerialNumber, kept?.record.deviceCertificate], ["SN-4", "AM-4"]);
  });

  it("keeps a record whole whose references no index can hold", async () => {
    const long = randomBytes(3_000).toString("base64");
    const references = { transactionReference: long, customReference1: long, customReference3: long };
    const given = record(1, references);
    assert.notEqual(await inbox().add(given, hourMs), null);
    assert.deepEqual((await inbox("run 2").unsent(0, 1)).records[0]?.record, given);
  });

  it("keeps the records of each node apart", async () => {
    await inbox("run 1", "node 1").add(record(1), hourMs);
    await inbox("run 1", "node 2").add(record(1), hourMs);
    assert.deepEqual(await idsOf(inbox("run 2", "node 1")), ["1"]);
  });

  const handledBy: readonly [how: string, id: string][] = [
    ["its id", "5F1C0D3E-0000-4000-8000-000000000001"],
    ["its id in other case", "5f1c0d3e-0000-4000-8000-000000000001"],
    ["its legacy id", "905865"],
  ];
  for (const [how, id] of handledBy) {
    it(`does not give again what was handled by ${how}`, async () => {
      await inbox().add(record("5F1C0D3E-0000-4000-8000-000000000001", { legacyId: 905865 }), hourMs);
      await inbox().add(record(2), hourMs);
      assert.equal(await inbox().handled(id), 1);
      assert.deepEqual(await idsOf(inbox("run 2")), ["2"]);
    });
  }

  it("asks the indexes of both ids which records were handled, however many were not", async () => {
    const steps = await stepsOf(test, async (database) => {
      const handled = new Inbox(database, { nodeId: "node 1", runId: "run 1" }).handled("1");
      assert.equal(await handled, 0);
    });
    const plan = steps.join("\n");
    assert.ok(plan.includes("records_transaction") && plan.includes("records_legacy"), plan);
    const all = steps.filter((step) => /records_unhandled \(node_id=\?\)$|^SCAN records|Seq Scan/.test(step));
    assert.deepEqual(all, [], plan);
  });

  it("knows a duplicate within its time, by either id, also after a restart", async () => {
    const guid = "5f1c0d3e-0000-4000-8000-000000000001";
    const same = { transactionReference: "ORDER-1", extra: { a: 1, b: 2 }, weight: 2 };
    await inbox().add(record(guid, { legacyId: 905865, ...same, deviceSerialNumber: "SN-4" }), hourMs);
    await test.reopen();
    assert.equal(await inbox("run 2").add(record(guid.toUpperCase(), same), hourMs), null);
    const reordered = { weight: "2.0", extra: { b: 2, a: 1 }, transactionReference: "ORDER-1" };
    assert.equal(await inbox("run 2").add(record(905865, reordered), hourMs), null);
    clock.advance(hourMs + 1);
    assert.notEqual(await inbox("run 2").add(record(905865, same), hourMs), null);
    assert.deepEqual(await correctionsOf(inbox("run 3")), [null, null]);
  });

  it("keeps another content under a known id, says that it corrects, and knows each of both again", async () => {
    const guid = "5f1c0d3e-0000-4000-8000-000000000001";
    const same = { transactionReference: "ORDER-1" };
    const first = record(guid, { legacyId: 905865, ...same, weight: 2 });
    const second = record(905865, { ...same, weight: 2.5 });
    const at = clock.now().toISOString();
    assert.notEqual(await inbox().add(first, hourMs), null);
    clock.advance(1);
    assert.notEqual(await inbox().add(second, hourMs), null);
    for (const one of [first, second]) {
      assert.equal(await inbox().add(one, hourMs), null);
    }
    await test.reopen();
    clock.advance(2 * hourMs);
    assert.notEqual(await inbox("run 2").add(record(guid, { ...same, weight: 3 }), hourMs), null);
    assert.deepEqual(await correctionsOf(inbox("run 2")), [
      null,
      { transactionId: guid, receivedAt: at, fields: ["weight"] },
      { transactionId: guid, receivedAt: at, fields: ["weight"] },
    ]);
    const both = await Promise.all([4, 4].map((weight) => inbox().add(record(905865, { weight }), hourMs)));
    assert.equal(both.filter((one) => one !== null).length, 1);
  });

  it("has any number of contents under one id", async () => {
    for (let weight = 1; weight <= 205; weight++) {
      assert.notEqual(await inbox().add(record(1, { weight }), hourMs), null);
    }
    assert.equal(await inbox().add(record(1, { weight: 200 }), hourMs), null);
  });

  it("keeps a correction that the flow has not received when what it corrects is handled", async () => {
    const first = Number(await inbox().add(record(1, { weight: 1 }), hourMs));
    const second = Number(await inbox().add(record(1, { weight: 2 }), hourMs));
    await inbox().sent([first]);
    assert.equal(await inbox().handled("1"), 1);
    const { records } = await inbox().unsent(0, 10);
    assert.deepEqual(
      records.map(({ recordId, corrects }) => [recordId, corrects?.fields]),
      [[second, ["weight"]]],
    );
    await inbox().sent([second]);
    assert.equal(await inbox().handled("1"), 1);
  });

  it("keeps one of two that come at the same moment", async () => {
    const added = await Promise.all([inbox().add(record(1), hourMs), inbox().add(record(1), hourMs)]);
    assert.equal(added.filter((one) => one !== null).length, 1);
  });

  it("tells duplicates apart from nothing when no time is given", async () => {
    await inbox().add(record(1), 0);
    assert.notEqual(await inbox().add(record(1), 0), null);
  });

  it("says which rows are not what was written, and gives the others", async () => {
    await inbox().add(record(1), hourMs);
    await inbox().add(record(2), hourMs);
    await test.database.transaction([
      { sql: "UPDATE records SET record = replace(record, 'ORDER-1', 'ORDER-9') WHERE record_id = 1" },
    ]);
    const { records, damaged } = await inbox("run 2").unsent(0, 100);
    assert.deepEqual(
      records.map(({ recordId }) => recordId),
      [2],
    );
    assert.deepEqual(damaged, [1]);
  });

  for (const [what, days] of [
    ["a month behind, and is right now", -30],
    ["right, and is a year ahead now", 0],
  ] as const) {
    it(`sends what nobody has handled, also if the clock was ${what}`, async () => {
      clock.advance(days * 24 * hourMs);
      const sent = await inbox().add(record(1), hourMs);
      await inbox().add(record(2), hourMs);
      await inbox().sent([Number(sent)]);
      clock.advance((days === 0 ? 366 : -days) * 24 * hourMs);
      assert.deepEqual(await idsOf(inbox("run 2")), ["1", "2"]);
      assert.equal(await inbox("run 2").countLongUnhandled(), 2, "for the log");
    });
  }

  it("knows a duplicate by the time that has passed, whatever is done to the clock", async () => {
    let ms = 5 * hourMs;
    const inRun = (runId: string) =>
      new Inbox(test.database, {
        nodeId: "node 1",
        runId,
        now: clock.now,
        steady: () => ({ clock: "start", ms }),
      });
    const one = inRun("run 1");
    assert.notEqual(await one.add(record(1), hourMs), null);
    clock.advance(400 * 24 * hourMs);
    ms += 1_000;
    assert.equal(await one.add(record(1), hourMs), null, "a second later, with the clock a year on");
    clock.advance(-800 * 24 * hourMs);
    assert.equal(await inRun("run 2").add(record(1), hourMs), null, "and a year back, after a restart");
    ms += hourMs;
    assert.notEqual(await one.add(record(1), hourMs), null, "an hour later, with the clock still behind");
  });

  it("removes what was handled long ago", async () => {
    await inbox().add(record(1), hourMs);
    await inbox().handled("1");
    clock.advance(91 * 24 * hourMs);
    await inbox().removeOld();
    const [rows] = await test.database.transaction([{ sql: "SELECT record_id FROM records" }]);
    assert.deepEqual(rows, []);
  });

  it("removes nothing as old that is old by this computer's clock alone", async () => {
    const dayLater = (days: number) => new Date(clock.now().getTime() + days * 24 * hourMs).toISOString();
    await inbox().add(record(1, { dateTimeUtc: dayLater(0) }), hourMs);
    await inbox().handled("1");
    const isThere = async (): Promise<boolean> => {
      const sql = "SELECT record_id FROM records WHERE transaction_id = '1'";
      const [rows = []] = await test.database.transaction([{ sql }]);
      return rows.length > 0;
    };
    const [toldLater, neverSet] = [dayLater(91), "1970-01-01T00:00:00Z"];
    clock.advance(400 * 24 * hourMs);
    await inbox().removeOld();
    assert.equal(await isThere(), true);
    await inbox().add(record(2, { dateTimeUtc: neverSet }), hourMs);
    await inbox().add(record(3, { dateTimeUtc: dayLater(300) }), hourMs);
    await inbox().removeOld();
    assert.equal(await isThere(), true, "a device whose clock is ahead is not believed");
    await inbox().add(record(4, { dateTimeUtc: toldLater }), hourMs);
    await inbox().removeOld();
    assert.equal(await isThere(), false);
  });

  it("removes nothing as old that came just now, while the clock was far behind", async () => {
    let ms = 400 * 24 * hourMs;
    const steady = () => ({ clock: "start", ms });
    const one = new Inbox(test.database, { nodeId: "node 1", runId: "run 1", now: clock.now, steady });
    const count = async (): Promise<number> => {
      const [rows = []] = await test.database.transaction([{ sql: "SELECT record_id FROM records" }]);
      return rows.length;
    };
    await one.add(record(1), hourMs);
    await one.handled("1");
    // As after a power cut, once the network is there.
    clock.advance(400 * 24 * hourMs);
    ms += 1_000;
    await one.removeOld();
    assert.equal(await count(), 1);
    ms += 90 * 24 * hourMs;
    await one.removeOld();
    assert.equal(await count(), 0, "90 days later");
  });

  it("gives the records of a worker whose lease has ended to one of the others, and that worker notes nothing more", async () => {
    // No lease is renewed after the test has ended it.
    const begin = () => WorkerLease.begin(test.database, { seconds: 3_600, closedSeconds: 0 });
    const leases = [await begin(), await begin()];
    const [stopped, ...others] = [await begin(), ...leases].map(
      (worker) => new Inbox(test.database, { nodeId: "node", runId: worker.id, worker, now: clock.now }),
    );
    assert.ok(stopped !== undefined);
    const numbers = [await stopped.add(record(1), hourMs), await stopped.add(record(2), hourMs)].map(Number);
    await stopped.sent(numbers.slice(0, 1));
    assert.deepEqual(await Promise.all(others.map((one) => one.takeOver())), [0, 0]);
    const ids = leases.map(({ id }) => id);
    await test.database.transaction([
      {
        sql: "UPDATE workers SET lease_until = '' WHERE worker_id NOT IN (?, ?)",
        values: ids,
      },
    ]);
    const taken = await Promise.all(others.map((one) => one.takeOver()));
    // A transaction that meets another one leaves out what that one has locked, so that each may get one.
    assert.equal(
      taken.reduce((sum, count) => sum + count),
      2,
    );
    await stopped.sent(numbers);
    const found = await Promise.all(others.map(idsOf));
    assert.deepEqual(
      found.map((records) => records.length),
      taken,
    );
    assert.deepEqual(found.flat().toSorted(), ["1", "2"]);
    await Promise.all(leases.map((lease) => lease.end()));
    // What is left of a worker is not forgotten.
    const [ended = []] = await test.database.transaction([endedWorkers(0)]);
    const remembered = new Set(ended.map((row) => row["worker_id"]));
    assert.ok(leases.every(({ id }, index) => remembered.has(id) || taken[index] === 0));
  });
});
