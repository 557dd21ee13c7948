import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Node, NodeAPI } from "node-red";
import { type CommandFacts, CommandTable, type LeftCommand } from "../../database/command-table.ts";
import type { Database, Row } from "../../database/database.ts";
import type { StoreConnection } from "../../database/store-databases.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { settledWithin } from "../../time/after-limit.ts";
import type { Store } from "../../vault/store.ts";
import { deployed } from "../config/config-choice.ts";
import type { Message } from "../messages.ts";
import { translateError, translateStatus } from "../status/node-status.ts";
import { storeOf } from "../store/store-choice.ts";
import { CutMessages } from "./cut-messages.ts";
import { isJsonLonger, parseFields, parseJson, recordLimits } from "../../model/parse-json.ts";
import { identity } from "../../database/inbox.ts";
import { records, withTexts } from "../../database/long-texts.ts";
import { situationStatements } from "../../jobs/transactions.ts";
import { referenceNames } from "../../model/local-measurement.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { TransactionRecord } from "../../model/shapes.ts";
import { decodeTransactionRecord } from "../../model/transaction-record.ts";

/** A command waits no longer for the database: somebody waits for the parcel. */
const noteWithinMs = 2_000;
/** How long a close waits until what is answered has left the database. */
const removeWithinMs = 2_000;
/** So often it is tried to open a database that failed, and looked for what other processes have left in a shared one. */
const lookEveryMs = 15_000;
/** How many commands wait for a database that does not answer. */
const mostWaiting = 1_000;

/** A command as the store has it. */
interface JournalEntry {
  /** Whether it is about to be sent; otherwise it waits in the queue of its device. */
  readonly isSent: boolean;
  readonly operation: string;
  /** How people call the device. */
  readonly device: string;
  readonly facts: CommandFacts;
}

/** The store's database, as long as nodes of a type use it. */
interface Use {
  readonly store: Store;
  readonly closing: AbortController;
  opening: Promise<Opened> | undefined;
  opened: Opened | undefined;
  isLooking: boolean;
}

interface Opened {
  readonly connection: StoreConnection;
  readonly database: Database;
  readonly table: CommandTable;
}

/**
 * The commands of the nodes of one type that are running, in the database of the store, if the flows have exactly one: each is there
 * before its first byte is sent, and until its message has ended. After a kill the next start reports what it finds there, as the node
 * would have. Nothing is ever sent again. If the database fails, commands are sent without it.
 */
export class CommandJournal {
  readonly #RED: NodeAPI;
  readonly #type: string;
  readonly #runId = randomUUID();
  readonly #nodes = new Map<string, Node>();
  /** The commands that have ended, and may still be in the database. */
  #ended: string[] = [];
  #removing: Promise<void> = Promise.resolve();
  #isRemoving = false;
  /** Undefined: it has to be found out which store there is. Null: none. */
  #use: Use | null | undefined;
  #waiting = 0;
  #isAway = false;
  #follows = false;

  /** Belongs to the registration of a node type. */
  constructor(RED: NodeAPI, type: string) {
    this.#RED = RED;
    this.#type = type;
    // Once: another object takes the place of this one when the node type is registered again.
    CutMessages.of(RED).nextStart(() => void this.#reportToNobody());
  }

  /** To be called when a node begins. Returns what its `close` has to wait for. */
  enter(node: Node): () => Promise<void> {
    this.#nodes.set(node.id, node);
    this.#followStarts();
    return async () => {
      if (this.#nodes.get(node.id) === node) {
        this.#nodes.delete(node.id);
      }
      if (this.#nodes.size === 0) {
        await this.#end();
      }
    };
  }

  /** The command of a message, which may never be sent. */
  commandOf(node: Node, msg: Message): JournaledCommand {
    const note: NoteCommand = (command, id) => this.#note(node, msg, command, id);
    return new JournaledCommand(note, (id) => this.#remove(id));
  }

  /** A deploy may have brought another store, or a node that has to be told of what was left. */
  #followStarts(): void {
    if (this.#follows) {
      return;
    }
    this.#follows = true;
    CutMessages.of(this.#RED).nextStart(() => {
      this.#follows = false;
      if (this.#nodes.size > 0) {
        this.#followStarts();
        void this.#begin();
      }
    });
  }

