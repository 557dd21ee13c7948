import assert from "node:assert/strict";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { readPosted } from "../../src/webhook/posted-record.ts";
import { type NotTaken, RecordPump, type RecordReceiver } from "../../src/webhook/pump.ts";
import { VirtualClock } from "../archive/virtual-clock.ts";

const rules = { dedupeMs: 60_000, queueLimit: 10_000 };
const mega = 1_000_000;
const full = { refusal: "full" } as const;

function push(pump: RecordPump, id: number, bytes = 1, queueLimit = rules.queueLimit) {
  const record = decodeTransactionRecord({ id, errorCode: 0 });
  return pump.accept({ record, ids: [String(id)], bytes }, { ...rules, queueLimit });
}

function fill(pump: RecordPump, from: number, count: number): void {
  for (let id = from; id < from + count; id++) {
    void push(pump, id);
  }
}

const into = (got: unknown[]): RecordReceiver => ({
  deliver: ({ record }, waiting) => void got.push(`${record.transactionId}/${waiting}`),
  unreached: () => [],
});
const nowhere: RecordReceiver = into([]);

async function untilEmpty(pump: RecordPump): Promise<number> {
  let turns = 0;
  for (; pump.waiting > 0; turns++) {
    await turn();
  }
  return turns;
}

describe("the pump of a webhook without a store", () => {
  it("hands on in order, never while a record is accepted", async () => {
    const got: unknown[] = [];
    const pump = new RecordPump();
    pump.resume(into(got));
    fill(pump, 1, 3);
    assert.deepEqual(got, []);
    await untilEmpty(pump);
    assert.deepEqual(got, ["1/2", "2/1", "3/0"]);
    fill(pump, 4, 1);
    await untilEmpty(pump);
    assert.equal(got.at(-1), "4/0", "and goes on after it was empty");
  });

  it("takes no more records and no more bytes than may wait, counting what is on its way", async () => {
    const pump = new RecordPump();
    assert.deepEqual(await Promise.all([1, 2, 3].map((id) => push(pump, id, 10, 2))), [null, null, full]);
    pump.resume(nowhere);
    await untilEmpty(pump);
    pump.hold();
    assert.deepEqual(
      await Promise.all([20, 20, 12].map((megabytes, id) => push(pump, 4 + id, megabytes * mega, 3))),
      [null, full, null],
    );
  });

  it("hands on nothing while it is held, and all of it after that", async () => {
    const got: unknown[] = [];
    const pump = new RecordPump();
    fill(pump, 1, 1);
    await turn();
    assert.deepEqual(got, []);
    pump.resume(into(got));
    pump.hold();
    await turn();
    assert.deepEqual(got, []);
    pump.resume(into(got));
    await untilEmpty(pump);
    assert.deepEqual(got, ["1/0"]);
  });

  it("hands on again, first of all, what did not arrive", async () => {
    const got: string[] = [];
    const pump = new RecordPump();
    fill(pump, 1, 3);
    pump.resume({
      deliver({ record }) {
        got.push(record.transactionId);
        pump.hold();
      },
      unreached: (received) => received,
    });
    await turn();
    await turn();
    assert.deepEqual([got, pump.waiting], [["1"], 3]);
    pump.resume({ ...nowhere, deliver: ({ record }) => void got.push(record.transactionId) });
    await untilEmpty(pump);
    assert.deepEqual(got, ["1", "1", "2", "3"]);
  });

  it("empties a burst in few turns where nothing slow follows, and in turns of some milliseconds where it does", async () => {
    const pump = new RecordPump();
    fill(pump, 1, 2_000);
    pump.resume(nowhere);
    assert.ok((await untilEmpty(pump)) < 50);

    fill(pump, 3_000, 2_000);
    let inTurn = 0;
    let mostInTurn = 0;
    pump.resume({
      deliver() {
        // The flow behind works in the next turn, as nodes do.
        setImmediate(() => spin(2));
        mostInTurn = Math.max(mostInTurn, ++inTurn);
      },
      unreached() {
        inTurn = 0;
        return [];
      },
    });
    for (let turns = 0; turns < 20; turns++) {
      await turn();
    }
    mostInTurn = 0;
    for (let turns = 0; turns < 20; turns++) {
      await turn();
    }
    assert.ok(mostInTurn >= 1 && mostInTurn <= 8, `${mostInTurn} in one turn`);
    pump.resume(nowhere);
    await untilEmpty(pump);
  });

  it("keeps up with a burst whose requests alone take long, as on a slow computer", async () => {
    const pump = new RecordPump();
    pump.resume(nowhere);
    let most = 0;
    for (let from = 1; from < 1_000; from += 10) {
      // It is due when the next turn begins, before its immediates, as requests are.
      const nextTurn = delay(1);
      spin(10);
      fill(pump, from, 10);
      most = Math.max(most, pump.waiting);
      await nextTurn;
    }
    assert.ok(most < 200, `${most} wait`);
    await untilEmpty(pump);
  });

  it("hands on few in one turn where that itself is slow, as it is where a message is copied", async () => {
    const pump = new RecordPump();
    // After a burst that nothing slow followed, the next turn may be as large as one can be.
    fill(pump, 1, 2_000);
    pump.resume(nowhere);
    await untilEmpty(pump);
    fill(pump, 3_000, 30);
    let inTurn = 0;
    let mostInTurn = 0;
    pump.resume({
      deliver() {
        spin(2);
        mostInTurn = Math.max(mostInTurn, ++inTurn);
      },
      unreached() {
        inTurn = 0;
        return [];
      },
    });
    await untilEmpty(pump);
    assert.ok(mostInTurn >= 1 && mostInTurn <= 3, `${mostInTurn} in one turn`);
  });
});

