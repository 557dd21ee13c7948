import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { type SqliteThread, SqliteThreads } from "../../src/database/sqlite-threads.ts";
import { type StoreConnection, StoreDatabases } from "../../src/database/store-databases.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { Store } from "../../src/vault/store.ts";

/** Threads that tell when a database has answered its first transaction, and when it was closed. */
class WatchedThreads extends SqliteThreads {
  taken = 0;
  readonly #answered = Promise.withResolvers<void>();
  readonly #givenBack = Promise.withResolvers<void>();
  readonly answered = this.#answered.promise;
  readonly givenBack = this.#givenBack.promise;

  override take(): SqliteThread {
    this.taken += 1;
    const thread = super.take();
    const open = thread.open.bind(thread);
    thread.open = async (request) => {
      const database = await open(request);
      const run: typeof database.run = async (...given) => {
        const rows = await database.run(...given);
        this.#answered.resolve();
        return rows;
      };
      return { ...database, run };
    };
    return thread;
  }

  override giveBack(thread: SqliteThread): void {
    super.giveBack(thread);
    this.#givenBack.resolve();
  }
}

describe("the databases of stores", () => {
  let folder: string;
  let file: string;
  let databases: StoreDatabases;
  const connections: StoreConnection[] = [];

  const open = async (path = file) => {
    const connection = await databases.open({ kind: "file", file: path });
    connections.push(connection);
    return connection;
  };
  /** Opening goes on when an attempt is given up. */
  const openAnswered = async (): Promise<StoreConnection> => {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (!isDimensionerError(error) || error.sentence !== "storeUnanswered") {
          throw error;
        }
      }
    }
  };
  const nothing = [{ sql: "SELECT 1" }];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "stores-"));
    file = join(folder, "dimensioner", "store.sqlite");
    databases = new StoreDatabases();
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.release()));
    await rm(folder, { recursive: true });
  });

  it("gives a store an id that it keeps, and another store another one", async () => {
    const first = await open();
    assert.match(first.worker.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    await first.release();
    assert.equal((await open()).worker.id, first.worker.id);
    assert.notEqual((await open(join(folder, "other.sqlite"))).worker.id, first.worker.id);
  });

  it("opens several at once in a folder that does not exist yet, as at the first start", async () => {
    // From the second round on their threads run already, and begin at the same moment. That they really meet is rare.
    for (let round = 0; round < 25; round += 1) {
      const files = ["one", "two"].map((store) => join(folder, `start-${round}`, `${store}.sqlite`));
      const opened = await Promise.all(files.map((path) => databases.open({ kind: "file", file: path })));
      assert.equal(new Set(opened.map(({ worker }) => worker.id)).size, files.length);
      await Promise.all(opened.map((connection) => connection.release()));
    }
  });

  it("keeps the database open until the last of its users has released it", async () => {
    const store = new Store({ kind: "file", file }, { kind: "folder", path: folder }, databases);
    const [one, two] = await Promise.all([store.connect(), store.connect()]);
    await Promise.all([one.release(), one.release()]);
    await two.database.transaction(nothing);
    await two.release();
    await assert.rejects(two.database.transaction(nothing), { code: "ERR_STORE", message: /was closed/ });
  });

  it("opens the file again while it is being closed", async () => {
    const connection = await open();
    const released = connection.release();
    const again = await open();
    await again.database.transaction(nothing);
    await released;
  });

  it("opens a file in the thread that another one, or the same, was closed in, since a new thread takes ten times as long", async () => {
    // A thread whose close is not waited for is not used again.
    databases = new StoreDatabases({ closeWithinMs: 120_000 });
    let started = 0;
    const count = (): number => (started += 1);
    process.on("worker", count);
    try {
      await (await open()).release();
      await (await open()).database.transaction(nothing);
      await (await open(join(folder, "other.sqlite"))).release();
      await (await open(join(folder, "third.sqlite"))).database.transaction(nothing);
      assert.equal(started, 2, "two are open at the same time");
    } finally {
      process.off("worker", count);
    }
  });

  it("ends a thread that nobody needs for a while, and starts another one then", async () => {
    databases = new StoreDatabases({ threads: new SqliteThreads({ idleMs: 1 }) });
    const started = once(process, "worker") as Promise<[Worker]>;
    const { database, release } = await open();
    const [thread] = await started;
    const ended = once(thread, "exit");
    await database.transaction(nothing);
    await release();
    await ended;
    await (await open()).database.transaction(nothing);
  });

  for (const [what, keepMs, opened] of [
    [
      "keeps a database for a while that was only open when nobody waited any more, since its check takes long",
      60_000,
      1,
    ],
    ["closes such a database after that while", 1, 2],
  ] as const) {
    it(what, async () => {
      await (await open()).release();
      const threads = new WatchedThreads();
      databases = new StoreDatabases({ threads, keepMs, openWithinMs: 50, busyTimeoutMs: 120_000 });
      const foreign = new DatabaseSync(file);
      foreign.exec("BEGIN IMMEDIATE");
      await assert.rejects(open(), { message: /has not responded for 0.05 s/ });
      foreign.close();
      await (opened === 1 ? threads.answered : threads.givenBack);
      await setImmediate();
      const connection = await openAnswered();
      await connection.database.transaction(nothing);
      assert.equal(threads.taken, opened);
    });
  }

  it("does not wait for a thread that hangs in the disk, nor gives it another database", async () => {
    databases = new StoreDatabases({ closeWithinMs: 100, busyTimeoutMs: 15_000 });
    const hung = await open();
    const foreign = new DatabaseSync(file);
    foreign.exec("BEGIN IMMEDIATE");
    const waiting = assert.rejects(hung.database.transaction(nothing), { message: /was closed/ });
    await hung.release();
    await waiting;
    await (await open(join(folder, "other.sqlite"))).database.transaction(nothing);
    foreign.close();
    await (await open()).database.transaction(nothing);
  });

  it("opens the file again when its thread has died, and loses nothing that was durable", async () => {
    const started = once(process, "worker") as Promise<[Worker]>;
    const { database } = await open();
    await database.transaction([{ sql: "UPDATE store SET folder = 'here'" }]);
    const [thread] = await started;
    const waiting = database.transaction(nothing);
    const ended = once(thread, "exit");
    void thread.terminate();
    await Promise.allSettled([waiting]);
    await ended;
    const both = [{ sql: "SELECT folder FROM store" }];
    const [[rows]] = await Promise.all([database.transaction(both), database.transaction(both)]);
    assert.deepEqual(rows, [{ folder: "here" }]);
  });

  it("says that its folder has vanished instead of writing to files that have no name, and goes on when it is back", async () => {
    const { database } = await open();
    await rename(folder, `${folder}-away`);
    const replaced = { code: "ERR_STORE", message: /was removed or replaced/ };
    await assert.rejects(database.transaction([{ sql: "UPDATE store SET folder = 'lost'" }]), replaced);
    await assert.rejects(database.transaction(nothing), { code: "ERR_STORE" });
    await rename(`${folder}-away`, folder);
    await database.transaction([{ sql: "UPDATE store SET folder = 'found'" }]);
  });

  it("does not go on with another database that was put in its place", async () => {
    const other = await open(join(folder, "other.sqlite"));
    await other.release();
    const { database } = await open();
    await Promise.all([rm(`${file}-wal`), rm(`${file}-shm`), rename(join(folder, "other.sqlite"), file)]);
    const replaced = { code: "ERR_STORE", message: /was removed or replaced/ };
    await assert.rejects(database.transaction(nothing), replaced);
    await assert.rejects(database.transaction(nothing), replaced);
  });
});