  async #begin(): Promise<void> {
    const store = this.#findStore();
    if (this.#use?.store.databaseKey !== store?.databaseKey) {
      await this.#end();
    }
    const use = this.#used();
    if (use !== null) {
      await this.#look(use);
    }
  }

  /** After a kill no node of the type may be left, and then no other object would look into the database. */
  async #reportToNobody(): Promise<void> {
    const location = this.#nodes.size === 0 ? this.#findStore()?.location : undefined;
    const use = location?.kind === "file" && existsSync(location.file) ? this.#used() : null;
    if (use === null) {
      return;
    }
    await this.#look(use);
    if (this.#nodes.size === 0 && this.#use === use) {
      await this.#end();
    }
  }

  #used(): Use | null {
    if (this.#use === undefined) {
      const store = this.#findStore();
      this.#use =
        store === null
          ? null
          : {
              store,
              closing: new AbortController(),
              opening: undefined,
              opened: undefined,
              isLooking: false,
            };
    }
    return this.#use;
  }

  /** The only store of the flows that can be used; null if there is none, or several. */
  #findStore(): Store | null {
    const RED = this.#RED;
    const ids: string[] = [];
    RED.nodes.eachNode(({ id, type }) => {
      if (type === "dimensioner-store" && deployed(RED, id) !== null) {
        ids.push(id);
      }
    });
    const [id, second] = ids;
    try {
      return id === undefined || second !== undefined
        ? null
        : storeOf(RED, id, { operation: "settings", surface: "store", acts: false });
    } catch {
      // Its settings are wrong, which other nodes with this store say.
      return null;
    }
  }

  /** Resolves when a command that is about to be sent is durable, or when it is not to be waited for any longer. */
  async #note(node: Node, msg: Message, { isSent, ...command }: JournalEntry, id: string): Promise<Noting> {
    const use = this.#used();
    if (use === null) {
      return { ended: null };
    }
    if (this.#waiting >= mostWaiting) {
      this.#sayAway(node, use, null);
      return { ended: null };
    }
    const { name = "" } = node;
    const message = keepMessage(msg);
    const now = new Date();
    const sentAt = isSent ? now : null;
    const row = {
      ...command,
      id,
      node: { id: node.id, name: name || node.id },
      notedAt: now,
      sentAt,
      message,
    };
    this.#waiting++;
    const noting = this.#open(use)
      .then(({ table }) => table.add(row))
      .finally(() => {
        this.#waiting--;
      });
    void this.#watch(noting, node, use);
    // While the database is known to be away, nobody waits for it.
    if (isSent && !this.#isAway && !(await settledWithin(noting, noteWithinMs))) {
      this.#sayAway(node, use, null);
    }
    return { ended: noting };
  }

  async #watch(noting: Promise<void>, node: Node, use: Use): Promise<void> {
    try {
      await noting;
      this.#isAway = false;
    } catch (error) {
      this.#sayAway(node, use, error);
    }
  }

  #sayAway(node: Node, { closing }: Use, error: unknown): void {
    if (!this.#isAway && !closing.signal.aborted) {
      this.#isAway = true;
      const problem = error instanceof DimensionerError ? translateError(this.#RED, error).message : "";
      node.warn(`${translateStatus(this.#RED, "commandsNotNoted")} ${problem}`.trim());
    }
  }

  #open(use: Use): Promise<Opened> {
    use.opening ??= this.#connect(use).catch((error: unknown) => {
      use.opening = undefined;
      throw error;
    });
    return use.opening;
  }

  async #connect(use: Use): Promise<Opened> {
    const connection = await use.store.connect();
    if (use.closing.signal.aborted) {
      await connection.release();
      throw new DimensionerError("cancelledClose", { surface: "store", operation: "settings" });
    }
    const { database, worker } = connection;
    const table = new CommandTable(database, { nodeType: this.#type, runId: this.#runId, worker });
    use.opened = { connection, database, table };
    this.#removeEnded();
    return use.opened;
  }

  /** Reports what earlier processes have left, and goes on looking where others may leave something. */
  async #look(use: Use): Promise<void> {
    if (use.isLooking) {
      return;
    }
    use.isLooking = true;
    const { signal } = use.closing;
    for (let isDone = false; !isDone && !signal.aborted;) {
      try {
        const opened = await this.#open(use);
        await this.#reportLeft(opened);
        isDone = opened.connection.worker.isAlone;
      } catch {
        // Whoever sends a command is told that the database fails.
        isDone = this.#nodes.size === 0;
      }
      await (isDone
        ? undefined
        : sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined));
    }
    use.isLooking = false;
  }

  async #reportLeft({ table, database }: Opened): Promise<void> {
    for (let isMore = true; isMore;) {
      const left = await table.takeLeft([...this.#nodes.keys()], new Date());
      for (const command of left) {
        await this.#report(database, command);
      }
      isMore = left.length > 0;
    }
  }

  async #report(database: Database, command: LeftCommand): Promise<void> {
    const RED = this.#RED;
    const { id, node, operation, device, facts, sentAt } = command;
    const isMeasure = operation === "measure" || operation === "remote measure";
    const lost = isMeasure && facts !== null && sentAt !== null ? { id, sentAt, facts } : null;
    const record = lost && (await recordOfMeasure(database, lost).catch(() => null));
    const surface = facts?.surface ?? "config";
    const about = { surface, operation, outcome: sentAt === null ? "not-sent" : "unknown" } as const;
    const error =
      record === null
        ? new DimensionerError(sentAt === null ? "cancelledWaiting" : "cancelledEnd", about)
        : new DimensionerError("cancelledMeasured", about, { value: record.transactionId });
    const kept = readKept(command.message);
    const { _msgid } = kept;
    const msg: Message = { ...kept, _msgid: typeof _msgid === "string" ? _msgid : RED.util.generateId() };
    if (record !== null) {
      msg["transactionId"] = record.transactionId;
    }
    const label = `[${this.#type}:${node.name}]`;
    CutMessages.of(RED).add({
      RED,
      node: {
        id: node.id,
        error: (text: unknown) => RED.log.error(`${label} ${String(text)}`),
        warn: (text: unknown) => RED.log.warn(`${label} ${String(text)}`),
      },
      msg,
      error: translateError(RED, error, device),
      onTold: () => this.#remove(id),
    });
  }

  #remove(id: string): void {
    this.#ended.push(id);
    this.#removeEnded();
  }

  /** One after the other, so that those which end meanwhile share a transaction. What fails is tried again with the next one. */
  #removeEnded(): void {
    if (!this.#isRemoving) {
      this.#removing = this.#removeAll();
    }
  }

  async #removeAll(): Promise<void> {
    this.#isRemoving = true;
    while (this.#ended.length > 0 && (await this.#removeSome(this.#use?.opened?.table))) {
      // The next ones.
    }
    this.#isRemoving = false;
  }

  /** Returns false if it has to be tried again later. */
  async #removeSome(table: CommandTable | undefined): Promise<boolean> {
    const ended = table === undefined ? [] : this.#ended.splice(0, mostWaiting);
    try {
      await table?.remove(ended);
      return table !== undefined;
    } catch {
      this.#ended.unshift(...ended);
      return false;
    }
  }

  async #end(): Promise<void> {
    const use = this.#use;
    this.#use = undefined;
    if (use === null || use === undefined) {
      return;
    }
    use.closing.abort();
    const { opened } = use;
    if (opened !== undefined) {
      await settledWithin(this.#removing, removeWithinMs);
      await opened.connection.release();
    }
  }
}

