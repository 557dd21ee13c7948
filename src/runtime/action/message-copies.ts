import type { NodeAPI } from "node-red";
import type { Operation } from "../failure.ts";
import type { Message } from "../messages.ts";
import { refuseTooDeep } from "./message-depth.ts";

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
