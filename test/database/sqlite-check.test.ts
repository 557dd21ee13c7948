import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DatabaseCheck,
  type StoreConnection,
  StoreDatabases,
} from "../../src/database/store-databases.ts";
import { rowsIn } from "../support/rows.ts";
import { testThreads } from "./support.ts";

const damaged = { code: "ERR_STORE", message: /is damaged.*dimensioner rebuild/ };
const insert = { sql: "INSERT INTO workers (worker_id, host, begun_at) VALUES (?, ?, '')" };
/** Into pages that are not damaged. */
const insertElsewhere = { sql: "INSERT INTO uploads (location, begun_at) VALUES ('new', '')" };

describe("a large SQLite database, which is checked while it is used", () => {
  let folder: string;
  let file: string;
  let checks: DatabaseCheck[];
  const connections: StoreConnection[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "check-"));
    file = join(folder, "store.sqlite");
    checks = [];
    const { database, release } = await databases(Infinity).open({ kind: "file", file });
    for (let from = 0; from < 200; from += 1) {
      await database.transaction([{ ...insert, values: [`${from}`, "x".repeat(2_000)] }]);
    }
    await release();
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map(({ release }) => release()));
    await rm(folder, { recursive: true });
  });

  const databases = (besideFromBytes: number): StoreDatabases =>
    new StoreDatabases({
      threads: testThreads,
      besideFromBytes,
      onCheck: (_file, check) => checks.push(check),
    });
  const open = async (of: StoreDatabases): Promise<StoreConnection> => {
    const connection = await of.open({ kind: "file", file });
    connections.push(connection);
    return connection;
  };
  /** Damages the rows of a table, which nothing reads at the start. */
  const damage = async (): Promise<void> => {
    const bytes = await readFile(file);
    const at = bytes.indexOf("x".repeat(1_000));
    await writeFile(file, bytes.fill(0x5a, at - 200, at + 4_096));
  };

  it("can be written to before the check has ended, and its log goes into the file after it", async () => {
    const before = await readFile(file);
    const { database, check, release } = await open(databases(0));
    await database.transaction([{ ...insert, values: ["new", "y"] }]);
    assert.ok(before.equals(await readFile(file)), "the file is not written to");
    assert.equal(check?.bytes, before.length);
    assert.deepEqual(checks, [check]);
    await check?.ended;
    await release();
    assert.equal((await stat(`${file}-wal`).catch(() => undefined))?.size, undefined, "there is no log left");
    const [found] = rowsIn(file, "SELECT host FROM workers WHERE worker_id = 'new'");
    assert.equal(found?.["host"], "y");
  });

  it("is left as it was when it is closed before the check has ended, and nothing is lost", async () => {
    const before = await readFile(file);
    const { database, check, release } = await open(databases(0));
    await database.transaction([{ ...insert, values: ["new", "y"] }]);
    await release();
    // On a computer that was busy elsewhere it may have ended before.
    const isChecked = await check?.ended.then(
      () => true,
      () => false,
    );
    assert.ok(isChecked === true || before.equals(await readFile(file)));
    const again = await open(databases(0));
    const [rows] = await again.database.transaction([
      { sql: "SELECT host FROM workers WHERE worker_id = 'new'" },
    ]);
    assert.deepEqual(rows, [{ host: "y" }]);
  });

  it("is used no more once damage was found, stays as it was, and is used again when it was repaired", async () => {
    const whole = await readFile(file);
    await damage();
    const before = await readFile(file);
    const all = databases(0);
    const { database, check, release } = await open(all);
    await database.transaction([insertElsewhere]);
    assert.ok(check !== null);
    await assert.rejects(check.ended, damaged);
    await assert.rejects(database.transaction([{ sql: "SELECT 1" }]), damaged);
    assert.ok(before.equals(await readFile(file)), "the file is not written to");
    await release();
    // It is known by now: the next one does not use it before it was checked.
    await assert.rejects(open(all), damaged);
    assert.equal(checks.length, 1);
    await rm(`${file}-wal`);
    await writeFile(file, whole);
    await open(all);
  });

  it("goes on by itself when the damaged file was replaced by a copy", async () => {
    const whole = await readFile(file);
    await damage();
    const { database, check } = await open(databases(0));
    assert.ok(check !== null);
    await assert.rejects(check.ended, damaged);
    await assert.rejects(database.transaction([{ sql: "SELECT 1" }]), damaged);
    await rm(`${file}-wal`, { force: true });
    await writeFile(file, whole);
    assert.deepEqual(await database.transaction([{ sql: "SELECT 1 AS one" }]), [[{ one: 1 }]]);
  });

  it("is checked first if its schema is an older one", async () => {
    const { database, release } = await open(databases(Infinity));
    await database.transaction([{ sql: "PRAGMA user_version = 0" }]);
    await release();
    await damage();
    await assert.rejects(open(databases(0)), damaged);
  });
});