/** The end of an attempt to put a command into the database, which may fail; null if there was none. */
interface Noting {
  readonly ended: Promise<unknown> | null;
}

type NoteCommand = (command: JournalEntry, id: string) => Promise<Noting>;

/** The command of one message: in the store from the moment before it is sent, until the message has ended. */
export class JournaledCommand {
  readonly #id = randomUUID();
  readonly #note: NoteCommand;
  readonly #remove: (id: string) => void;
  readonly #notings: Promise<unknown>[] = [];

  constructor(note: NoteCommand, remove: (id: string) => void) {
    this.#note = note;
    this.#remove = remove;
  }

  /** To be awaited before the first byte is sent. Never rejects. */
  async note(command: JournalEntry): Promise<void> {
    const { ended } = await this.#note(command, this.#id);
    if (ended !== null) {
      this.#notings.push(ended);
    }
  }

  /** To be called when the message has ended, and whoever has to know it was told. */
  settle(): void {
    if (this.#notings.length > 0) {
      // What is not in the database yet may still get there.
      void Promise.allSettled(this.#notings).then(() => this.#remove(this.#id));
    }
  }
}

/** What is kept of a message, in characters of its JSON. */
const mostKept = 64_000;
/** How many properties are named that are left out. */
const mostNamed = 100;
const limits = { depth: 64, entries: 10_000, values: 50_000 };

/** The name under which a message that was kept says which of its properties could not be. */
const leftOutName = "leftOut";

/**
 * The JSON of a message, without the properties that have none, such as Buffers and the request of an http node, and without those that
 * are too long together. It names them.
 */
export function keepMessage(msg: Message): string {
  const kept: string[] = [];
  const leftOut: string[] = [];
  let length = 0;
  for (const name of Object.keys(msg)) {
    const json = jsonOf(msg, name, mostKept - length);
    if (json === undefined) {
      leftOut.push(name.slice(0, 100));
    } else {
      length += name.length + json.length;
      kept.push(`${JSON.stringify(name)}:${json}`);
    }
  }
  if (leftOut.length > 0) {
    kept.push(`${JSON.stringify(leftOutName)}:${JSON.stringify(leftOut.slice(0, mostNamed))}`);
  }
  return `{${kept.join(",")}}`;
}

/** The message that was kept as this text; empty if it is not what was written. */
export function readKept(text: string): Partial<Record<string, unknown>> {
  return parseFields(text, limits) ?? {};
}

/** Undefined for a property that has no JSON which says the same, or a longer one. A getter may throw. */
function jsonOf(msg: Message, name: string, most: number): string | undefined {
  try {
    const value = msg[name];
    if (isJsonLonger(value, most) || !isPlain(value, limits.depth)) {
      return undefined;
    }
    const json = JSON.stringify(value);
    return json.length <= most ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the JSON of a value is the value; a function node makes objects of another realm. */
function isPlain(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) {
    return typeof value === "number"
      ? Number.isFinite(value)
      : value === null || ["string", "boolean"].includes(typeof value);
  }
  const isList = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOfClass = !isList && prototype !== null && Object.getPrototypeOf(prototype) !== null;
  return !isOfClass && levels > 0 && Object.values(value).every((one) => isPlain(one, levels - 1));
}

const noFigures = {
  length: null,
  width: null,
  height: null,
  dimsUnit: null,
  step: null,
  weight: null,
  weightUnit: null,
};

/** A measure whose answer was lost. */
interface LostMeasure {
  readonly id: string;
  readonly sentAt: Date;
  readonly facts: CommandFacts;
}

/**
 * Finds the webhook's record of a successful measure whose answer was lost, by the rules by which jobs find theirs; but there are no
 * dimensions to compare. So it is found by the unique tag, or else by its references, if it is the only transaction with them that came
 * within an hour and no other measurement looks for one. Null if there is none, or not exactly one. Rejects with ERR_STORE.
 */
export async function recordOfMeasure(
  database: Pick<Database, "transaction">,
  { id, sentAt, facts: { references, tag } }: LostMeasure,
): Promise<TransactionRecord | null> {
  const local = { sentAt: sentAt.toISOString(), references, tag, ok: true, deviceUtcTime: null };
  const search = { key: id, local: { ...local, figures: noFigures } };
  const [, others = [], near = [], tagged = []] = await database.transaction(situationStatements(search));
  const fits = (record: TransactionRecord): boolean => {
    const given = referenceNames.filter((name) => (record[name] ?? "") !== "");
    return tag === null
      ? given.length > 0 && given.every((name) => record[name] === references[name])
      : given.some((name) => record[name] === tag);
  };
  const fitting: TransactionRecord[] = [];
  for await (const row of withTexts(database, records, tag === null ? near : tagged)) {
    const record = recordIn(row);
    if (record?.ok === true && fits(record)) {
      fitting.push(record);
    }
  }
  const [first = null] = fitting;
  const isOne = new Set(fitting.map((record) => identityOf(record))).size === 1;
  return isOne && (tag !== null || others.length === 0) ? first : null;
}

/** The cloud may post one record in both versions of its IDs. */
function identityOf({ legacyId, transactionId }: TransactionRecord): string {
  return identity(legacyId ?? transactionId);
}

function recordIn(row: Row): TransactionRecord | null {
  const text = String(row["record"]);
  return sha256Of(text) === row["record_sha256"]
    ? decodeTransactionRecord(parseJson(text, recordLimits))
    : null;
}
