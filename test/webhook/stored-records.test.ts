import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Database } from "../../src/database/database.ts";
import { Inbox, RecordArrivals } from "../../src/database/inbox.ts";
import type { StoreConnection } from "../../src/database/store-databases.ts";
import type { Worker } from "../../src/database/worker-lease.ts";
import { unknownDevice } from "../../src/model/instrument.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import type { Received } from "../../src/webhook/posted-record.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
import { WebhookReceiver } from "../../src/webhook/receiver.ts";
import { Room } from "../../src/webhook/room.ts";
import type { LeftOver } from "../../src/webhook/stored-records.ts";
import { type TestDatabase, openTestDatabase } from "../database/support.ts";

/** A database whose answers can be held back: what it was asked for is done, and nobody knows yet. */
class HeldDatabase implements Database {
  readonly #database: Database;
  #hold = Promise.resolve();
  #release: () => void = () => undefined;
  #before: (statements: Parameters<Database["transaction"]>[0]) => Promise<void> = () => Promise.resolve();
  failure: Error | undefined;
  /** The next transaction that fits is carried out, and fails nevertheless, as on a disk that answers too late. */
  unanswered: ((statement: { readonly sql: string }) => boolean) | undefined;
  asked = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hold = promise;
    this.#release = resolve;
  }

  release(): void {
    this.#release();
  }

  /** Does not carry out what fits until `kept` is called; `held` resolves when the first one has come. */
  holdBack(fits: (statement: { readonly sql: string }) => boolean) {
    const [come, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#before = async (statements) => {
      if (statements.some(fits)) {
        come.resolve();
        await go.promise;
      }
    };
    return { held: come.promise, kept: go.resolve };
  }

  async transaction(statements: Parameters<Database["transaction"]>[0]) {
    this.asked += 1;
    if (this.failure !== undefined) {
      throw this.failure;
    }
    await this.#before(statements);
    const rows = await this.#database.transaction(statements);
    if (this.unanswered !== undefined && statements.some(this.unanswered)) {
      this.unanswered = undefined;
      throw new Error("no answer");
    }
    await this.#hold;
    return rows;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

describe("a webhook's records in a store", () => {
  let test: TestDatabase;
  let database: HeldDatabase;
  let pump: RecordPump;
  let server: Server;
  let url: string;
  const out: Received[] = [];
  let mostWaiting = 0;
  const refused: string[] = [];
  let onOut: () => void = () => undefined;
  let parts: { close: () => Promise<void>; receiver: WebhookReceiver };
  let connections = 0;
  const released = new EventEmitter();
  /** The store of the node that is started next. */
  let file: string;
  let worker: Worker;
  /** Opens the database; counts who has it. */
  let connect: () => Promise<Omit<StoreConnection, "check" | "log">>;

  /** One life of a node; resolves when what was left over has been handed on. */
  async function start(runId: string): Promise<LeftOver> {
    const { promise, resolve } = Promise.withResolvers<LeftOver>();
    const close = pump.open({
      store: { databaseKey: file, connect },
      nodeId: "node",
      runId,
      onTrouble: () => undefined,
      onReady: resolve,
      onLongUnhandled: () => undefined,
    });
    const receiver = new WebhookReceiver(
      {
        secret: null,
        dedupeMs: 60_000,
        queueLimit: 10_000,
        onlyOk: false,
        deviceClientIds: [],
        deviceOf: () => unknownDevice,
      },
      {
        deliver: (received) => {
          mostWaiting = Math.max(mostWaiting, pump.waiting);
          out.push(received);
          onOut();
        },
        unreached: () => [],
        refused: (refusal) => void refused.push(refusal),
      },
      pump,
      new Room(),
    );
    parts = { close, receiver };
    receiver.resume();
    return promise;
  }
  const post = async (id: number | string): Promise<number> => {
    const body = JSON.stringify({ id, errorCode: 0 });
    const headers = { "content-type": "application/json" };
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  const untilOut = async (count: number): Promise<string[]> => {
    while (out.length < count) {
      await new Promise<void>((resolve) => {
        onOut = resolve;
      });
    }
    return out.map(({ record }) => record.transactionId);
  };

  beforeEach(async () => {
    out.length = 0;
    refused.length = 0;
    test = await openTestDatabase();
    database = new HeldDatabase(test.database);
    file = "store";
    mostWaiting = 0;
    worker = { id: "store", isAlone: true };
    connections = 0;
    connect = async () => {
      connections += 1;
      return {
        database,
        arrivals: new RecordArrivals(),
        worker,
        release: async () => {
          connections -= 1;
          released.emit("release");
        },
      };
    };
    pump = new RecordPump();
    server = createServer((request, response) => void parts.receiver.receive(request, response, undefined));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterEach(async () => {
    parts.receiver.close();
    await parts.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await test.close();
  });

  it("releases the database when it is closed, also where that is opened only afterwards", async () => {
    await start("run 1");
    assert.equal(connections, 1);
    await parts.close();
    assert.equal(connections, 0);
    const { promise: opening, resolve: open } = Promise.withResolvers<void>();
    const before = connect;
    connect = () => opening.then(before);
    void start("run 1");
    // A disk that hangs holds up no deploy.
    await parts.close();
    const opened = once(released, "release");
    open();
    await opened;
    assert.equal(connections, 0);
  });

  it("answers and sends nothing before the record is durable", async () => {
    await start("run 1");
    database.hold();
    let answered = false;
    const answer = post(1).then((status) => {
      answered = true;
      return status;
    });
    // The record is written, and the database has not said so.
    while (database.asked < 4) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await test.database.transaction([{ sql: "SELECT 1 AS one" }]);
    assert.deepEqual([answered, out.length], [false, 0]);
    database.release();
    assert.equal(await answer, 204);
    assert.deepEqual(await untilOut(1), ["1"]);
  });

  it("answers 503 while the database fails, and takes the record when it is posted again", async () => {
    await start("run 1");
    database.failure = new Error("the disk is gone");
    assert.equal(await post(1), 503);
    assert.deepEqual(refused, ["store"]);
    database.failure = undefined;
    assert.equal(await post(1), 204);
    assert.deepEqual(await untilOut(1), ["1"]);
  });

  it("hands on a record that was stored although the database did not answer, once, posted again or not", async () => {
    await start("run 1");
    assert.equal(await post(1), 204);
    database.unanswered = isInsert;
    assert.equal(await post(2), 503);
    assert.deepEqual(await untilOut(2), ["1", "2"]);
    database.unanswered = isInsert;
    assert.deepEqual([await post(3), await post(3), await post(4)], [503, 204, 204]);
    assert.deepEqual(await untilOut(4), ["1", "2", "3", "4"]);
    await parts.close();
    await start("run 1");
    assert.equal(await post(5), 204);
    assert.deepEqual(await untilOut(5), ["1", "2", "3", "4", "5"]);
  });

  it("hands on what an earlier run has left, then what came meanwhile, in order and each once", async () => {
    const inbox = new Inbox(test.database, { nodeId: "node", runId: "run 1" });
    for (let id = 1; id <= 1_200; id += 1) {
      await inbox.add(recordOf(id), 0);
    }
    const ready = start("run 2");
    const posts = [1201, 1202, 1203].map(post);
    assert.deepEqual(await Promise.all(posts), [204, 204, 204]);
    const ids = (await untilOut(1_203)).map(Number);
    assert.deepEqual(
      ids.slice(0, 1_200),
      Array.from({ length: 1_200 }, (_, index) => index + 1),
    );
    assert.deepEqual(ids.slice(1_200).toSorted(), [1201, 1202, 1203]);
    assert.deepEqual((await ready).damaged, 0);
    assert.deepEqual([out[0]?.isResumed, out.at(-1)?.isResumed], [true, false]);
    // Each may have a megabyte: they are not all in memory at once.
    assert.ok(mostWaiting <= 128, `${mostWaiting} were waiting`);
  });

  it("goes on over a deploy without sending a record twice", async () => {
    await start("run 1");
    const first = parts;
    first.receiver.hold();
    assert.deepEqual(await Promise.all([1, 2, 3].map(post)), [204, 204, 204]);
    first.receiver.close();
    await first.close();
    await start("run 1");
    assert.deepEqual((await untilOut(3)).toSorted(), ["1", "2", "3"]);
    assert.equal(await post(4), 204);
    await untilOut(4);
    assert.equal(out.length, 4);
  });

  const answers = [
    ["that is kept", false, 204],
    ["whose database does not answer", true, 503],
  ] as const;
  for (const [which, isUnanswered, status] of answers) {
    it(`sends a record of a closed node ${which} after the next node has read what was left over`, async () => {
      const { held, kept } = database.holdBack(isInsert);
      database.hold();
      void start("run 1");
      const first = parts;
      const posted = post(1);
      await held;
      first.receiver.close();
      const closed = first.close();
      database.release();
      await closed;
      await start("run 1");
      database.unanswered = isUnanswered ? isInsert : undefined;
      kept();
      assert.equal(await posted, status);
      assert.deepEqual(await untilOut(1), ["1"]);
    });
  }

  it("takes no record of one store for one of another, when a deploy gives the node another store", async () => {
    const other = await openTestDatabase();
    try {
      const inbox = new Inbox(other.database, { nodeId: "node", runId: "run 0" });
      const left = await inbox.add(recordOf(7), 0);
      await start("run 1");
      parts.receiver.hold();
      assert.equal(await post(1), 204);
      parts.receiver.close();
      await parts.close();
      [file, database] = ["other", new HeldDatabase(other.database)];
      await start("run 1");
      assert.deepEqual(await untilOut(2), ["1", "7"]);
      assert.deepEqual(
        out.map(({ kept }) => kept),
        [
          { store: "store", recordId: left },
          { store: "other", recordId: left },
        ],
      );
      await parts.close();
      assert.deepEqual((await inbox.unsent(0, 1)).records.length, 1, "another run sends it again");
    } finally {
      await other.close();
    }
  });

  it("brings out in order all that was accepted while the flows stopped, also if the next node has another store", async () => {
    const other = await openTestDatabase();
    try {
      await start("run 1");
      parts.receiver.hold();
      const ids = Array.from({ length: 80 }, (_, index) => String(index + 1));
      for (const id of ids) {
        assert.equal(await post(id), 204);
      }
      parts.receiver.close();
      await parts.close();
      [file, database] = ["other", new HeldDatabase(other.database)];
      await start("run 1");
      assert.deepEqual(await untilOut(80), ids);
      assert.equal(await post("last"), 204);
      assert.equal((await untilOut(81)).at(-1), "last");
      while (pump.waiting > 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      await other.close();
    }
  });

  it("does not send again what was handled", async () => {
    await start("run 1");
    assert.deepEqual([await post(1), await post(2)], [204, 204]);
    await untilOut(2);
    assert.equal(await pump.handled("1", { billable: null, scan: null }), 1);
    await parts.close();
    pump = new RecordPump();
    out.length = 0;
    assert.equal((await start("run 2")).resumed, 1);
    assert.deepEqual(await untilOut(1), ["2"]);
  });

  it("sends those of another worker once its lease has ended, and not before", async () => {
    const sql = (text: string) => test.database.transaction([{ sql: text }]);
    await sql("INSERT INTO workers VALUES ('one', '', '', '9999'), ('two', '', '', '9999')");
    worker = { id: "one", isAlone: false };
    await start("run one");
    assert.deepEqual([await post(1), await post(2)], [204, 204]);
    await untilOut(2);
    for (const isEnded of [false, true]) {
      await parts.close();
      await sql(`UPDATE workers SET lease_until = '${isEnded ? "" : "9999"}' WHERE worker_id = 'one'`);
      pump = new RecordPump();
      worker = { id: "two", isAlone: false };
      const { resumed } = await start("run two");
      assert.ok(isEnded || (resumed === 0 && out.length === 2));
    }
    assert.deepEqual(await untilOut(4), ["1", "2", "1", "2"]);
    assert.deepEqual(
      out.slice(2).map(({ isResumed }) => isResumed),
      [true, true],
    );
  });

  it("sends those of another worker also if the answer is lost with which they are taken over", async () => {
    const sql = (text: string) => test.database.transaction([{ sql: text }]);
    await sql("INSERT INTO workers VALUES ('one', '', '', '9999'), ('two', '', '', '9999')");
    worker = { id: "one", isAlone: false };
    await start("run one");
    assert.equal(await post(1), 204);
    await untilOut(1);
    await parts.close();
    pump = new RecordPump();
    worker = { id: "two", isAlone: false };
    await start("run two");
    database.unanswered = ({ sql: text }) => text.startsWith("UPDATE records SET worker_id");
    await sql("UPDATE workers SET lease_until = '' WHERE worker_id = 'one'");
    assert.deepEqual(await untilOut(2), ["1", "1"]);
  });
});

function isInsert({ sql }: { readonly sql: string }): boolean {
  return sql.startsWith("INSERT INTO records");
}

function recordOf(id: number) {
  return decodeTransactionRecord({ id, errorCode: 0 });
}
