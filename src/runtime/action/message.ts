import { types } from "node:util";
import type { Node, NodeAPI } from "node-red";
import { phrase } from "../../errors/interpolation.ts";
import { isContainer } from "../../model/containers.ts";
import { type Operation, errorBeforeSending, type Message } from "../messages.ts";

/** What a message for one of several items has in place of the common payload, and beside it. */
type Item = object & { readonly payload: unknown };

/** A copy of the message for each item. Throws ERR_INPUT if the message is nested too deeply to be copied. */
export function copiesOf(
  RED: NodeAPI,
  msg: Message,
  operation: Operation,
  items: readonly Item[],
): Message[] {
  // Replaced in each message: copying it as often would take long if it is large.
  const common: Message = { ...msg, payload: undefined };
  if (items.length > 0) {
    refuseTooDeep(common, operation);
  }
  return items.map((item) => Object.assign(RED.util.cloneMessage(common), item));
}

/** The same for a sequence, which the Join node puts together again. */
export function sequenceOf(
  RED: NodeAPI,
  msg: Message,
  operation: Operation,
  items: readonly Item[],
): Message[] {
  const id = RED.util.generateId();
  const count = items.length;
  const inSequence = items.map((item, index) => ({ ...item, parts: { id, index, count, type: "array" } }));
  return copiesOf(RED, msg, operation, inSequence);
}

/**
 * Node-RED copies a message recursively, for each wire behind the first and for Catch and Complete nodes. From about
 * 1,900 levels on the copy fails, in the middle of a send that has reached some of the wires by then.
 */
const deepestCopied = 500;

/** Whether Node-RED may fail to copy a message. It walks in the same way as the copy, but without recursion. */
function isTooDeepToCopy(message: object): boolean {
  const seen = new Set<object>([message]);
  const open = [childrenOf(message)];
  for (let children = open.at(-1); children !== undefined; children = open.at(-1)) {
    const { done, value } = children.next();
    if (done === true) {
      open.pop();
    } else if (isContainer(value) && !seen.has(value)) {
      seen.add(value);
      open.push(childrenOf(value));
      if (open.length > deepestCopied) {
        return true;
      }
    }
  }
  return false;
}

/** Throws ERR_INPUT if Node-RED may fail to copy a message. */
export function refuseTooDeep(message: object, operation: Operation): void {
  if (isTooDeepToCopy(message)) {
    throw errorBeforeSending(operation, "messageTooDeep");
  }
}

/** Whether Node-RED has to copy what a node sends, because an output has several wires. */
export function hasSeveralWires(node: Node): boolean {
  const wires: unknown = Reflect.get(node, "wires");
  return Array.isArray(wires) && wires.some((output) => Array.isArray(output) && output.length > 1);
}

/** What is in a list, an object, a Map or a Set, which a Function node has made in a realm of its own. */
export function childrenOf(container: object): Iterator<unknown, undefined> {
  return types.isMap(container) || types.isSet(container)
    ? container.values()
    : Object.values(container)[Symbol.iterator]();
}

/** What a message has in memory, roughly: its texts and Buffers, and something for every other value. 0 if it cannot be read. */
export function sizeOfMessage(msg: object): number {
  try {
    return sumSizes(msg);
  } catch {
    return 0;
  }
}

function sumSizes(msg: object): number {
  const seen = new Set<object>([msg]);
  let bytes = 0;
  for (const open: object[] = [msg]; open.length > 0;) {
    const children = childrenOf(open.pop() ?? []);
    for (let child = children.next(); child.done !== true; child = children.next()) {
      const { value } = child;
      bytes += bytesOfValue + sizeOf(value);
      if (isContainer(value) && !seen.has(value)) {
        seen.add(value);
        open.push(value);
      }
    }
  }
  return bytes;
}

const bytesOfValue = 16;

/** Of the messages that one node is processing; a single one may have more. */
const mostBytes = 1_000_000_000;

interface Holder {
  readonly msg: Message;
}

/** What the messages that a node is processing, and their downloads, keep in memory beside small values. */
export class MessageMemory {
  readonly #call: Operation;
  /** By job, because a flow may send the same message twice. */
  readonly #held = new Map<Holder, { readonly message: number; readonly all: number }>();
  #sum = 0;

  constructor(call: Operation) {
    this.#call = call;
  }

  /** Counts what a job's message has, and what it has downloaded so far. Throws ERR_QUEUE_FULL if there is no room beside the others. */
  hold(job: Holder, downloadedBytes = 0): void {
    const held = this.#held.get(job);
    const message = held?.message ?? bytesOf(job.msg);
    const all = message + downloadedBytes;
    const others = this.#sum - (held?.all ?? 0);
    if (all > 0 && others > 0 && others + all > mostBytes) {
      throw errorBeforeSending(this.#call, "messagesLarge", {
        limit: phrase("megabytes", { count: mostBytes / 1e6 }),
      });
    }
    this.#held.set(job, { message, all });
    this.#sum = others + all;
  }

  /** Does nothing for a job that was not counted. */
  delete(job: Holder): void {
    this.#sum -= this.#held.get(job)?.all ?? 0;
    this.#held.delete(job);
  }
}

/** The Buffers and texts of the payload, and an exact answer. */
function bytesOf({ payload, rawResponse }: Message): number {
  // Object.values reads what a list has, however many elements are between: a list of a few bytes can have a length of 4 billion.
  const values: readonly unknown[] = Array.isArray(payload) ? Object.values(payload) : [payload];
  return values.reduce<number>((sum, value) => sum + sizeOf(value), sizeOf(rawResponse));
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") {
    return value.length;
  }
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value) ? value.byteLength : 0;
}

/**
 * A message to which results can be written: otherwise a device would have acted, and its result would be lost. The message itself, or a
 * copy if a flow has frozen it or has given it getters; a property whose getter throws is missing in the copy.
 */
export function writableMessage(msg: Message): Message {
  const properties = Object.getOwnPropertyDescriptors(msg);
  if (Object.isExtensible(msg) && Object.values(properties).every(({ writable }) => writable === true)) {
    return msg;
  }
  const copy: Message = { _msgid: "" };
  for (const name of Object.keys(properties)) {
    try {
      const value = msg[name];
      Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true });
    } catch {
      // Whoever needs it says that it is missing.
    }
  }
  return copy;
}

/**
 * Writes what a copy of a message has by now to the message, as far as it can be written to: Catch and Complete nodes get the message
 * itself.
 */
export function writeBack(copy: Message, msg: Message): void {
  for (const [name, value] of copy === msg ? [] : Object.entries(copy)) {
    const before = Object.getOwnPropertyDescriptor(msg, name);
    if (before === undefined || before.writable === true) {
      Reflect.set(msg, name, value);
    }
  }
}
