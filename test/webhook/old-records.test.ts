import { StoredRecords } from "../../src/runtime/webhook/stored-records.ts";
import { RecordArrivals } from "../../src/store/record-arrivals.ts";
import { WebhookMemory } from "../../src/webhook/record-intake.ts";
import { describeDatabases } from "../store/databases.ts";
import { Hours } from "../store/hours.ts";
import type { TestDatabase } from "../store/support.ts";

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
    const records = new StoredRecords(
      {
        databaseKey: "store",
        lease: async () => ({
          database: test.database,
          arrivals: new RecordArrivals(),
          worker: { id: "store", isAlone: true },
          release: async () => undefined,
        }),
      },
      {
        nodeId: "node",
        runId: "run",
        progress: new WebhookMemory().storedIn("store"),
        handOn: () => undefined,
        onTrouble: () => undefined,
        onReady: () => undefined,
      },
    );
    records.open();
    await untilLeft(2);
    await add(2_500, daysAgo(91), daysAgo(90));
    hours.pass();
    await untilLeft(2);
    await records.close();
  });
});
