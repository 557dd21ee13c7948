import assert from "node:assert/strict";
import { lockLog } from "../../src/database/database.ts";
import { LogTable } from "../../src/database/log-table.ts";
import type { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { namedVault, openBucketVault } from "../../src/vault/open-vault.ts";
import { entryOf } from "../../src/vault/log/events.ts";
import { LogFilesReader, lastLines } from "../../src/vault/log/log-files.ts";
import { publishLeftLog, publishLog } from "../../src/vault/log/open-log.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { MemoryDatabase } from "./memory-databases.ts";

const store = "1c9f6a6e-0000-4000-8000-000000000000";

describe("archive: the log in a bucket", () => {
  useCredentials();
  let stub: BucketStub;
  let vault: BucketVault;
  let database: ConstructorParameters<typeof LogTable>[0];
  beforeEach(async () => {
    stub = await startStub();
    const location = namedVault(stub.url("parcels"));
    assert.ok(location.kind === "s3");
    vault = await openBucketVault(location, {});
    const memory = new MemoryDatabase();
    database = { transaction: async (statements) => memory.run(statements) };
  });
  afterEach(async () => {
    await vault.close();
    await stub.close();
  });

  const add = async (table: LogTable): Promise<void> => {
    const at = new Date().toISOString();
    const line = entryOf({ what: "opened", at, worker: "w", software: "test" });
    await database.transaction([lockLog, ...table.append(line)]);
    await publishLog({ table, vault });
  };
  const objects = (): string[] => [...stub.objects.keys()].filter((key) => key.endsWith(".log")).toSorted();
  const blocks = (): string[] => objects().filter((key) => key.endsWith("-block.log"));
  /** Asserts that each line is there, and is the one in the database. */
  const assertWhole = async (size: number): Promise<void> => {
    const [rows = []] = await database.transaction([{ sql: "SELECT n, line FROM log ORDER BY n" }]);
    const found = new Map<number, string>();
    for await (const lines of new LogFilesReader(vault.root, store, vault.disk).read()) {
      lines.forEach(({ n, line }) => found.set(n, line));
    }
    assert.equal(rows.length, size);
    assert.deepEqual(
      [...found].toSorted(([one], [other]) => one - other),
      rows.map(({ n, line }) => [n, line]),
    );
    const ends = await lastLines(vault.root, store, vault.disk);
    assert.equal(Math.max(...ends.map(({ n }) => n)), size - 1);
  };

  it("has full blocks of lines as one object each, and the lines behind them as they came", async () => {
    const table = new LogTable(database, store, "w");
    for (let line = 0; line < 1_100; line += 1) {
      await add(table);
    }
    await table.close();
    assert.equal(blocks().length, 4);
    assert.ok(objects().length <= 4 + 2 * 256, `${objects().length} objects`);
    await assertWhole(1_100);
    // The next process finishes what is left.
    const next = new LogTable(database, store, "w");
    await add(next);
    await next.close();
    assert.equal(objects().length, 4 + 1_101 - 4 * 256);
    await assertWhole(1_101);
  });

  it("loses no line when several workers put blocks together at the same time, or one is killed", async () => {
    const tables = ["one", "two", "three"].map((writer) => new LogTable(database, store, writer));
    let left = 300;
    // As a kill between storing a block and removing what it replaces.
    stub.fault = ({ method }) => (method === "DELETE" && (left -= 1) < 0 ? "reset" : undefined);
    await Promise.all(
      tables.map(async (table) => {
        for (let line = 0; line < 200; line += 1) {
          await add(table);
        }
      }),
    );
    await Promise.all(tables.map((table) => table.close()));
    assert.ok(blocks().length > 0);
    await assertWhole(600);
    stub.fault = () => undefined;
    const last = new LogTable(database, store, "last");
    await add(last);
    await publishLeftLog({ table: last, vault });
    await last.close();
    await assertWhole(601);
    assert.equal(blocks().length, 2);
    assert.ok(objects().length < 2 + 601 - 2 * 256 + 10, `${objects().length} objects`);
  });

  it("keeps the lines as they came where nothing can be deleted, and does not ask again and again", async () => {
    stub.fault = ({ method }) => (method === "DELETE" ? { status: 403, code: "AccessDenied" } : undefined);
    const table = new LogTable(database, store, "w");
    for (let line = 0; line < 900; line += 1) {
      await add(table);
    }
    await table.close();
    assert.equal(stub.requests.filter(({ method }) => method === "DELETE").length, 1);
    await assertWhole(900);
  });

  it("is read whole while lines are put together", async () => {
    const table = new LogTable(database, store, "w");
    stub.fault = ({ method }) => (method === "DELETE" ? "reset" : undefined);
    for (let line = 0; line < 300; line += 1) {
      await add(table);
    }
    await table.close();
    stub.objects.delete(blocks()[0] ?? "");
    const compact = (): Promise<boolean> =>
      vault.compactLog(store, 300, (first, end) => table.lines(first, end));
    let isFirst = true;
    stub.fault = async ({ method, key }) => {
      if (isFirst && method === "GET" && key.endsWith(".log")) {
        isFirst = false;
        await compact();
      }
      return undefined;
    };
    await assertWhole(300);
    assert.equal(blocks().length, 1);
    assert.equal(objects().length, 1 + 300 - 256);
  });
});
