import assert from "node:assert/strict";
import { unknownDevice } from "../../src/model/instrument.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { StoredRecords } from "../../src/runtime/webhook/stored-records.ts";
import type { Database } from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/record-arrivals.ts";
import { RecordIntake, WebhookMemory, type Received } from "../../src/webhook/record-intake.ts";
import { MemoryDatabase } from "../archive/memory-databases.ts";
import { runInOrder } from "../archive/scheduled-process.ts";
import { scheduledDatabase, type Choose, type Scheduler } from "../archive/scheduler.ts";

const records = 4;
const deploys = 2;
/** How often a sender posts a record that is refused. */
const posts = 2;
/** Longer than a node waits before it tries again. */
const soonMs = 60_000;

interface Node {
  readonly intake: RecordIntake;
  readonly stored: StoredRecords;
  readonly delivers: { deliver(received: Received): void; unreached(): readonly Received[] };
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
  readonly #memory = new WebhookMemory();
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
    this.#start(this.#node);
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
    const { intake, isClosed } = this.#node;
    const record = decodeTransactionRecord({ id, errorCode: 0 });
    if (isClosed || (await intake.take({ record, ids: [id], bytes: 1 })) !== null) {
      return false;
    }
    this.#accepted.add(id);
    return true;
  }

  /** As Node-RED does it: the flows stop, the node is closed, the next one is made, and the flows start. */
  async #deployAll(): Promise<void> {
    for (let count = 0; count < deploys; count++) {
      await this.#scheduler.schedule("deploy", () => this.#node.intake.hold());
      this.#node.isClosed = true;
      await this.#node.stored.close();
      this.#node = await this.#scheduler.schedule("the next node", () => this.#construct());
      await this.#scheduler.schedule("the flows start", () => this.#start(this.#node));
    }
  }

  #construct(): Node {
    const stored = new StoredRecords(
      { databaseKey: "store", lease: () => this.#lease() },
      {
        nodeId: "node",
        runId: "run",
        progress: this.#memory.storedIn("store"),
        handOn: (received) => this.#memory.queue.push(received, 1),
        onTrouble: () => undefined,
        onReady: () => undefined,
        onTooOld: () => undefined,
      },
    );
    const rules = { dedupeMs: 3_600_000, queueLimit: 100, onlyOk: false, deviceClientIds: [] };
    const intake = new RecordIntake({ ...rules, deviceOf: () => unknownDevice }, this.#memory, stored);
    const deliver = (received: Received): void => {
      this.#out.push(received.record.transactionId);
      stored.delivered(received);
    };
    return { intake, stored, delivers: { deliver, unreached: () => [] }, isClosed: false };
  }

  #start({ intake, stored, delivers }: Node): void {
    intake.resume(delivers);
    stored.open();
  }

  async #lease() {
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
