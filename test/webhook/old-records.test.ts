import assert from "node:assert/strict";
import type { Database } from "../../src/database/database.ts";
import { Inbox, RecordArrivals } from "../../src/database/inbox.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { RecordPump, type RecordReceiver } from "../../src/webhook/pump.ts";
import type { StoreUse } from "../../src/webhook/stored-records.ts";
import { describeDatabases } from "../database/databases.ts";
import { Hours } from "../database/hours.ts";
import type { TestDatabase } from "../database/support.ts";

type Callbacks = Pick<StoreUse, "onTrouble" | "onReady" | "onLongUnhandled"> &
  Pick<RecordReceiver, "deliver">;

const dayMs = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();

describeDatabases("old records of a webhook", (open) => {
  let test: TestDatabase;
  let hours: Hours;
  beforeEach(async () => {
    test = await open();
    hours = new Hours();
  });
  afterEach(async () => {
    hours.close();
    await test.close();
  });

  const add = (count: number, receivedAt: string, handledAt: string | null) =>
    test.database.transaction([
      {
        sql: `INSERT INTO records (node_id, transaction_id, received_at, received_by_run, record, record_sha256, handled_at)
          WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
          SELECT 'another node', 'id', '${receivedAt}', '', '', '', ${handledAt === null ? "NULL" : `'${handledAt}'`}
          FROM numbers`,
      },
    ]);
  /** The records as a node keeps them in this database. */
  const openIn = (
    database: Database,
    { deliver = () => undefined, ...given }: Partial<Callbacks> = {},
    pump = new RecordPump(),
  ): (() => Promise<void>) => {
    const close = pump.open({
      store: {
        databaseKey: "store",
        connect: async () => ({
          database,
          arrivals: new RecordArrivals(),
          worker: { id: "store", isAlone: true },
          release: async () => undefined,
        }),
      },
      nodeId: "node",
      runId: "run",
      onReady: () => undefined,
      onLongUnhandled: () => undefined,
      onTrouble: () => undefined,
      ...given,
    });
    pump.resume({ deliver, unreached: () => [] });
    return close;
  };
  const untilLeft = async (count: number): Promise<void> => {
    for (;;) {
      const [rows] = await test.database.transaction([{ sql: "SELECT count(*) AS count FROM records" }]);
      if (Number(rows?.[0]?.["count"]) === count) {
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it("are removed 90 days after they arrived if they are handled, however many there are, also if none arrives", async () => {
    await add(1, daysAgo(91), null);
    await add(1, daysAgo(89), daysAgo(88));
    await add(2_500, daysAgo(91), daysAgo(90));
    const close = openIn(test.database);
    await untilLeft(2);
    await add(2_500, daysAgo(91), daysAgo(90));
    hours.pass();
    await untilLeft(2);
    await close();
  });

  /** Records of a run before: one that was sent eight days ago, and one that was never sent. */
  const leaveTwo = async (): Promise<void> => {
    const earlier = (at: string) =>
      new Inbox(test.database, { nodeId: "node", runId: "earlier", now: () => new Date(at) });
    const add = (id: number) => earlier(daysAgo(8)).add(decodeTransactionRecord({ id, errorCode: 0 }), 0);
    const sent = await add(1);
    await add(2);
    await earlier(daysAgo(8)).sent([Number(sent)]);
  };

  it("are counted if they arrived more than a week ago", async () => {
    await leaveTwo();
    let close: (() => Promise<void>) | undefined;
    const tooOld = await new Promise((onLongUnhandled, reject) => {
      close = openIn(test.database, { onLongUnhandled, onTrouble: reject });
    });
    assert.equal(tooOld, 2);
    await close?.();
  });

  it("hold up no other record while they are counted, also where that fails", async () => {
    await leaveTwo();
    const asked = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<never>();
    const database: Database = {
      transaction: (statements) => {
        if (statements.some(({ sql }) => sql.includes("count(*)"))) {
          asked.resolve();
          return counted.promise;
        }
        return test.database.transaction(statements);
      },
      close: () => test.database.close(),
    };
    const out: string[] = [];
    const troubles: unknown[] = [];
    const pump = new RecordPump();
    const close = openIn(
      database,
      {
        deliver: ({ record }) => void out.push(record.transactionId),
        onReady: () => void out.push("ready"),
        onTrouble: (error) => void troubles.push(error),
      },
      pump,
    );
    const untilOut = async (count: number): Promise<void> => {
      while (out.length < count) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await asked.promise;
    await untilOut(3);
    assert.deepEqual(out.toSorted(), ["1", "2", "ready"]);
    counted.reject(new Error("it takes too long"));
    const posted = { record: decodeTransactionRecord({ id: 3, errorCode: 0 }), ids: ["3"], bytes: 1 };
    assert.equal(await pump.accept(posted, { dedupeMs: 0, queueLimit: 10 }), null);
    await untilOut(4);
    assert.equal(out.at(-1), "3");
    assert.deepEqual(troubles, []);
    await close();
  });
});
