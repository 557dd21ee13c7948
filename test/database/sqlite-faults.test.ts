import assert from "node:assert/strict";
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import type { TransactionResult } from "../../src/database/sqlite-messages.ts";
import { type StoreConnection, StoreDatabases } from "../../src/database/store-databases.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { migrations } from "./notes-schema.ts";
import { testThreads } from "./support.ts";

const program = new URL("./database-process.ts", import.meta.url);
/** A user without rights of its own; root may write everywhere. */
const nobody = { uid: 65_534, gid: 65_534 };

describe("a SQLite database on a disk that fails", () => {
  let folder: string;
  let file: string;
  const opened: SqliteDatabase[] = [];
  const children: ChildProcess[] = [];

  const open = async (options: object = {}) => {
    const database = await SqliteDatabase.open({ file, migrations, threads: testThreads, ...options });
    opened.push(database);
    return database;
  };
  const insert = (text: string) => [{ sql: "INSERT INTO notes (text) VALUES (?)", values: [text] }];
  /** What a process without root's rights says when it opens the database. */
  const openAsNobody = async (): Promise<string> => {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      await chown(folder, nobody.uid, nobody.gid);
    }
    const child = fork(program, [file, "own"], isRoot ? nobody : {});
    children.push(child);
    const [said] = (await once(child, "message")) as [unknown];
    return String(said);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "faults-"));
    file = join(folder, "store.sqlite");
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    }
    await Promise.all(opened.splice(0).map((database) => database.close()));
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true });
  });

  it("says that a file is damaged that has commits in its log, and changes neither of them", async () => {
    const first = await open();
    for (let count = 0; count < 20; count += 1) {
      await first.transaction(insert(`${count}${"x".repeat(2_000)}`));
    }
    await first.close();
    const second = await open();
    await second.transaction(insert("one"));
    const left = [await readFile(file), await readFile(`${file}-wal`)] as const;
    await second.close();
    const noise = Buffer.from(left[0]).fill(0x5a, 3 * 4_096, 6 * 4_096);
    await writeFile(file, noise);
    await writeFile(`${file}-wal`, left[1]);
    await assert.rejects(open(), { code: "ERR_STORE", message: /is damaged.*dimensioner rebuild/ });
    assert.deepEqual([await readFile(file), await readFile(`${file}-wal`)], [noise, left[1]]);
  });

  it("says that it has no permission for a file that can only be read", async () => {
    await (await open()).close();
    await chmod(file, 0o444);
    await chmod(`${file}-lock`, 0o666);
    assert.match(await openAsNobody(), /No permission to write the database/);
  });

  it("says that it has no permission for a folder that can only be read", async () => {
    await chmod(folder, 0o555);
    assert.match(await openAsNobody(), /No permission to write the database/);
  });

  it("makes its folder, but not what that lies in", async () => {
    file = join(folder, "not-mounted", "dimensioner", "store.sqlite");
    await assert.rejects(open(), { code: "ERR_STORE", message: /ENOENT/ });
    await mkdir(join(folder, "not-mounted"));
    await open();
  });

  it("says that the disk is full, loses nothing and goes on when there is space again", async function () {
    // A small disk of its own needs a mount, which not every system allows.
    if (spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", folder]).status !== 0) {
      this.skip();
    }
    const script =
      'mount -t tmpfs -o size=2m none "$0" && head -c 500000 /dev/zero > "$0/filler" && exec "$@"';
    const child = spawn(
      "unshare",
      ["-rm", "sh", "-c", script, folder, process.execPath, fileURLToPath(program), file, "fill"],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    children.push(child);
    const [said] = (await once(child, "message")) as [
      { written: number; failures: string[]; together: TransactionResult[] },
    ];
    const { written, failures, together } = said;
    assert.match(failures[0] ?? "", /The disk is full: nothing was written/);
    const full = { reason: "failed", resultCode: 13, message: "database or disk is full" };
    assert.deepEqual(together, [
      { id: 1, rows: [[]] },
      { id: 2, failure: full },
      { id: 3, rows: [[{ count: written + 1 }]] },
    ]);
  });

  it("says that the disk reports an error, loses nothing and goes on when the disk does", async function () {
    if (spawnSync("prlimit", ["--version"]).status !== 0) {
      this.skip();
    }
    // Beyond this size the system refuses to write, and SQLite reports an I/O error. Only the soft limit is set.
    const script = 'ulimit -S -f 400 && exec "$@"';
    const child = spawn("sh", ["-c", script, "sh", process.execPath, fileURLToPath(program), file, "fail"], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    children.push(child);
    const [{ written, failure }] = (await once(child, "message")) as [{ written: number; failure: string }];
    assert.match(failure, /reports an error: disk I\/O error/);
    assert.equal(spawnSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited"]).status, 0);
    child.send("go on");
    assert.deepEqual(await once(child, "message").then(([said]) => said as unknown), "stored");
    child.kill("SIGKILL");
    await once(child, "exit");
    const [rows] = await (await open()).transaction([{ sql: "SELECT count(*) AS count FROM notes" }]);
    assert.deepEqual(rows, [{ count: written + 1 }]);
    assert.ok(written > 0);
  });

  it("works without memory that processes share, and is alone then", async () => {
    await (await open()).close();
    // SQLite follows no link there, so that it cannot open the file of the shared memory.
    await symlink("nowhere", `${file}-shm`);
    const database = await open();
    assert.equal(database.opened.isShared, false);
    await database.transaction(insert("one"));
    assert.throws(() => new DatabaseSync(file, { readOnly: true }).prepare("SELECT * FROM notes").all());
    await assert.rejects(open(), { message: /in use by another process/ });
  });

  it("says so where no log can be written", async () => {
    await mkdir(`${file}-wal`);
    await assert.rejects(open(), { code: "ERR_STORE", message: /reports an error: EISDIR/ });
  });

  it("says that the disk does not answer while another store goes on, and closes in time", async () => {
    const database = await open({ answerWithinMs: 300, closeWithinMs: 300, busyTimeoutMs: 15_000 });
    const other = await open({ file: join(folder, "other.sqlite") });
    const foreign = new DatabaseSync(file);
    foreign.exec("BEGIN IMMEDIATE");
    const hung = assert.rejects(database.transaction(insert("one")), {
      code: "ERR_STORE",
      message: /has not responded for 0.3 s/,
    });
    await other.transaction(insert("two"));
    await hung;
    const startedAt = performance.now();
    await database.close();
    assert.ok(performance.now() - startedAt < 14_000);
    foreign.close();
    await database.ended;
  });

  it("says that the disk does not answer when it is opened, and tries again when it does", async function () {
    // Who opens a named pipe to read waits until somebody opens it to write, as on a dead network share.
    const pipe = `${file}-wal`;
    if (spawnSync("mkfifo", [pipe]).status !== 0) {
      this.skip();
    }
    const databases = new StoreDatabases({ openWithinMs: 500 });
    /** Opening goes on when a try is given up: on a busy computer the next one finds it farther. */
    const openAnswered = async (path: string): Promise<StoreConnection> => {
      for (;;) {
        try {
          return await databases.open({ kind: "file", file: path });
        } catch (error) {
          if (!isDimensionerError(error) || error.sentence !== "storeUnanswered") {
            throw error;
          }
        }
      }
    };
    try {
      await assert.rejects(databases.open({ kind: "file", file }), {
        code: "ERR_STORE",
        message: /has not responded for 0.5 s/,
      });
      const other = await openAnswered(join(folder, "other.sqlite"));
      await other.release();
    } catch (error) {
      // A thread that waits for ever would keep the process.
      await writeFile(pipe, "");
      throw error;
    }
    // Now it answers, and is no log.
    const pending = assert.rejects(openAnswered(file), { message: /ESPIPE/ });
    await writeFile(pipe, "");
    await pending;
    await rm(pipe);
    const connection = await openAnswered(file);
    await connection.release();
  });
});
