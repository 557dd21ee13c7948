import type { IncomingMessage, ServerResponse } from "node:http";
import { phrase, problemOf, type Problem } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import { JsonLimitError, parseJson, recordLimits } from "../model/parse-json.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { BodyBudget } from "./body-budget.ts";
import { discardBody, readBody } from "./body.ts";
import { DeliveryQueue, type Target } from "./delivery-queue.ts";
import { RecentIds } from "./recent-ids.ts";
import { isSecret } from "./secret.ts";

/** Where the sender shows its secret: in a header, or as the last part of the path. */
export type SecretRule =
  | { readonly in: "header"; readonly name: string; readonly value: string }
  | { readonly in: "path"; readonly value: string };

export interface WebhookRules {
  /** Null: whoever reaches the address may post. */
  readonly secret: SecretRule | null;
  /** How long a record is known as a duplicate; 0: never. */
  readonly dedupeMs: number;
  /** How many records may wait to be handed on. */
  readonly queueLimit: number;
  readonly onlyOk: boolean;
  /** Only records of these devices; none: all. */
  readonly deviceClientIds: readonly string[];
}

/** Why a post was not taken, for those who look after the receiver; the sender learns less. */
export type Refusal = "secret" | "record" | "full" | "store";

export interface WebhookEvents extends Target<Received> {
  /** Called for each refused post; `problem` says what is wrong with a record. */
  refused(refusal: Refusal, problem?: Problem): void;
}

/** A record on its way into the flow. */
export interface Received {
  readonly record: TransactionRecord;
  /** Its number in the store; null where there is none. */
  readonly recordId: number | null;
  /** It was received before the process was started. */
  readonly isResumed: boolean;
}

/** Keeps records before their senders are told that they were taken. */
export interface RecordKeeper {
  /**
   * Resolves when the record is durable, and whether it is to be handed on now: a duplicate is not, and one behind others
   * that wait in the store comes when it is its turn. Rejects where it may not be kept.
   */
  keep(record: TransactionRecord, dedupeMs: number): Promise<Received | null>;
}

/** What outlives a receiver, for the one that takes its place. */
export class WebhookMemory {
  readonly recent = new RecentIds();
  readonly queue = new DeliveryQueue<Received>();
  /** Numbers of the stored records that are in the queue, or were sent and are not noted as such yet. */
  readonly inHand = new Set<number>();
}

/** Largest body; a record has about 1 kB. */
const longestBodyBytes = 1_000_000;
/** Bodies of the records that wait, together. */
const mostWaitingBytes = 32_000_000;
/** Longest id, in characters: one that is longer could not be asked for, and would stay in the memory of duplicates. */
const longestId = 200;
/** How much of a refused body is read all the same, so that its sender sees the answer. */
const longestRefusedBytes = 32_000_000;
const bodyWithinMs = 10_000;
const retryAfterSeconds = 5;

/** The statuses that are answered, each with what the sender is told: what to do, and nothing about this side. */
const answers = {
  204: "",
  400: "The body is not a transaction record.",
  401: "Not authorized.",
  405: "Post transaction records here.",
  408: "The body took too long.",
  413: "The body is too large.",
  415: "Send JSON in UTF-8, not compressed.",
  503: "Not now. Try again in a moment.",
} as const;

type Status = keyof typeof answers;

/**
 * Takes the transaction records that the cloud posts. A post is answered 204 as soon as its record is in the queue, with a
 * keeper as soon as it is durable, and before anything is done with it; a duplicate and a record that nobody wants are
 * answered the same and dropped.
 */
export class WebhookReceiver {
  readonly #rules: WebhookRules;
  readonly #events: WebhookEvents;
  readonly #memory: WebhookMemory;
  readonly #budget: BodyBudget;
  readonly #keeper: RecordKeeper | undefined;
  #isClosed = false;

  /** `memory` is what the receiver before this one has left; `budget` may be shared with others. Takes, but hands on nothing before `resume`. */
  constructor(
    rules: WebhookRules,
    events: WebhookEvents,
    memory = new WebhookMemory(),
    budget = new BodyBudget(),
    keeper?: RecordKeeper,
  ) {
    this.#rules = rules;
    this.#events = events;
    this.#memory = memory;
    this.#budget = budget;
    this.#keeper = keeper;
  }

  /** How many records are taken and not at their place. */
  get waiting(): number {
    return this.#memory.queue.size;
  }

  /** Hands on what waits, and from now on what comes. */
  resume(): void {
    this.#memory.queue.resume(this.#events);
  }

  /** Takes what comes, and lets it wait. */
  hold(): void {
    this.#memory.queue.hold();
  }

  /** Answers one request. `lastPart` is what stands in the path behind the address. Never rejects. */
  async receive(
    request: IncomingMessage,
    response: ServerResponse,
    lastPart: string | undefined,
  ): Promise<void> {
    const status = await this.#judge(request, lastPart);
    if (status === null) {
      return;
    }
    // Who was slow is not waited for a second time.
    if (status >= 400 && status !== 408) {
      await discardBody(request, longestRefusedBytes, bodyWithinMs);
    }
    const text = answers[status];
    const body = text === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
    const more = {
      401: { "www-authenticate": "Webhook" },
      405: { allow: "POST" },
      408: { connection: "close" },
      503: { "retry-after": String(retryAfterSeconds) },
    };
    response.writeHead(status, { ...body, ...(status in more ? more[status as keyof typeof more] : {}) });
    response.end(text === "" ? undefined : `${text}\n`);
  }

