import type { Node, NodeAPI, NodeMessage } from "node-red";
import { phrase } from "../../errors/interpolation.ts";
import { headerNameProblem, readPath } from "../../rules/names.ts";
import type { Received } from "../../webhook/posted-record.ts";
import type { RecordReceiver } from "../../webhook/pump.ts";
import type { SecretRule, WebhookRules } from "../../webhook/receiver.ts";
import { asReference } from "../action/values.ts";
import type { FlowsEvent } from "../config/flows-event.ts";
import { SettingsReader } from "../config/settings.ts";
import type { ServedPath } from "../web/served-paths.ts";

/** What Node-RED hands to a `preRoute` hook: the receiver is not looked up yet. */
interface SendEvent {
  readonly msg: NodeMessage;
  readonly destination: { readonly id: string };
  /** Whether the receiver gets a copy. */
  readonly cloneMessage: boolean;
}

/** What Node-RED hands to an `onReceive` hook. */
interface ReceiveEvent {
  readonly msg: NodeMessage;
  readonly destination: { readonly id: string; readonly node: Node };
}

/** A message that was not delivered because its node had been closed. */
interface Missed {
  readonly nodeId: string;
  readonly msg: NodeMessage;
}

/** A message that was sent in this turn of the event loop, and which nodes have received it. */
interface Sent {
  readonly received: Received;
  reached: number;
  readonly missed: Missed[];
}

/**
 * How long a message is followed: with each wire that it passes it takes another turn, some milliseconds on a busy loop. A
 * turn can also take longer than a second, as one in which many nodes are closed.
 */
const followedMs = 1_000;
const followedTurns = 20;

interface Followed {
  readonly sinceMs: number;
  readonly sinceTurn: number;
}

/**
 * Sends records into the flow so that a deploy loses none. Node-RED delivers a message one turn of the event loop after
 * it was sent, on each wire. If the flows stop in between, the next node is closed by then and would drop the message:
 * so it is not delivered, and is sent again when the flows have started, to the nodes that did not get it. A message is
 * recognized by its `_msgid`, which nodes that pass on a message keep.
 */
export class RecordSender implements RecordReceiver {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #started: FlowsEvent;
  readonly #onSent: (waiting: number) => void;
  readonly #hook: string;
  /** By `_msgid`. */
  readonly #sent = new Map<string, Sent>();
  /** When the messages of earlier turns were sent, by `_msgid`, the oldest first. */
  readonly #followed = new Map<string, Followed>();
  #turn = 0;
  #late: Missed[] = [];
  #isStopping = false;

  constructor(RED: NodeAPI, node: Node, started: FlowsEvent, onSent: (waiting: number) => void) {
    this.#RED = RED;
    this.#node = node;
    this.#started = started;
    this.#onSent = onSent;
    this.#hook = `dimensioner-${RED.util.generateId()}`;
  }

  /** Sends one record. It never throws, because nothing above it would catch an error. */
  deliver(received: Received, waiting: number): void {
    const { record, corrects, isResumed } = received;
    const { transactionId } = record;
    const _msgid = this.#RED.util.generateId();
    const transactionReference = asReference(record.transactionReference) ?? null;
    const barcodeReference = asReference(record.barcodeReference) ?? null;
    const names = { _msgid, transactionId, transactionReference, barcodeReference };
    this.#sent.set(_msgid, { received, reached: 0, missed: [] });
    try {
      const marks = { ...(corrects === null ? {} : { corrects }), ...(isResumed ? { resumed: true } : {}) };
      this.#node.send({ ...names, payload: record, ...marks });
      this.#onSent(waiting);
    } catch (error) {
      // Without the payload: a Catch node gets a copy of the message, and copying may be what failed.
      this.#node.error(error, names);
    }
  }

