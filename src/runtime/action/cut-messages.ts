import type { Node, NodeAPI } from "node-red";
import { deployed } from "../config/config-choice.ts";
import { show, type Message } from "../messages.ts";
import { translateStatus } from "../status/node-status.ts";
import { sizeOfMessage } from "./message.ts";

/** Where the messages of a runtime are kept: one object for the nodes of all types, as long as Node-RED runs. */
const ofRuntime = Symbol("cut messages of @dimflow/node-red-dimensioner");

/** How many messages wait for the next start of the flows. */
const mostKept = 10_000;
/** What they may have in memory; a single one may have more. */
const mostBytes = 100_000_000;

const hook = "dimensioner-cut";

/** A node that exists now. */
interface Present {
  readonly RED: NodeAPI;
  readonly node: Node;
  /** Shows in its status in what a message has ended. */
  readonly show: (error: Error) => void;
}

/** A node that is closed, or of an earlier process, as far as it is needed. */
type FormerNode = Pick<Node, "id" | "error" | "warn">;

/** A message whose node was closed, or has ended with its process, before it had ended. */
interface Cut {
  readonly RED: NodeAPI;
  readonly node: FormerNode;
  /** What a Catch node gets, and the error in which it has ended. */
  readonly msg: Message;
  readonly error: Error;
  /** Called when it was told to a Catch node, or, if it can be told to none, to the log. */
  readonly onTold?: (() => void) | undefined;
}

interface KeptMessage extends Cut {
  readonly bytes: number;
  /** Whether the log has it. */
  isLogged: boolean;
}

/** A message that a node is processing. */
interface AtWork {
  readonly node: FormerNode;
  readonly msg: Message;
  /** In which it ends if the process does. */
  readonly error: () => Error;
}

/** The jobs that a stop of the flows has interrupted in one node. */
interface OpenJobs {
  readonly RED: NodeAPI;
  readonly node: FormerNode;
  count: number;
  /** Of the first of them. */
  readonly references: string[];
}

/** How many references of open jobs the log names. */
const mostNamed = 10;

/** What Node-RED hands to an `onReceive` hook. */
interface ReceiveEvent {
  readonly msg: object;
  readonly destination: { readonly node: Node };
}

/** Who has heard of an error: a Catch node, only Catch nodes that are stopped and drop it, or nobody, so that it is in the log. */
type Heard = "caught" | "dropped" | "logged";

/**
 * The messages that a stop of the flows has cut. Node-RED hands an error to the Catch nodes of the flow that is being stopped; they are
 * closed by then and drop it, and because they were there it is not logged either. So each such message is kept until the flows run
 * again: then the node that has the same id reports it, once, to the Catch nodes of the new flow and to the log. Where no such node
 * comes, and where the flows are not started again, as at the end of the process, the log says so.
 */
export class CutMessages {
  /** By id; a node inside a subflow has one that its next one has, too. */
  readonly #present = new Map<string, Present>();
  #kept: KeptMessage[] = [];
  #keptBytes = 0;
  /** By the id of the node. */
  readonly #openJobs = new Map<string, OpenJobs>();
  readonly #onStart = new Set<() => void>();
  /** Between a stop and the start that follows it, `starting`; `stopped` if none is announced. */
  #flows: "running" | "starting" | "stopped" = "starting";

  readonly #atWork = new Set<AtWork>();

  /** An error of another node that nobody catches ends the process, and closes no node before. */
  readonly #logAtWork = (): void =>
    this.#atWork.forEach(({ node, msg, error }) => node.error(`${error().message} (${nameOf(msg)})`));

  /** A signal in the middle of a deploy ends the process without another word from Node-RED. */
  readonly #logAll = (): void => this.#kept.forEach((cut) => log(cut));

