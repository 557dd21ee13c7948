import type { IncomingMessage, ServerResponse } from "node:http";
import { recordLimits } from "../model/parse-json.ts";
import { phrase, type Problem } from "../errors/interpolation.ts";
import { BodyBudget } from "./body-budget.ts";
import { discardBody, readBody, type BodyProblem } from "./body.ts";
import type { Target } from "./delivery-queue.ts";
import { formProblem, readPosted } from "./posted-record.ts";
import {
  RecordIntake,
  WebhookMemory,
  type IntakeRules,
  type Received,
  type RecordKeeper,
} from "./record-intake.ts";
import { isSecret } from "./secret.ts";

/** Where the sender sends its secret: in a header, or as the last part of the path. */
export type SecretRule =
  | { readonly in: "header"; readonly name: string; readonly value: string }
  | { readonly in: "path"; readonly value: string };

export interface WebhookRules extends IntakeRules {
  /** Null: no secret is needed. */
  readonly secret: SecretRule | null;
}

/** Why a post was refused, for the operator of the receiver; the sender is told less. */
export type Refusal = "method" | "secret" | "record" | "full" | "store";

export interface WebhookEvents extends Target<Received> {
  /**
   * Called for each refused request; `problem` is that of the record, of the store, or that it is no post, as when
   * somebody opens the address in a browser.
   */
  refused(refusal: Refusal, problem?: Problem): void;
}

/** The largest body that is accepted; a record has about 1 kB. */
const longestBodyBytes = 1_000_000;
/** How much of a refused body is read, so that its sender receives the response. */
const longestRefusedBytes = 32_000_000;
const bodyWithinMs = 10_000;
const retryAfterSeconds = 5;

/** Why a body was not read, for the operator; undefined if there was no place for it. */
const bodyProblems: Readonly<Record<BodyProblem, Problem | undefined>> = {
  400: phrase("jsonLevels", { most: recordLimits.depth }),
  408: phrase("bodySlow", { seconds: bodyWithinMs / 1_000 }),
  413: phrase("bodyLarge", { limit: phrase("megabytes", { count: longestBodyBytes / 1_000_000 }) }),
  503: undefined,
};

/** The statuses of responses, and their texts: what the sender should do, and nothing about this computer. */
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

const moreHeaders: Partial<Record<Status, Readonly<Record<string, string>>>> = {
  401: { "www-authenticate": "Webhook" },
  405: { allow: "POST" },
  408: { connection: "close" },
  503: { "retry-after": String(retryAfterSeconds) },
};

/**
 * Responds to the posts of the cloud's webhook: 204 as soon as the record is in the queue, or with a keeper as soon as
 * it is durable, and before it is processed. The response to a duplicate or an unwanted record is the same.
 */
export class WebhookReceiver {
  readonly #rules: WebhookRules;
  readonly #events: WebhookEvents;
  readonly #budget: BodyBudget;
  readonly #intake: RecordIntake;
  #isClosed = false;

  /**
   * `memory` is that of the receiver before this one; `budget` may be shared with others. Accepts records, but passes
   * none on before `resume`.
   */
  constructor(
    rules: WebhookRules,
    events: WebhookEvents,
    memory = new WebhookMemory(),
    budget = new BodyBudget(),
    keeper?: RecordKeeper,
  ) {
    this.#rules = rules;
    this.#events = events;
    this.#budget = budget;
    this.#intake = new RecordIntake(rules, memory, keeper);
  }

  /** How many records were accepted and not delivered yet. */
  get waiting(): number {
    return this.#intake.waiting;
  }

  /** Passes on the waiting records, and from now on those that arrive. */
  resume(): void {
    this.#intake.resume(this.#events);
  }

  /** Accepts records that arrive, and lets them wait. */
  hold(): void {
    this.#intake.hold();
  }

  /** Responds to one request. `lastPart` is the part of the path behind the address. Never rejects. */
  async receive(
    request: IncomingMessage,
    response: ServerResponse,
    lastPart: string | undefined,
  ): Promise<void> {
    const status = await this.#statusOf(request, lastPart);
    if (status === null) {
      return;
    }
    // A slow sender is not waited for a second time.
    if (status >= 400 && status !== 408) {
      await discardBody(request, longestRefusedBytes, bodyWithinMs);
    }
    const text = answers[status];
    const type = text === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
    response.writeHead(status, { ...type, ...moreHeaders[status] });
    response.end(text === "" ? undefined : `${text}\n`);
  }

  /** Stops accepting and passing on records: all further posts are asked to come again. */
  close(): void {
    this.#isClosed = true;
    this.hold();
  }

  /** Returns null if the sender has closed the connection. */
  async #statusOf(request: IncomingMessage, lastPart: string | undefined): Promise<Status | null> {
    if (request.method !== "POST") {
      this.#events.refused("method", phrase("notPost", { name: request.method ?? "" }));
      return 405;
    }
    if (!this.#isAllowed(request, lastPart)) {
      this.#events.refused("secret");
      return 401;
    }
    if (this.#isClosed) {
      return 503;
    }
    const form = formProblem(request.headers);
    if (form !== null) {
      this.#events.refused("record", form);
      return 415;
    }
    const body = await readBody(request, longestBodyBytes, bodyWithinMs, this.#budget);
    if (body === null) {
      return null;
    }
    if (typeof body === "number") {
      this.#events.refused(body === 503 ? "full" : "record", bodyProblems[body]);
      return body;
    }
    // A node that was closed meanwhile accepts nothing any more.
    if (this.#isClosed) {
      return 503;
    }
    const posted = readPosted(body);
    if ("problem" in posted) {
      this.#events.refused("record", posted.problem);
      return 400;
    }
    const notTaken = await this.#intake.take(posted);
    if (notTaken === null) {
      return 204;
    }
    this.#events.refused(notTaken.refusal, "problem" in notTaken ? notTaken.problem : undefined);
    return 503;
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