/** A pump with a store whose database does what the test says. */
function withStore(transaction: Database["transaction"], pump = new RecordPump()): RecordPump {
  const database = { transaction, close: async () => undefined };
  const worker = { id: "store", isAlone: true };
  const release = async () => undefined;
  pump.open({
    store: {
      databaseKey: "store",
      connect: async () => ({ database, arrivals: new RecordArrivals(), worker, release }),
    },
    nodeId: "node",
    runId: "run",
    onTrouble: () => undefined,
    onReady: () => undefined,
    onLongUnhandled: () => undefined,
  });
  return pump;
}

describe("records on their way into a store whose database is slow", () => {
  for (const [what, bytes, room] of [
    ["number", 1_000, 10],
    ["bytes", 8 * mega, 4],
  ] as const) {
    it(`are limited in ${what} like those in the queue, also for the node that replaces this one`, async () => {
      let kept = 0;
      const waiting: (() => void)[] = [];
      const rows: { record_id: number; record: string; record_sha256: string; received_by_run: string }[] =
        [];
      /** Answers no insert before `answer` is called. */
      const transaction: Database["transaction"] = async ([statement]) => {
        const { sql = "", values = [] } = statement ?? {};
        if (sql.startsWith("INSERT")) {
          kept += 1;
          const [record, sha256] = [values[9], values[10]].map(String) as [string, string];
          const row = { record_id: kept, record, record_sha256: sha256, received_by_run: "run" };
          await new Promise<void>((resolve) => waiting.push(resolve));
          rows.push(row);
          return [[{ record_id: row.record_id }]];
        }
        if (sql.startsWith("SELECT record_id")) {
          return [rows.filter(({ record_id }) => record_id > Number(values[1]))];
        }
        return [[]];
      };
      const answer = (): void => waiting.splice(0).forEach((resolve) => resolve());
      const pump = withStore(transaction);
      const refusals: NotTaken[] = [];
      /** Posts as many records of one size at once; resolves when what is refused at once is. */
      const take = async (from: number, count: number) => {
        const all = Array.from({ length: count }, async (_, id) => {
          const refusal = await push(pump, from + id, bytes, 10);
          if (refusal !== null) {
            refusals.push(refusal);
          }
        });
        await turn();
        return Promise.resolve({ all: Promise.all(all) });
      };
      const { all } = await take(0, room + 3);
      assert.deepEqual([kept, refusals], [room, [full, full, full]]);
      withStore(transaction, pump);
      await take(100, 1);
      assert.equal(refusals.length, 4);
      answer();
      await all;
      // Now they are in the table, and the flow has not received them.
      assert.equal(pump.waiting, room);
      await take(200, 1);
      assert.equal(refusals.length, 5);
      pump.resume(nowhere);
      await untilEmpty(pump);
      await take(300, 1);
      assert.equal(refusals.length, 5);
      answer();
    });
  }

  it("make room again if the database fails", async () => {
    const pump = withStore(() => Promise.reject(new Error("the disk is gone")));
    const refusals = await Promise.all(Array.from({ length: 10 }, (_, id) => push(pump, id, mega)));
    assert.deepEqual(new Set(refusals.map((one) => one?.refusal)), new Set(["store"]));
    assert.equal(pump.waiting, 0);
  });

  it("are looked for a day after an answer is lost, more and more rarely", async () => {
    const clock = new VirtualClock(Number.POSITIVE_INFINITY);
    try {
      const looks: number[] = [];
      const pump = withStore(async ([statement]) => {
        if (statement?.sql.startsWith("INSERT") === true) {
          throw new Error("no answer");
        }
        if (statement?.sql.startsWith("SELECT record_id") === true) {
          looks.push(performance.now());
        }
        return [[]];
      });
      pump.resume(nowhere);
      await push(pump, 1);
      for (let fired = 0; clock.isDueSoon && fired < 100; fired += 1) {
        clock.fireNext();
        await turn();
      }
      const [first = 0, last = 0] = [looks.at(0), looks.at(-1)];
      const hours = (last - first) / 3_600_000;
      assert.ok(hours >= 24 && hours < 26 && looks.length < 50, `${looks.length} looks in ${hours} hours`);
    } finally {
      clock.close();
    }
  });
});

describe("records that wait in memory", () => {
  const bytesOf = (body: string): number => {
    const posted = readPosted(Buffer.from(body), {});
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

function spin(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;) {
    Math.sqrt(until);
  }
}
