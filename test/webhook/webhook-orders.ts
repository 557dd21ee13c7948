import assert from "node:assert/strict";
import type { Database } from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { RecordPump } from "../../src/webhook/pump.ts";
import { MemoryDatabase } from "../archive/memory-databases.ts";
import { runInOrder } from "../archive/scheduled-process.ts";
import { type Choose, type Scheduler, scheduledDatabase } from "../archive/scheduler.ts";

const records = 4;
const deploys = 2;
/** How often a sender posts a record that is refused. */
const posts = 2;
/** Longer than a node waits before it tries again. */
const soonMs = 60_000;

interface Node {
  readonly close: () => Promise<void>;
  isClosed: boolean;
}

/**
 * Runs one order of posts, deploys, and a database that may hang: a transaction may fail for its caller before it is
 * carried out. Throws unless each record that is in the store at the end has come out of the flow, exactly once, and
 * without a restart. Returns how many records were stored although the sender of each post was refused.
 */
export async function runWebhookOrder(choose: Choose): Promise<number> {
  let unanswered = 0;
  await runInOrder(
    choose,
    async (_root, scheduler) => {
      unanswered = await new WebhookRun(scheduler, choose).run();
    },
    soonMs,
  );
  return unanswered;
}

class WebhookRun {
  readonly #scheduler: Scheduler;
  readonly #choose: Choose;
  readonly #pump = new RecordPump();
  readonly #out: string[] = [];
  readonly #accepted = new Set<string>();
  readonly #sqlite = new MemoryDatabase();
  readonly #database: Database;
  #mayHang = true;
  #node: Node;

  constructor(scheduler: Scheduler, choose: Choose) {
    this.#scheduler = scheduler;
    this.#choose = choose;
    this.#database = scheduledDatabase(this.#sqlite, scheduler, { hasEnded: false });
    this.#node = this.#construct();
  }

  async run(): Promise<number> {
    this.#start();
    const ids = Array.from({ length: records }, (_, index) => String(index + 1));
    const acts = [...ids.map((id) => this.#send(id)), this.#deployAll()];
    await this.#scheduler.runUntil(Promise.all(acts));
    this.#mayHang = false;
    await this.#scheduler.runUntil(this.#untilSent());
    const stored = this.#stored();
    this.#sqlite.close();
    assert.deepEqual(this.#out.toSorted(), stored);
    assert.ok([...this.#accepted].every((id) => stored.includes(id)));
    return stored.filter((id) => !this.#accepted.has(id)).length;
  }

  /** Whatever a hanging database has left comes out by itself; a timer may have to fire for that. */
  async #untilSent(): Promise<void> {
    while (this.#stored().some((id) => !this.#out.includes(id))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #stored(): string[] {
    const [rows = []] = this.#sqlite.run([{ sql: "SELECT transaction_id FROM records" }]);
    return rows.map((row) => String(row["transaction_id"])).toSorted();
  }

  async #send(id: string): Promise<void> {
    for (let count = 0; count < posts; count++) {
      await this.#scheduler.schedule(`post ${id}`, () => undefined);
      if (await this.#post(id)) {
        return;
      }
    }
  }

  /** Returns whether the record was accepted. A closed node refuses it before it is kept. */
  async #post(id: string): Promise<boolean> {
    const { isClosed } = this.#node;
    const record = decodeTransactionRecord({ id, errorCode: 0 });
    const rules = { dedupeMs: 3_600_000, queueLimit: 100 };
    if (isClosed || (await this.#pump.accept({ record, ids: [id], bytes: 1 }, rules)) !== null) {
      return false;
    }
    this.#accepted.add(id);
    return true;
  }

  /** As Node-RED does it: the flows stop, the node is closed, the next one is made, and the flows start. */
  async #deployAll(): Promise<void> {
    for (let count = 0; count < deploys; count++) {
      await this.#scheduler.schedule("deploy", () => this.#pump.hold());
      this.#node.isClosed = true;
      await this.#node.close();
      this.#node = await this.#scheduler.schedule("the next node", () => this.#construct());
      await this.#scheduler.schedule("the flows start", () => this.#start());
    }
  }

  #construct(): Node {
    const close = this.#pump.open({
      store: { databaseKey: "store", connect: () => this.#connect() },
      nodeId: "node",
      runId: "run",
      onTrouble: () => undefined,
      onReady: () => undefined,
      onLongUnhandled: () => undefined,
    });
    return { close, isClosed: false };
  }

  #start(): void {
    this.#pump.resume({
      deliver: ({ record }) => void this.#out.push(record.transactionId),
      unreached: () => [],
    });
  }

  async #connect() {
    await this.#scheduler.schedule("open the database", () => undefined);
    const release = async (): Promise<void> => undefined;
    const database = { ...this.#database, transaction: this.#transaction };
    return { database, arrivals: new RecordArrivals(), worker: { id: "store", isAlone: true }, release };
  }

  /** The database counts as hung before it is chosen to answer, if it may hang. */
  readonly #transaction: Database["transaction"] = (statements) => {
    const answered = this.#database.transaction(statements);
    if (!this.#mayHang || this.#choose(3) > 0) {
      return answered;
    }
    const hung = this.#scheduler.schedule("no answer", () => Promise.reject(new Error("no answer")));
    return Promise.race([answered, hung]);
  };
}
