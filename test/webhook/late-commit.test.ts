import assert from "node:assert/strict";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { StoredRecords } from "../../src/runtime/webhook/stored-records.ts";
import type { Database } from "../../src/store/database.ts";
import { PostgresDatabase } from "../../src/store/postgres-database.ts";
import { RecordArrivals } from "../../src/store/record-arrivals.ts";
import { StoredProgress } from "../../src/webhook/record-intake.ts";
import { postgresOptions } from "../store/databases.ts";
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
  CREATE FUNCTION dimensioner.wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON dimensioner.records DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.transaction_id = '${late}') EXECUTE FUNCTION dimensioner.wait()`;

describe("a record that PostgreSQL adds after one with a higher number", () => {
  let database: PostgresDatabase;
  let name: string;
  const handedOn: string[] = [];
  let onHandedOn: () => void = () => undefined;
  /** Holds back what was read, once. */
  let gate: Promise<void> | undefined;
  let onRead: () => void = () => undefined;

  beforeEach(async () => {
    const options = await postgresOptions();
    database = await PostgresDatabase.open(options);
    name = new URL(options.address.url).pathname.slice(1);
    handedOn.length = 0;
    gate = undefined;
    await (await sharedPostgres()).run(prepare, name);
  });
  afterEach(() => database.close());

  const gated: Pick<Database, "transaction"> = {
    async transaction(statements) {
      const rows = await database.transaction(statements);
      if (gate !== undefined && statements.some(({ sql }) => sql.includes("sent_by_run IS NULL"))) {
        onRead();
        await gate;
      }
      return rows;
    },
  };
  const keep = (records: StoredRecords, id: string) =>
    records.keep(decodeTransactionRecord({ id, errorCode: 0 }), 3_600_000);
  const untilHandedOn = async (count: number): Promise<void> => {
    while (handedOn.length < count) {
      await new Promise<void>((resolve) => {
        onHandedOn = resolve;
      });
    }
  };

  /** Has two records added, of which "late" has the lower number and is not committed yet; `commit` commits it. */
  async function begin() {
    const server = await sharedPostgres();
    const { promise: ready, resolve: onReady } = Promise.withResolvers<unknown>();
    const records = new StoredRecords(
      {
        databaseKey: "store",
        lease: async () => ({
          database: { ...gated, close: async () => undefined },
          arrivals: new RecordArrivals(),
          worker: { id: "store", isAlone: true },
          release: async () => undefined,
        }),
      },
      {
        nodeId: "node",
        runId: "run",
        progress: new StoredProgress(),
        handOn: ({ record }) => {
          handedOn.push(record.transactionId);
          onHandedOn();
        },
        onTrouble: (error) => assert.fail(String(error)),
        onReady,
      },
    );
    const commit = await server.hold("SELECT pg_advisory_lock(1)", name);
    const kept = keep(records, late);
    await server.until(
      `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND wait_event = 'advisory'`,
    );
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
    const read = new Promise<void>((resolve) => {
      onRead = resolve;
    });
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
