import assert from "node:assert/strict";
import { VirtualClock } from "../archive/virtual-clock.ts";
import { unknownDevice } from "../../src/model/instrument.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { readPosted } from "../../src/webhook/posted-record.ts";
import {
  RecordIntake,
  WebhookMemory,
  type NotTaken,
  type Received,
} from "../../src/webhook/record-intake.ts";
import { StoredProgress } from "../../src/webhook/stored-progress.ts";

const rules = {
  dedupeMs: 60_000,
  queueLimit: 10,
  onlyOk: false,
  deviceClientIds: [],
  deviceOf: () => unknownDevice,
};
const mega = 1_000_000;

describe("records on their way into a store whose database is slow", () => {
  /** A store that answers no record before `answer` is called. */
  function slowStore() {
    const waiting: (() => void)[] = [];
    let kept = 0;
    return {
      keeper: {
        keep: async (record: Received["record"]): Promise<Received> => {
          kept += 1;
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { record, kept: { store: "store", recordId: kept }, isResumed: false };
        },
      },
      get kept() {
        return kept;
      },
      answer: () => waiting.splice(0).forEach((resolve) => resolve()),
    };
  }

  /** Posts as many records of one size at once; resolves with what is not refused at once. */
  async function take(intake: RecordIntake, bytes: number, count: number) {
    const refusals: NotTaken[] = [];
    const all = Array.from({ length: count }, async (_, id) => {
      const record = decodeTransactionRecord({ id, errorCode: 0 });
      const refusal = await intake.take({ record, ids: [String(id)], bytes });
      if (refusal !== null) {
        refusals.push(refusal);
      }
    });
    await new Promise((resolve) => setImmediate(resolve));
    return { refusals, all: Promise.all(all) };
  }

  for (const [what, bytes, room] of [
    ["number", 1_000, 10],
    ["bytes", 8 * mega, 4],
  ] as const) {
    it(`are limited in ${what} like those in the queue, also for the node that replaces this one`, async () => {
      const memory = new WebhookMemory();
      const store = slowStore();
      const { refusals, all } = await take(new RecordIntake(rules, memory, store.keeper), bytes, room + 3);
      const full = { refusal: "full" } as const;
      assert.deepEqual([store.kept, refusals], [room, [full, full, full]]);
      const next = new RecordIntake(rules, memory, store.keeper);
      assert.deepEqual((await take(next, bytes, 1)).refusals, [full]);
      store.answer();
      await all;
      assert.equal(refusals.length, 3);
      // Now they are in the queue, which is as full.
      assert.equal(next.waiting, room);
      assert.deepEqual((await take(next, bytes, 1)).refusals, [full]);
      next.resume({ deliver: () => undefined, unreached: () => [] });
      while (next.waiting > 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.deepEqual((await take(next, bytes, 1)).refusals, []);
      store.answer();
    });
  }

  it("make room again if the database fails", async () => {
    const memory = new WebhookMemory();
    const failing = { keep: () => Promise.reject(new Error("the disk is gone")) };
    const { refusals } = await take(new RecordIntake(rules, memory, failing), mega, 10);
    assert.deepEqual(new Set(refusals.map(({ refusal }) => refusal)), new Set(["store"]));
    assert.deepEqual(memory.keeping, { items: 0, bytes: 0 });
  });
});

describe("records that wait in memory", () => {
  const bytesOf = (body: string): number => {
    const posted = readPosted(Buffer.from(body));
    assert.ok("record" in posted);
    return posted.bytes;
  };

  it("count with what they take there, which may be twenty times as much as their bodies", () => {
    const body = `{"id":1,"errorCode":0,"more":[${"{},".repeat(4_900)}1]}`;
    // Measured: 64 bytes for each empty object.
    assert.ok(bytesOf(body) >= 64 * 4_900, `${bytesOf(body)}`);
    assert.ok(bytesOf('{"id":1,"errorCode":0,"length":12.5,"width":3}') < 200);
  });

  it("count so little that one alone always has room, whatever its texts hold", () => {
    const bytes = bytesOf(`{"id":1,"errorCode":0,"note":"${"{[,".repeat(330_000)}"}`);
    assert.ok(bytes < 2 * mega, `${bytes}`);
  });
});

describe("how far the records of a store were read", () => {
  it("is known of any number of records that arrive meanwhile, in little memory", () => {
    const progress = new StoredProgress();
    for (let recordId = 1; recordId <= 30_000; recordId += 1) {
      progress.leaveUnread(recordId);
    }
    assert.ok(progress.unread.size <= 10_000, `${progress.unread.size} numbers`);
    // All are read again from the first one on, of those that were not sent.
    assert.ok(progress.unread.has(0));
  });

  it("is looked at again for a day after an answer is lost, more and more rarely", () => {
    const clock = new VirtualClock(Number.POSITIVE_INFINITY);
    try {
      const progress = new StoredProgress();
      const looks: number[] = [];
      progress.isReading = false;
      progress.read = () => {
        looks.push(performance.now());
        progress.isReading = false;
      };
      progress.leaveUnanswered();
      for (let fired = 0; clock.isDueSoon && fired < 100; fired += 1) {
        clock.fireNext();
      }
      const [first = 0, last = 0] = [looks.at(0), looks.at(-1)];
      const hours = (last - first) / 3_600_000;
      assert.ok(hours >= 24 && hours < 26 && looks.length < 50, `${looks.length} looks in ${hours} hours`);
    } finally {
      clock.close();
    }
  });
});
