import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { migrations } from "./notes-schema.ts";

const program = new URL("./database-process.ts", import.meta.url);
const inUse = { code: "ERR_STORE", message: /is in use by another process/ };

describe("several processes on one SQLite database", () => {
  let folder: string;
  let file: string;
  const children: ChildProcess[] = [];
  const opened: SqliteDatabase[] = [];

  const open = async () => {
    const database = await SqliteDatabase.open({ file, migrations, busyTimeoutMs: 200 });
    opened.push(database);
    return database;
  };
  /** Closes a database. Its thread can have the file open for longer than the close waits. */
  const close = async (database: SqliteDatabase) => {
    await database.close();
    await database.ended;
  };
  /** Starts a process; resolves with it and the first thing that it says. */
  const start = async (action: "own" | "write" | "read" | "backup" | "visit" | "lock") => {
    const child = fork(program, [file, action]);
    children.push(child);
    const [said] = (await once(child, "message")) as [unknown];
    return { child, said };
  };
  const end = async (child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGKILL") => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, "exit");
    }
  };
  const insert = (text: string) => ({ sql: "INSERT INTO notes (text) VALUES (?)", values: [text] });
  const texts = async (database: SqliteDatabase) => {
    const [rows = []] = await database.transaction([{ sql: "SELECT text FROM notes ORDER BY note_id" }]);
    return rows.map(({ text }) => text);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "processes-"));
    file = join(folder, "store.sqlite");
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => end(child)));
    await Promise.all(opened.splice(0).map(close));
    await rm(folder, { recursive: true });
  });

  it("lets one own it, and refuses the second one in words", async () => {
    const database = await open();
    assert.match(String((await start("own")).said), inUse.message);
    await close(database);
    assert.equal((await start("own")).said, "open");
    await assert.rejects(open(), inUse);
  });

  it("refuses the second one also while the first one is stopped, and lets the first one go on when it wakes", async () => {
    const { child } = await start("write");
    child.kill("SIGSTOP");
    await assert.rejects(open(), inUse);
    child.kill("SIGCONT");
    await once(child, "message");
    await assert.rejects(open(), inUse);
  });

  it("lets another one in as soon as the first one is killed, with all that was durable", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { child } = await start("write");
      let durable = 0;
      child.on("message", (number: number) => {
        durable = number + 1;
      });
      await new Promise<void>((resolve) => {
        child.on("message", () => (durable > 20 ? resolve() : undefined));
      });
      await end(child);
      const database = await open();
      assert.ok((await texts(database)).length >= durable);
      await database.transaction([{ sql: "DELETE FROM notes" }]);
      await close(database);
    }
  });

  it("lets others read what is durable while it is open, and writes while they read", async () => {
    const database = await open();
    await database.transaction([insert("one")]);
    assert.equal(database.opened.isShared, true);
    const { said } = await start("read");
    assert.equal(said, 1);
    // Its transaction stays open; each of these is a commit of its own.
    const startedAt = performance.now();
    for (let number = 0; number < 20; number += 1) {
      await database.transaction([insert(`n${number}`)]);
    }
    assert.ok(performance.now() - startedAt < 60_000);
    assert.equal((await start("read")).said, 21);
  });

  it("lets others back it up while it writes, with all that was durable when the backup began", async () => {
    const database = await open();
    const durable = ["one", "two", "three"];
    await Promise.all(durable.map((text) => database.transaction([insert(text)])));
    const copying = start("backup");
    for (let number = 0; number < 20; number += 1) {
      await database.transaction([insert(`later ${number}`)]);
    }
    assert.equal((await copying).said, "copied");
    const backup = await SqliteDatabase.open({ file: `${file}.backup`, migrations });
    opened.push(backup);
    assert.deepEqual((await texts(backup)).slice(0, 3), durable);
    // It takes its place, and works like the other one.
    await backup.transaction([insert("four")]);
  });

  it("does not keep a process alive that has nothing else to do", async () => {
    const child = fork(program, [file, "leave"]);
    children.push(child);
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });

  it("keeps its log when a reader ends", async () => {
    const database = await open();
    await database.transaction([insert("one")]);
    await end((await start("read")).child, "SIGTERM");
    await database.transaction([insert("two")]);
    assert.deepEqual(await texts(database), ["one", "two"]);
  });

  it("keeps its log when another program has opened it to write, and closes it", async () => {
    const database = await open();
    await database.transaction([insert("one")]);
    assert.equal((await start("visit")).said, "visited");
    await database.transaction([insert("two")]);
    assert.deepEqual(await texts(database), ["one", "two"]);
  });

  it("stores nothing in vain when its log was removed", async () => {
    const databases = new StoreDatabases();
    const { database, release } = await databases.open({ kind: "file", file });
    const setFolder = (folder: string) => [{ sql: "UPDATE store SET folder = ?", values: [folder] }];
    await database.transaction(setFolder("one"));
    // So does a program in this process that brings a SQLite of its own: it knows nothing of the locks that are held here.
    await copyFile(`${file}-wal`, join(folder, "log"));
    await Promise.all([rm(`${file}-wal`), rm(`${file}-shm`)]);
    await assert.rejects(database.transaction(setFolder("two")), {
      code: "ERR_STORE",
      message: /was removed or replaced/,
    });
    await rename(join(folder, "log"), `${file}-wal`);
    await database.transaction(setFolder("three"));
    await release();
    const again = await databases.open({ kind: "file", file });
    const [rows] = await again.database.transaction([{ sql: "SELECT folder FROM store" }]);
    await again.release();
    assert.deepEqual(rows, [{ folder: "three" }]);
  });

  it("waits only so long for a program that has locked it, says so, and goes on afterwards", async () => {
    const database = await open();
    await database.transaction([insert("one")]);
    const { child } = await start("lock");
    await assert.rejects(database.transaction([insert("two")]), {
      code: "ERR_STORE",
      message: /Another program has locked the database/,
    });
    await end(child);
    await database.transaction([insert("three")]);
    assert.deepEqual(await texts(database), ["one", "three"]);
  });
});