  /** To be called when the flows are about to stop, before any node is closed. */
  stopping(): void {
    if (this.#isStopping) {
      return;
    }
    this.#isStopping = true;
    this.#RED.hooks.add(`preRoute.${this.#hook}`, (event: SendEvent) => this.#onRoute(event));
    this.#RED.hooks.add(`onReceive.${this.#hook}`, (event: ReceiveEvent) => this.#onReceive(event));
    this.#started.next(() => {
      this.#isStopping = false;
      this.#RED.hooks.remove(`*.${this.#hook}`);
      this.#sendLate();
    });
  }

  /** Returns the records of the last turn that no node has received. */
  unreached(): readonly Received[] {
    const now = { sinceMs: performance.now(), sinceTurn: ++this.#turn };
    const again: Received[] = [];
    for (const [_msgid, { received, reached, missed }] of this.#sent) {
      if (reached === 0 && missed.length > 0) {
        again.push(received);
      } else {
        this.#late.push(...missed);
        this.#followed.set(_msgid, now);
      }
    }
    this.#sent.clear();
    for (const [_msgid, { sinceMs, sinceTurn }] of this.#followed) {
      if (now.sinceMs - sinceMs <= followedMs || now.sinceTurn - sinceTurn <= followedTurns) {
        break;
      }
      this.#followed.delete(_msgid);
    }
    if (!this.#isStopping) {
      this.#sendLate();
    }
    return again;
  }

  /** A node that goes on while others are replaced sends to one that is not there: returns false if that is so. */
  #onRoute({ msg, destination: { id }, cloneMessage }: SendEvent): false | undefined {
    const _msgid = msg._msgid ?? "";
    const isFollowed = this.#sent.has(_msgid) || this.#followed.has(_msgid);
    if (!isFollowed || this.#RED.nodes.getNode(id)) {
      return undefined;
    }
    this.#late.push({ nodeId: id, msg: cloneMessage ? this.#RED.util.cloneMessage(msg) : msg });
    return false;
  }

  /** Returns false if the message must not be delivered. */
  #onReceive({ msg, destination: { id, node } }: ReceiveEvent): false | undefined {
    const _msgid = msg._msgid ?? "";
    const sent = this.#sent.get(_msgid);
    if (sent === undefined && !this.#followed.has(_msgid)) {
      return undefined;
    }
    if (this.#RED.nodes.getNode(id) === node) {
      if (sent !== undefined) {
        sent.reached++;
      }
      return undefined;
    }
    (sent?.missed ?? this.#late).push({ nodeId: id, msg });
    return false;
  }

  /** Sends a message again to those of its receivers that still exist. It never throws, as `deliver`. */
  #sendLate(): void {
    for (const { nodeId, msg } of this.#late.splice(0)) {
      try {
        this.#RED.nodes.getNode(nodeId)?.receive(msg);
      } catch (error) {
        this.#node.error(error);
      }
    }
  }
}

/** The settings that say how a webhook is served. */
interface WebhookSettings {
  readonly path: string;
  readonly secretIn: "header" | "path" | "none";
  readonly header: string;
  readonly dedupeMs: number;
  readonly queueLimit: number;
  readonly onlyOk: boolean;
  readonly deviceClientId: string;
}

const settings = new SettingsReader("webhook");

/** Reads the settings of a webhook; throws ERR_CONFIG where one of them cannot be used. */
export function readWebhook(
  given: WebhookSettings,
  secret: string,
): { readonly path: ServedPath; readonly rules: Omit<WebhookRules, "deviceOf"> } {
  const { dedupeMs, queueLimit, onlyOk } = given;
  const path = readPath(given.path);
  if ("problem" in path) {
    throw settings.invalid("path", path.problem);
  }
  const rules = {
    secret: readSecret(given, secret.trim()),
    dedupeMs,
    queueLimit,
    onlyOk,
    deviceClientIds: given.deviceClientId
      .toLowerCase()
      .split(/[,\s]+/)
      .filter((id) => id !== ""),
  };
  return { path: { base: path.base, takesPart: given.secretIn === "path" }, rules };
}

function readSecret({ secretIn, header }: WebhookSettings, value: string): SecretRule | null {
  if (secretIn === "none") {
    return null;
  }
  if (value === "") {
    throw settings.invalid("secret", phrase("empty"));
  }
  return secretIn === "path" ? { in: "path", value } : { in: "header", value, name: readHeaderName(header) };
}

function readHeaderName(given: string): string {
  const name = given.trim().toLowerCase();
  const problem = headerNameProblem(name);
  if (problem !== null) {
    throw settings.invalid("header", problem);
  }
  return name;
}
