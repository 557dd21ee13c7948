import assert from "node:assert/strict";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { StoredRecords } from "../../src/runtime/webhook/stored-records.ts";
import type { Database } from "../../src/database/database.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { RecordArrivals } from "../../src/database/record-arrivals.ts";
import { Inbox } from "../../src/database/inbox.ts";
import type { Worker } from "../../src/database/worker-lease.ts";
import { StoredProgress } from "../../src/webhook/stored-progress.ts";
import { postgresOptions } from "../database/databases.ts";
import { ImpatientDatabase } from "../database/impatient-database.ts";
import { holdCommits, makeWait, untilHeldUp } from "../database/late-commits.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";

/** Far apart in an index. */
const [late, next] = ["0 late", "z next"];
const now = new Date().toISOString();
/**
 * In a table of this size, records are added by transactions that do not conflict: each looks for duplicates in another part of the
 * indexes. One of them, with the late record, waits before it is committed, as on a busy server.
 */
const prepare = `
  INSERT INTO dimensioner.records
      (node_id, transaction_id, legacy_id, received_at, received_by_run, record, record_sha256, handled_at)
    SELECT 'node', md5(i::text), md5(i::text), '${now}', 'run', '{}', '', '${now}' FROM generate_series(1, 5000) AS i;
  ANALYZE dimensioner.records;
  ${makeWait}
  CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE OF worker_id ON dimensioner.records
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.transaction_id = '${late}') EXECUTE FUNCTION dimensioner.wait()`;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The worker of an embedded database, and one of several. */
const [alone, one] = [
  { id: "store", isAlone: true },
  { id: "one", isAlone: false },
];

describe("a record that PostgreSQL commits late", () => {
  let database: PostgresDatabase;
  /** The same one for a client that gives up. */
  let impatient: ImpatientDatabase;
  let name: string;
  const handedOn: string[] = [];
  let onHandedOn: () => void = () => undefined;
  /** Holds back what was read. */
  let gate: Promise<void> | undefined;
  let onRead: () => void = () => undefined;

  beforeEach(async () => {
    const options = await postgresOptions();
    database = await PostgresDatabase.open(options);
    impatient = new ImpatientDatabase(database);
    name = new URL(options.address.url).pathname.slice(1);
    handedOn.length = 0;
    gate = undefined;
    await (await sharedPostgres()).run(prepare, name);
  });
  afterEach(() => database.close());

  const keep = (records: StoredRecords, id: string) =>
    records.keep(decodeTransactionRecord({ id, errorCode: 0 }), 3_600_000);
  const untilHandedOn = async (count: number): Promise<void> => {
    while (handedOn.length < count) {
      await new Promise<void>((resolve) => {
        onHandedOn = resolve;
      });
    }
  };

  /** Resolves when the database has answered which records are left over. */
  const nextRead = (): Promise<void> =>
    new Promise((resolve) => {
      onRead = resolve;
    });

  function recordsIn(used: Database, worker: Worker) {
    const progress = new StoredProgress();
    const { promise: ready, resolve: onReady } = Promise.withResolvers<unknown>();
    const gated: Database = {
      async transaction(statements) {
        const rows = await used.transaction(statements);
        if (statements.some(({ sql }) => sql.includes("sent_by_run IS NULL"))) {
          onRead();
          await gate;
        }
        return rows;
      },
      close: async () => undefined,
    };
    const records = new StoredRecords(
      {
        databaseKey: "store",
        lease: async () => ({
          database: gated,
          arrivals: new RecordArrivals(),
          worker,
          release: async () => undefined,
        }),
      },
      {
        nodeId: "node",
        runId: "run",
        progress,
        handOn: ({ record }) => {
          handedOn.push(record.transactionId);
          onHandedOn();
        },
        onTrouble: (error) => assert.fail(String(error)),
        onReady,
        onTooOld: () => undefined,
      },
    );
    return { records, ready, progress };
  }
  const untilCommitted = async (): Promise<void> => {
    const sql = `SELECT 1 AS one FROM records WHERE transaction_id = '${late}'`;
    while ((await database.transaction([{ sql }]))[0]?.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it("does not bring another one out twice that is noted as sent while the store is read again", async () => {
    const { records, ready, progress } = recordsIn(database, alone);
    records.open();
    await ready;
    const received = await keep(records, next);
    assert.ok(received !== null);
    const { promise, resolve: go } = Promise.withResolvers<void>();
    gate = promise;
    const read = nextRead();
    progress.leaveUnanswered();
    await read;
    records.delivered(received);
    await until(() => progress.inHand.size === 0);
    go();
    await until(() => !progress.isReading);
    assert.deepEqual(handedOn, []);
    await records.close();
  });

  describe("after one with a higher number", () => {
    /** Has two records added, of which "late" has the lower number and is not committed yet; `commit` commits it. */
    async function begin() {
      const { records, ready } = recordsIn(database, alone);
      const commit = await holdCommits(name);
      const kept = keep(records, late);
      await untilHeldUp(name);
      assert.equal(await keep(records, next), null);
      return { records, ready, kept, commit };
    }

    it("is sent if it comes when all others were read", async () => {
      const { records, ready, kept, commit } = await begin();
      records.open();
      await ready;
      assert.deepEqual(handedOn, [next]);
      await commit();
      assert.equal(await kept, null);
      await untilHandedOn(2);
      assert.deepEqual(handedOn, [next, late]);
      await records.close();
    });

    it("is sent if it comes while the others are read", async () => {
      const { records, ready, kept, commit } = await begin();
      const { promise, resolve: go } = Promise.withResolvers<void>();
      gate = promise;
      const read = nextRead();
      records.open();
      await read;
      await commit();
      assert.equal(await kept, null);
      gate = undefined;
      go();
      await untilHandedOn(2);
      await ready;
      assert.deepEqual(handedOn, [next, late]);
      await records.close();
    });
  });

  describe("after its client has given up, and has looked for it", () => {
    it("is sent, although its sender was told that it is not stored, and then that it is", async () => {
      const { records, ready } = recordsIn(impatient, alone);
      records.open();
      await ready;
      const commit = await holdCommits(name);
      const read = nextRead();
      const kept = keep(records, late);
      await untilHeldUp(name);
      impatient.giveUp("INSERT INTO records");
      await assert.rejects(kept, { code: "ERR_STORE" });
      await read;
      await commit();
      await untilCommitted();
      assert.equal(await keep(records, late), null, "a duplicate");
      await untilHandedOn(1);
      assert.deepEqual(handedOn, [late]);
      await records.close();
    });

    it("is sent if it was taken over from another worker", async () => {
      await database.transaction([{ sql: "INSERT INTO workers VALUES ('gone', '', '', '')" }]);
      const gone = { id: "gone", isAlone: false };
      const inbox = new Inbox(database, { nodeId: "node", runId: "an earlier run", worker: gone });
      await inbox.add(decodeTransactionRecord({ id: late, errorCode: 0 }), 0);
      const commit = await holdCommits(name);
      const { records, ready } = recordsIn(impatient, one);
      records.open();
      await ready;
      await untilHeldUp(name);
      const read = nextRead();
      impatient.giveUp("UPDATE records");
      await read;
      await commit();
      await untilHandedOn(1);
      assert.deepEqual(handedOn, [late]);
      await records.close();
    });
  });
});
