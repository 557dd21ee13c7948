import assert from "node:assert/strict";
import type { Database } from "../../src/database/database.ts";
import { Inbox, RecordArrivals } from "../../src/database/inbox.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import type { Worker } from "../../src/database/worker-lease.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
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
  /** Holds back what is noted as sent. */
  let noteGate: Promise<void> | undefined;
  let onNoted: () => void = () => undefined;
  let onRead: () => void = () => undefined;

  beforeEach(async () => {
    const options = await postgresOptions();
    database = await PostgresDatabase.open(options);
    impatient = new ImpatientDatabase(database);
    name = new URL(options.address.url).pathname.slice(1);
    handedOn.length = 0;
    [gate, noteGate] = [undefined, undefined];
    await (await sharedPostgres()).run(prepare, name);
  });
  afterEach(() => database.close());

  /** Resolves with whether the record was accepted. */
  const keep = async (pump: RecordPump, id: string): Promise<boolean> => {
    const posted = { record: decodeTransactionRecord({ id, errorCode: 0 }), ids: [id], bytes: 1 };
    return (await pump.accept(posted, { dedupeMs: 3_600_000, queueLimit: 10 })) === null;
  };
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
    const { promise: ready, resolve: onReady } = Promise.withResolvers<unknown>();
    const gated: Database = {
      async transaction(statements) {
        const isNote = statements.some(({ sql }) => sql.includes("sent_by_run = ?"));
        if (isNote) {
          await noteGate;
        }
        const rows = await used.transaction(statements);
        if (statements.some(({ sql }) => sql.includes("sent_by_run IS NULL"))) {
          onRead();
          await gate;
        }
        if (isNote) {
          onNoted();
        }
        return rows;
      },
      close: async () => undefined,
    };
    const pump = new RecordPump();
    const close = pump.open({
      store: {
        databaseKey: "store",
        connect: async () => ({
          database: gated,
          arrivals: new RecordArrivals(),
          worker,
          release: async () => undefined,
        }),
      },
      nodeId: "node",
      runId: "run",
      onTrouble: (error) => assert.fail(String(error)),
      onReady,
      onLongUnhandled: () => undefined,
    });
    const start = (): void => {
      pump.resume({
        deliver: ({ record }) => {
          handedOn.push(record.transactionId);
          onHandedOn();
        },
        unreached: () => [],
      });
    };
    return { pump, start, close, ready };
  }
  const untilCommitted = async (): Promise<void> => {
    const sql = `SELECT 1 AS one FROM records WHERE transaction_id = '${late}'`;
    while ((await database.transaction([{ sql }]))[0]?.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it("does not bring another one out twice that is noted as sent while the store is read again", async () => {
    const { pump, start, close, ready } = recordsIn(impatient, alone);
    start();
    await ready;
    const [readAgain, noted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    noteGate = readAgain.promise;
    assert.ok(await keep(pump, next));
    await untilHandedOn(1);
    // All is read again, since the answer to another record is lost.
    const commit = await holdCommits(name);
    const kept = keep(pump, late);
    await untilHeldUp(name);
    gate = noted.promise;
    const read = nextRead();
    impatient.giveUp("INSERT INTO records");
    assert.equal(await kept, false);
    await read;
    const isNoted = new Promise<void>((resolve) => {
      onNoted = resolve;
    });
    readAgain.resolve();
    await isNoted;
    noted.resolve();
    await commit();
    await untilHandedOn(2);
    assert.deepEqual(handedOn, [next, late]);
    await close();
  });

  describe("after one with a higher number", () => {
    /** Has two records added, of which "late" has the lower number and is not committed yet; `commit` commits it. */
    async function begin() {
      const { pump, start, close, ready } = recordsIn(database, alone);
      const commit = await holdCommits(name);
      const kept = keep(pump, late);
      await untilHeldUp(name);
      assert.ok(await keep(pump, next));
      return { start, close, ready, kept, commit };
    }

    it("is sent if it comes when all others were read", async () => {
      const { start, close, ready, kept, commit } = await begin();
      start();
      await ready;
      await untilHandedOn(1);
      assert.deepEqual(handedOn, [next]);
      await commit();
      assert.ok(await kept);
      await untilHandedOn(2);
      assert.deepEqual(handedOn, [next, late]);
      await close();
    });

    it("is sent if it comes while the others are read", async () => {
      const { start, close, ready, kept, commit } = await begin();
      const { promise, resolve: go } = Promise.withResolvers<void>();
      gate = promise;
      const read = nextRead();
      start();
      await read;
      await commit();
      assert.ok(await kept);
      gate = undefined;
      go();
      await untilHandedOn(2);
      await ready;
      assert.deepEqual(handedOn, [next, late]);
      await close();
    });
  });

  describe("after its client has given up, and has looked for it", () => {
    it("is sent, although its sender was told that it is not stored, and then that it is", async () => {
      const { pump, start, close, ready } = recordsIn(impatient, alone);
      start();
      await ready;
      const commit = await holdCommits(name);
      const read = nextRead();
      const kept = keep(pump, late);
      await untilHeldUp(name);
      impatient.giveUp("INSERT INTO records");
      assert.equal(await kept, false);
      await read;
      await commit();
      await untilCommitted();
      assert.ok(await keep(pump, late), "a duplicate");
      await untilHandedOn(1);
      assert.deepEqual(handedOn, [late]);
      await close();
    });

    it("is sent if it was taken over from another worker", async () => {
      await database.transaction([{ sql: "INSERT INTO workers VALUES ('gone', '', '', '')" }]);
      const gone = { id: "gone", isAlone: false };
      const inbox = new Inbox(database, { nodeId: "node", runId: "an earlier run", worker: gone });
      await inbox.add(decodeTransactionRecord({ id: late, errorCode: 0 }), 0);
      const commit = await holdCommits(name);
      const { start, close, ready } = recordsIn(impatient, one);
      start();
      await ready;
      await untilHeldUp(name);
      const read = nextRead();
      impatient.giveUp("UPDATE records");
      await read;
      await commit();
      await untilHandedOn(1);
      assert.deepEqual(handedOn, [late]);
      await close();
    });
  });
});