  /** Takes nothing any more and hands on nothing: each post is asked for again. */
  close(): void {
    this.#isClosed = true;
    this.hold();
  }

  /** Null: the other side is gone. */
  async #judge(request: IncomingMessage, lastPart: string | undefined): Promise<Status | null> {
    if (request.method !== "POST") {
      return 405;
    }
    if (!this.#isAllowed(request, lastPart)) {
      this.#events.refused("secret");
      return 401;
    }
    if (this.#isClosed) {
      return 503;
    }
    if (!isJson(request)) {
      return 415;
    }
    const body = await readBody(request, longestBodyBytes, bodyWithinMs, this.#budget);
    if (body === 503) {
      this.#events.refused("full");
    }
    if (body === null || typeof body === "number") {
      return body;
    }
    // A node that was closed meanwhile takes nothing any more.
    if (this.#isClosed) {
      return 503;
    }
    let record: TransactionRecord;
    let ids: readonly string[];
    try {
      record = decodeTransactionRecord(parseJson(decodeUtf8(body), recordLimits));
      ids = identitiesOf(record);
    } catch (error) {
      const isSaid = error instanceof ShapeError || error instanceof JsonLimitError;
      this.#events.refused("record", isSaid ? error.problem : phrase("notJson"));
      return 400;
    }
    if (!this.#isWanted(record)) {
      return 204;
    }
    return this.#keeper === undefined
      ? this.#take(record, ids, body.length)
      : this.#keep(this.#keeper, record, body.length);
  }

  #isWanted(record: TransactionRecord): boolean {
    const { onlyOk, deviceClientIds } = this.#rules;
    const device = record.deviceClientId?.toLowerCase() ?? "";
    return (record.ok || !onlyOk) && (deviceClientIds.length === 0 || deviceClientIds.includes(device));
  }

  /** Nothing waits in here, so that two posts of one record are told apart. */
  #take(record: TransactionRecord, ids: readonly string[], bytes: number): Status {
    const { queue, recent } = this.#memory;
    const { dedupeMs } = this.#rules;
    if (recent.knows(ids, dedupeMs)) {
      return 204;
    }
    if (!this.#hasRoom(bytes)) {
      return 503;
    }
    recent.remember(ids, dedupeMs);
    queue.push({ record, recordId: null, isResumed: false }, bytes);
    return 204;
  }

  /** The store tells two posts of one record apart. */
  async #keep(keeper: RecordKeeper, record: TransactionRecord, bytes: number): Promise<Status> {
    if (!this.#hasRoom(bytes)) {
      return 503;
    }
    try {
      const received = await keeper.keep(record, this.#rules.dedupeMs);
      if (received !== null) {
        // Also where the node was closed meanwhile: the one that takes its place hands it on.
        this.#memory.queue.push(received, bytes);
      }
      return 204;
    } catch (error) {
      this.#events.refused("store", problemOf(error));
      return 503;
    }
  }

  #hasRoom(bytes: number): boolean {
    const most = { items: this.#rules.queueLimit, bytes: mostWaitingBytes };
    const hasRoom = this.#memory.queue.hasRoom(bytes, most);
    if (!hasRoom) {
      this.#events.refused("full");
    }
    return hasRoom;
  }

  #isAllowed({ headers }: IncomingMessage, lastPart: string | undefined): boolean {
    const { secret } = this.#rules;
    if (secret === null) {
      return true;
    }
    const given = secret.in === "path" ? lastPart : headers[secret.name];
    return isSecret(typeof given === "string" ? given : undefined, secret.value);
  }
}

/** Version 1 calls a transaction by the integer that version 2 calls its legacyId: either makes it the same one. */
function identitiesOf({ transactionId, legacyId }: TransactionRecord): string[] {
  const ids = legacyId === null ? [transactionId] : [transactionId, legacyId];
  if (ids.some((id) => id.length > longestId)) {
    throw new ShapeError(phrase("idLong", { most: longestId }));
  }
  return ids.map((id) => id.toLowerCase());
}

function isJson({ headers }: IncomingMessage): boolean {
  const [, type, parameters = ""] = /^\s*([^;\s]+)\s*(?:;(.*))?$/.exec(headers["content-type"] ?? "") ?? [];
  const charset = /charset\s*=\s*"?([^\s";]+)/i.exec(parameters)?.[1];
  const coding = headers["content-encoding"];
  return (
    type !== undefined &&
    /^application\/(?:json|[\w.+-]+\+json)$/i.test(type) &&
    (charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)) &&
    (coding === undefined || coding === "identity")
  );
}

/** Throws where the bytes are no UTF-8. */
function decodeUtf8(body: Buffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(body);
}