  private constructor({ events }: NodeAPI) {
    events.on("flows:stopping", () => {
      this.#flows = "starting";
    });
    events.on("flows:started", () => {
      this.#flows = "running";
      this.#reportJobs();
      this.#report();
      const waiting = [...this.#onStart];
      this.#onStart.clear();
      waiting.forEach((act) => act());
    });
    events.on("runtime-event", (event: unknown) => {
      if (isLastingStop(event)) {
        this.#flows = "stopped";
        this.#logAll();
      }
    });
  }

  /** Those of the runtime to which a node type belongs. */
  static of(RED: NodeAPI): CutMessages {
    const known: unknown = Reflect.get(RED.events, ofRuntime);
    const messages = known instanceof CutMessages ? known : new CutMessages(RED);
    Reflect.set(RED.events, ofRuntime, messages);
    return messages;
  }

  /** To be called when a node begins: it reports what was cut in the one before. Returns a function to be called when it closes. */
  enter(RED: NodeAPI, node: Node, showError: (error: Error) => void): () => void {
    const present = { RED, node, show: showError };
    this.#present.set(node.id, present);
    return () => {
      if (this.#present.get(node.id) === present) {
        this.#present.delete(node.id);
      }
    };
  }

  /** Calls `act` once, after the next start of the flows: a listener for each type would be more than Node-RED's emitter expects. */
  nextStart(act: () => void): void {
    this.#onStart.add(act);
  }

  /** To be called when a node begins with a message, which the log has if the process ends before. Returns a function to be called at its end. */
  begin(one: AtWork): () => void {
    if (this.#atWork.size === 0) {
      process.on("exit", this.#logAtWork);
    }
    this.#atWork.add(one);
    return () => {
      this.#atWork.delete(one);
      if (this.#atWork.size === 0) {
        process.off("exit", this.#logAtWork);
      }
    };
  }

  /** Ends a message of a node that is closed in an error: `end` tells Node-RED of it. */
  end(cut: Cut & { readonly node: Node }, end: () => void): void {
    const heard = tell(cut, end, (catchNode) => passesOn(cut.RED, catchNode));
    if (heard === "caught") {
      cut.onTold?.();
    } else {
      this.#keep(cut, heard === "logged");
    }
  }

  /** Adds a message that has ended with an earlier process. */
  add(cut: Cut): void {
    this.#keep(cut, false);
  }

  /** To be called for a message of a closed node whose job goes on: the next node with its id resumes it. If there is none, the log says so. */
  leave(RED: NodeAPI, node: Node, msg: Message): void {
    const open = this.#openJobs.get(node.id) ?? { RED, node, count: 0, references: [] };
    this.#openJobs.set(node.id, open);
    open.count += 1;
    if (open.references.length < mostNamed) {
      open.references.push(nameOf(msg));
    }
    if (this.#flows === "running") {
      this.#reportJobs();
    }
  }

  #reportJobs(): void {
    for (const [id, { RED, node, count, references }] of this.#openJobs) {
      if (this.#present.get(id)?.RED !== RED) {
        const value = count > references.length ? [...references, "…"] : references;
        node.warn(translateStatus(RED, "jobNodeGone", { count, value: value.join(", ") }));
      }
    }
    this.#openJobs.clear();
  }

  #keep(cut: Cut, isLogged: boolean): void {
    const kept = { ...cut, bytes: sizeOfMessage(cut.msg), isLogged };
    const isFull = this.#kept.length > 0 && this.#keptBytes + kept.bytes > mostBytes;
    if (isFull || this.#kept.length >= mostKept) {
      log(kept);
      cut.node.warn(translateStatus(cut.RED, "cutNotKept"));
      cut.onTold?.();
      return;
    }
    if (this.#kept.length === 0) {
      // Only while something waits: a listener would keep all that a runtime has had.
      process.once("exit", this.#logAll);
    }
    this.#kept.push(kept);
    this.#keptBytes += kept.bytes;
    if (this.#flows === "running") {
      // Also one that took longer to end than Node-RED waits for a node to close.
      this.#report();
    } else if (this.#flows === "stopped") {
      log(kept);
    }
  }

  #report(): void {
    process.off("exit", this.#logAll);
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    for (const cut of kept) {
      const next = this.#present.get(cut.node.id);
      if (next?.RED === cut.RED) {
        reportBy(next, cut);
      } else {
        log(cut);
        cut.node.warn(translateStatus(cut.RED, "cutNodeGone"));
      }
      cut.onTold?.();
    }
  }
}

/** Whether an event of the runtime says that the flows have stopped, and not because a deploy is about to start them again. */
function isLastingStop(event: unknown): boolean {
  if (typeof event !== "object" || event === null || !("payload" in event) || !("id" in event)) {
    return false;
  }
  const { id, payload } = event;
  const isStop =
    typeof payload === "object" && payload !== null && "state" in payload && payload.state === "stop";
  return id === "runtime-state" && isStop && !("deploy" in payload && payload.deploy === true);
}

function reportBy({ RED, node, show: showError }: Present, cut: KeptMessage): void {
  const { msg, error } = cut;
  showError(error);
  if (cut.isLogged) {
    withIdAtLeast(msg, (told) => tellCatchNodesOnly(node, error, told));
    return;
  }
  const raise = (): void => raiseError(node, error, msg);
  if (tell({ RED, node }, raise, () => true) !== "logged") {
    // A Catch node has it, so it is no error that nobody handles.
    log(cut, "warn");
  }
}

/** Tells Node-RED of an error, which is in the log if no Catch node takes it. */
export function raiseError(node: Node, error: Error, msg: Message): void {
  withIdAtLeast(msg, (told) => node.error(error, told));
}

/** Node-RED throws at a message that it cannot copy for a Catch node, which then gets the message's id only. */
function withIdAtLeast(msg: Message, act: (told: Message) => void): void {
  try {
    act(msg);
  } catch {
    act({ _msgid: msg._msgid });
  }
}

/** The first half of Node-RED's `node.error()`. Which Catch nodes take an error depends on their scope, groups, subflows and the others. */
function tellCatchNodesOnly(node: Node, error: Error, msg: Message): void {
  const flow: unknown = Reflect.get(node, "_flow");
  if (typeof flow === "object" && flow !== null && "handleError" in flow) {
    const { handleError } = flow;
    if (typeof handleError === "function") {
      Reflect.apply(handleError, flow, [node, error, msg]);
    }
  }
}

/** Only into the log, once, with what tells the message from others. */
function log(cut: KeptMessage, level: "error" | "warn" = "error"): void {
  if (!cut.isLogged) {
    cut.isLogged = true;
    cut.node[level](`${cut.error.message} (${nameOf(cut.msg)})`);
  }
}

/** What tells people a message from others. */
function nameOf({ _msgid, transactionReference, transactionId }: Message): string {
  const name = transactionReference ?? transactionId ?? null;
  return name === null ? `_msgid ${_msgid}` : show(name);
}

/** Runs what tells Node-RED of a node's error. A Catch node that is not `fit` does not get it. */
function tell(
  { RED, node }: Pick<Present, "RED" | "node">,
  act: () => void,
  fit: (catchNode: Node) => boolean,
): Heard {
  let heard: Heard = "logged";
  RED.hooks.add(`onReceive.${hook}`, ({ msg, destination }: ReceiveEvent) => {
    if (destination.node.type !== "catch" || sourceOf(msg) !== node.id) {
      return undefined;
    }
    if (!fit(destination.node)) {
      heard = heard === "caught" ? heard : "dropped";
      return false;
    }
    heard = "caught";
    return undefined;
  });
  try {
    act();
  } finally {
    RED.hooks.remove(`*.${hook}`);
  }
  return heard;
}

/** The id of the node whose error is on a message. */
function sourceOf(msg: object): unknown {
  const error: unknown = "error" in msg ? msg.error : undefined;
  const source: unknown =
    typeof error === "object" && error !== null && "source" in error ? error.source : undefined;
  return typeof source === "object" && source !== null && "id" in source ? source.id : undefined;
}

/** Whether what a Catch node gets now comes through: neither it nor what is wired to it is stopped. */
function passesOn(RED: NodeAPI, catchNode: Node): boolean {
  const wires: unknown = Reflect.get(catchNode, "wires");
  const targets = Array.isArray(wires) ? wires.flat() : [];
  return (
    deployed(RED, catchNode.id) === catchNode &&
    targets.every((id) => typeof id === "string" && deployed(RED, id) !== null)
  );
}
