import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { type Migrations, mayWait } from "../../src/database/database.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { readLog } from "../../src/database/sqlite-log.ts";
import { SqliteThreads } from "../../src/database/sqlite-threads.ts";
import { migrations } from "./notes-schema.ts";
import { testThreads } from "./support.ts";

describe("a SQLite database in a thread of its own", () => {
  let folder: string;
  let file: string;
  const open: SqliteDatabase[] = [];

  const openFile = async (options: { migrations?: Migrations; busyTimeoutMs?: number } = {}) => {
    const database = await SqliteDatabase.open({ file, migrations, threads: testThreads, ...options });
    open.push(database);
    return database;
  };
  const insert = (text: string) => ({ sql: "INSERT INTO notes (text) VALUES (?)", values: [text] });
  const all = { sql: "SELECT text FROM notes ORDER BY note_id" };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sqlite-"));
    file = join(folder, "store.sqlite");
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((database) => database.close()));
    await rm(folder, { recursive: true });
  });

  it("makes the file, keeps what was written and finds it again", async () => {
    const first = await openFile();
    await first.transaction([insert("one"), insert("two")]);
    await first.close();
    const second = await openFile();
    const [rows] = await second.transaction([all]);
    assert.deepEqual(
      rows?.map(({ text }) => text),
      ["one", "two"],
    );
  });

  it("cuts a log that has become long", async () => {
    const database = await openFile();
    const limit = 64 * 1024 * 1024;
    await database.transaction(
      Array.from({ length: 70 }, (_, index) => insert(`${index}`.padEnd(1024 * 1024))),
    );
    assert.ok((await stat(`${file}-wal`)).size > limit);
    // It is in the file by now: the next commit begins the log anew.
    await database.transaction([insert("next")]);
    assert.equal((await stat(`${file}-wal`)).size, limit);
  });

  it("runs all statements of a transaction or none, whatever others in the same commit do", async () => {
    const database = await openFile();
    const outcomes = await Promise.allSettled([
      database.transaction([insert("a")]),
      database.transaction([insert("b"), insert("a")]),
      database.transaction([insert("c")]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const [rows] = await database.transaction([all]);
    assert.deepEqual(
      rows?.map(({ text }) => text),
      ["a", "c"],
    );
  });

  it("reads rows of which one has a number that JavaScript cannot hold", async () => {
    const database = await openFile();
    const values = "VALUES (1, 'one'), (9223372036854775807, 'two')";
    await database.transaction([{ sql: `INSERT INTO notes (note_id, text) ${values}` }]);
    const [rows] = await database.transaction([{ sql: "SELECT note_id FROM notes ORDER BY note_id" }]);
    assert.deepEqual(
      rows?.map(({ note_id: id }) => id),
      [1, "9223372036854775807"],
    );
  });

  it("refuses a file that is open already, and says so", async () => {
    await openFile();
    await assert.rejects(openFile(), (error) => {
      assert.ok(isDimensionerError(error));
      assert.equal(error.code, "ERR_STORE");
      assert.match(error.message, /in use by another process/);
      return true;
    });
  });

  it("refuses a schema that a newer version has made, and leaves it as it is", async () => {
    const newer = await openFile({ migrations: [...migrations, ["CREATE TABLE later (id INTEGER)"]] });
    await newer.close();
    const before = await readFile(file);
    await assert.rejects(openFile(), { code: "ERR_STORE", message: /newer version/ });
    assert.deepEqual(await readFile(file), before);
  });

  it("brings an older schema up to date", async () => {
    const older = await openFile();
    await older.transaction([insert("kept")]);
    await older.close();
    const newer = await openFile({ migrations: [...migrations, ["ALTER TABLE notes ADD COLUMN more TEXT"]] });
    const [rows] = await newer.transaction([{ sql: "SELECT text, more FROM notes" }]);
    assert.deepEqual(
      rows?.map(({ text, more }) => [text, more]),
      [["kept", null]],
    );
  });

  const damages: readonly [name: string, damage: () => Promise<void>][] = [
    ["is overwritten with noise", async () => writeFile(file, Buffer.alloc((await stat(file)).size, 0x5a))],
    [
      "has lost its header",
      async () => writeFile(file, Buffer.concat([Buffer.alloc(100), (await readFile(file)).subarray(100)])),
    ],
    ["is cut", async () => writeFile(file, (await readFile(file)).subarray(0, 5_000))],
    [
      "is something else",
      async () => appendFile(file, "not a database").then(() => writeFile(file, "hello\n".repeat(1_000))),
    ],
  ];
  for (const [name, damage] of damages) {
    it(`says that a file is damaged that ${name}, and leaves it as it is`, async () => {
      const database = await openFile();
      for (let count = 0; count < 20; count += 1) {
        await database.transaction([insert(`${count}${"x".repeat(2_000)}`)]);
      }
      await database.close();
      await damage();
      const before = await readFile(file);
      await assert.rejects(openFile(), { code: "ERR_STORE", message: /damaged/ });
      assert.deepEqual(await readFile(file), before);
    });
  }

  it("shares commits between transactions that wait, so that many take little longer than a few", async () => {
    const database = await openFile({ busyTimeoutMs: 25_000 });
    const walBytes = async () => (await stat(`${file}-wal`)).size;
    await database.transaction([insert("first")]);
    const before = await walBytes();
    // All of them wait while another program writes, however fast the thread is.
    const foreign = new DatabaseSync(file);
    foreign.exec("BEGIN IMMEDIATE");
    const inserted = Array.from({ length: 500 }, (_, number) => database.transaction([insert(`n${number}`)]));
    foreign.close();
    await Promise.all(inserted);
    // A commit of its own for each would write at least a page (4 kB) for each.
    assert.ok((await walBytes()) - before < 500 * 4_096, `${(await walBytes()) - before} bytes`);
  });

  it("lets a transaction that may wait share the commit of the next one that writes, or commits it alone", async () => {
    const database = await openFile();
    const soon = (text: string) => {
      const { sql, values } = insert(text);
      return database.transaction([{ sql: `${sql} ${mayWait}`, values }]);
    };
    const commits = () => readLog(`${file}-wal`).commits;
    await soon("alone");
    // A computer that is held up may take longer than it waits.
    for (let n = 0; ; n += 1) {
      const before = commits();
      const waiting = soon(`first ${n}`);
      const [read = []] = await database.transaction([all]);
      await Promise.all([waiting, database.transaction([insert(`second ${n}`)])]);
      if (commits() === before + 1) {
        assert.ok(read.every(({ text }) => text !== `first ${n}`));
        break;
      }
      assert.ok(n < 100, "never one commit");
    }
    const last = soon("last");
    await database.close();
    await last;
  });

  it("rejects what comes after close, and closes twice without harm", async () => {
    const database = await openFile();
    const last = database.transaction([insert("last")]);
    await Promise.all([database.close(), database.close()]);
    await last;
    await assert.rejects(database.transaction([all]), { code: "ERR_STORE" });
  });

  it("opens no database in a thread that answered when it had been given up", async () => {
    const threads = new SqliteThreads();
    const late = await SqliteDatabase.open({ file, migrations, threads, closeWithinMs: 1 });
    // In a turn of its own, so that the time is over before the answer is read.
    await setImmediate();
    const closed = late.close();
    blockUntilGone(`${file}-wal`);
    await closed;
    // As a store waits that is opened again.
    await late.ended;
    const next = await SqliteDatabase.open({ file: join(folder, "next.sqlite"), migrations, threads });
    open.push(next);
    await next.transaction([all]);
  });

  it("opens in a process that was started with options of V8, as a Node-RED on a small computer is", async () => {
    const module = new URL("../../src/database/sqlite-database.ts", import.meta.url).href;
    const script = `import { SqliteDatabase } from ${JSON.stringify(module)};
      const database = await SqliteDatabase.open({ file: ${JSON.stringify(file)}, migrations: [[]] });
      await database.close();
      console.log("opened");`;
    const options = ["--max-old-space-size=256", "--expose-gc", "--input-type=module"];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, "--eval", script]);
    assert.equal(stdout.trim(), "opened");
  });
});

/** Keeps this thread busy until a file has been removed, and then for as long as a message needs. */
function blockUntilGone(file: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (const end = Date.now() + 30_000; existsSync(file) && Date.now() < end;) {
    Atomics.wait(nothing, 0, 0, 1);
  }
  Atomics.wait(nothing, 0, 0, 100);
}
