import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import type { Statement } from "../../src/database/database.ts";
import { Inbox } from "../../src/database/inbox.ts";
import { unansweredPostgresError } from "../../src/database/postgres-connection.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { ToolThread } from "../../src/database/tool-database.ts";
import { listMissing } from "../../src/evidence/missing.ts";
import { findUndelivered } from "../../src/evidence/search.ts";
import { AbandonedJobs, EarlierJobs, JobTable } from "../../src/jobs/job-rows.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { IndexReader } from "../../src/vault/index-reader.ts";
import { intentOf } from "../archive/support.ts";
import { postgresOptions } from "./databases.ts";

/** Together more than the answer to one statement may have. */
const jobs = 4;
const answerCharacters = 17_000_000;
const records = 70;
const recordCharacters = 950_000;
const hourMs = 3_600_000;

describe("jobs and records whose texts are longer together than an answer of PostgreSQL may be", () => {
  let database: PostgresDatabase;
  let url: string;
  const ids = Array.from({ length: jobs }, (_, index) => `job-${index}`);

  const recordOf = (more: string) =>
    decodeTransactionRecord({ id: "T-1", errorCode: 0, transactionReference: "ORDER-1", more });

  before(async () => {
    const options = await postgresOptions();
    ({ url } = options.address);
    database = await PostgresDatabase.open(options);
    await database.transaction([{ sql: "INSERT INTO store (store_id, created_at) VALUES ('store', '')" }]);
    const table = new JobTable(database, "stopped");
    for (const id of ids) {
      const intent = intentOf(id, { raw: "x".repeat(answerCharacters) });
      await table.accept({ id, node: "node", key: id, intent, items: new Map() });
    }
    for (let index = 0; index < records; index += 1) {
      const text = JSON.stringify(recordOf(`${index}${"x".repeat(recordCharacters)}`));
      await database.transaction([
        {
          sql: `INSERT INTO records (node_id, transaction_id, transaction_reference, received_at, received_by_run, record, record_sha256)
            VALUES ('inbox', 't-1', 'ORDER-1', ?, 'run', ?, ?)`,
          values: [new Date().toISOString(), text, sha256Of(text)],
        },
      ]);
    }
  });
  after(() => database.close());

  it("are resumed, and taken over, also where the answer of that was lost", async () => {
    const idsOf = ({ jobs: found }: { readonly jobs: readonly { readonly id: string }[] }) =>
      found.map(({ id }) => id).toSorted();
    assert.deepEqual(idsOf(await new EarlierJobs(database, "stopped").unfinished()), ids);
    for (const [worker, node] of [
      ["one", "node"],
      ["two", "of another node"],
    ] as const) {
      await database.transaction([{ sql: "UPDATE jobs SET worker_id = ''" }]);
      let isFirst = true;
      const failing = {
        close: () => database.close(),
        transaction: async (statements: readonly Statement[]) => {
          const rows = await database.transaction(statements);
          const changes = statements.some(({ sql }) => sql.startsWith("UPDATE jobs"));
          if (changes && isFirst) {
            isFirst = false;
            throw unansweredPostgresError("store", 30_000);
          }
          return rows;
        },
      };
      const abandoned = new AbandonedJobs(failing, worker, () => false);
      const take = () => abandoned.take({ node, isMine: () => true }, 50);
      await assert.rejects(take(), { code: "ERR_STORE" });
      assert.deepEqual(idsOf(await take()), ids);
    }
    await database.transaction([{ sql: "UPDATE jobs SET worker_id = ''" }]);
    const taken = await new AbandonedJobs(database, "three", () => false).take(
      { node: "node", isMine: () => false },
      50,
    );
    assert.deepEqual(idsOf(taken), ids);
  });

  it("are read one by one where a webhook's record comes again, and after a restart", async () => {
    const inbox = new Inbox(database, { nodeId: "inbox", runId: "next" });
    assert.equal(await inbox.add(recordOf(`7${"x".repeat(recordCharacters)}`), hourMs), null);
    const { records: unsent } = await inbox.unsent(0, 100);
    assert.deepEqual(
      [unsent.length, unsent.filter(({ corrects }) => corrects !== null).length],
      [records, records - 1],
    );
  });

  it("are looked for by evidence and by dimensioner verify", async () => {
    const vault = new FolderVault(tmpdir(), plainDisk);
    const period = { from: "2000", to: "2999" };
    assert.equal((await listMissing({ database, vault }, period, 1_000)).length, jobs + 1);
    await database.transaction([{ sql: "UPDATE jobs SET state = 'sealing', changed_at = '2000'" }]);
    assert.equal((await findUndelivered(database, "ORDER-1")).count, jobs);
    await database.transaction([{ sql: "UPDATE jobs SET intent_sha256 = ''" }]);
    const reader = await IndexReader.open(url, new ToolThread());
    try {
      let damaged = 0;
      for await (const { kind } of reader.damagedRows()) {
        damaged += Number(kind === "database");
      }
      assert.equal(damaged, jobs);
    } finally {
      await reader.close();
    }
  });
});
