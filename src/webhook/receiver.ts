import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Problem, inEnglish, phrase } from "../errors/interpolation.ts";
import type { KnownDevice } from "../model/instrument.ts";
import { recordLimits } from "../model/parse-json.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { type BodyProblem, discardBody, formProblem, readBody, readPosted } from "./posted-record.ts";
import type { AcceptRules, RecordPump, RecordReceiver } from "./pump.ts";
import type { Room } from "./room.ts";

/** Where the sender sends its secret: in a header, or as the last part of the path. */
export type SecretRule =
  | { readonly in: "header"; readonly name: string; readonly value: string }
  | { readonly in: "path"; readonly value: string };

/** Which records are accepted. */
export interface WebhookRules extends AcceptRules {
  /** Null: no secret is needed. */
  readonly secret: SecretRule | null;
  readonly onlyOk: boolean;
  /** Only records of these devices; none: all. */
  readonly deviceClientIds: readonly string[];
  /** What is known of the device with this ID in the cloud, for the record: no record says it. Never rejects. */
  readonly deviceOf: (deviceClientId: string | null) => KnownDevice | Promise<KnownDevice>;
}

/** Why a post was refused, for the operator of the receiver; the sender is told less. */
export type Refusal = "method" | "secret" | "record" | "full" | "store";

export interface WebhookEvents extends RecordReceiver {
  /**
   * Called for each refused request; `problem` is that of the record, of the store, or that it is no post, as when
   * somebody opens the address in a browser.
   */
  refused(refusal: Refusal, problem?: Problem): void;
}

/** The secret that the examples have and the simulator sends. */
const secretOfExamples = "simulator";
/** What proxies and tunnels add, which pass on what comes from elsewhere. */
const forwarding = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

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

const notRecord = "The body is not a transaction record";

/** The statuses of responses, and their texts: what the sender should do, and nothing about this computer. */
const answers = {
  204: "",
  400: `${notRecord}.`,
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
 * Responds to the posts of the cloud's webhook: 204 as soon as the pump has accepted the record, and before it is processed. The
 * response to a duplicate or an unwanted record is the same.
 */
export class WebhookReceiver {
  readonly #rules: WebhookRules;
  readonly #events: WebhookEvents;
  readonly #pump: RecordPump;
  readonly #bodies: Room;
  #isClosed = false;

  /**
   * `pump` is that of the receiver before this one; `bodies` is the room for bodies that are being received, and may be shared with
   * others. Accepts records, but passes none on before `resume`.
   */
  constructor(rules: WebhookRules, events: WebhookEvents, pump: RecordPump, bodies: Room) {
    this.#rules = rules;
    this.#events = events;
    this.#pump = pump;
    this.#bodies = bodies;
  }

  /** Passes on the waiting records, and from now on those that arrive. */
  resume(): void {
    this.#pump.resume(this.#events);
  }

  /** Accepts records that arrive, and lets them wait. */
  hold(): void {
    this.#pump.hold();
  }

  /** Responds to one request. `lastPart` is the part of the path behind the address. Never rejects. */
  async receive(
    request: IncomingMessage,
    response: ServerResponse,
    lastPart: string | undefined,
  ): Promise<void> {
    const found = await this.#statusOf(request, lastPart);
    if (found === null) {
      return;
    }
    const { status, problem } = typeof found === "number" ? { status: found, problem: undefined } : found;
    // A slow sender is not waited for a second time.
    if (status >= 400 && status !== 408) {
      await discardBody(request, longestRefusedBytes, bodyWithinMs);
    }
    const text = problem === undefined ? answers[status] : `${notRecord}: ${inEnglish(problem)}.`;
    const type = text === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
    response.writeHead(status, { ...type, ...moreHeaders[status] });
    response.end(text === "" ? undefined : `${text}\n`);
  }

  /** Whether a request has the secret, and it counts where it comes from. `lastPart` is the part of the path behind the address. */
  admits(request: IncomingMessage, lastPart: string | undefined): boolean {
    const isOfExamples = this.#rules.secret?.value === secretOfExamples;
    return this.#hasSecret(request, lastPart) && (!isOfExamples || isOfThisComputer(request));
  }

  #hasSecret({ headers }: IncomingMessage, lastPart: string | undefined): boolean {
    const { secret } = this.#rules;
    if (secret === null) {
      return true;
    }
    const given = secret.in === "path" ? lastPart : headers[secret.name];
    const text = typeof given === "string" ? given : "";
    // Digests of both are compared, so that the time reveals neither how much of the given secret is right nor the length of the right one.
    return timingSafeEqual(sha256(text), sha256(secret.value)) && given !== undefined;
  }

  /** Stops accepting and passing on records: all further posts are asked to come again. */
  close(): void {
    this.#isClosed = true;
    this.hold();
  }

  /** Returns null if the sender has closed the connection. */
  async #statusOf(
    request: IncomingMessage,
    lastPart: string | undefined,
  ): Promise<Status | { readonly status: 400; readonly problem: Problem } | null> {
    if (request.method !== "POST") {
      this.#events.refused("method", phrase("notPost", { name: request.method ?? "" }));
      return 405;
    }
    if (!this.admits(request, lastPart)) {
      const isElsewhere = this.#hasSecret(request, lastPart);
      this.#events.refused("secret", isElsewhere ? phrase("secretOfExamples") : undefined);
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
    const body = await readBody(request, longestBodyBytes, bodyWithinMs, this.#bodies);
    if (body === null) {
      return null;
    }
    if (typeof body === "number") {
      this.#events.refused(body === 503 ? "full" : "record", bodyProblems[body]);
      return body;
    }
    const posted = readPosted(body, request.headers);
    if ("problem" in posted) {
      this.#events.refused("record", posted.problem);
      const { status, problem } = posted;
      return status === 400 ? { status, problem } : status;
    }
    if (!this.#isWanted(posted.record)) {
      return 204;
    }
    const record = await this.#complete(posted.record);
    // A node that was closed meanwhile accepts nothing any more.
    if (this.#isClosed) {
      return 503;
    }
    const notTaken = await this.#pump.accept({ ...posted, record }, this.#rules);
    if (notTaken === null) {
      return 204;
    }
    this.#events.refused(notTaken.refusal, "problem" in notTaken ? notTaken.problem : undefined);
    return 503;
  }

  #isWanted({ ok, deviceClientId }: TransactionRecord): boolean {
    const { onlyOk, deviceClientIds } = this.#rules;
    const device = deviceClientId?.toLowerCase() ?? "";
    return (ok || !onlyOk) && (deviceClientIds.length === 0 || deviceClientIds.includes(device));
  }

  async #complete(record: TransactionRecord): Promise<TransactionRecord> {
    const { name, instrument } = await this.#rules.deviceOf(record.deviceClientId);
    const { serialNumber, certificate } = instrument;
    return { ...record, device: name, deviceSerialNumber: serialNumber, deviceCertificate: certificate };
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

function isOfThisComputer({ socket, headers }: IncomingMessage): boolean {
  const isLoopback = /^(?:::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  return isLoopback && forwarding.every((name) => headers[name] === undefined);
}
