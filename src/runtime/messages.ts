import type { NodeAPI, NodeMessageInFlow } from "node-red";

/** A message. Properties that a node does not own stay unchanged. */
export type Message = NodeMessageInFlow & Partial<Record<string, unknown>>;

/** What to send to each output, in order; null for nothing, a list for several messages. */
export type Outputs = readonly (Message | readonly Message[] | null)[];

/** What to send one after the other, if the order between the outputs matters. */
export interface InTurn {
  readonly turns: readonly Outputs[];
}

/**
 * Reads a property of the message by its expression ("payload.contentId"); undefined if a part of the path is missing.
 */
export function readMessageProperty(RED: NodeAPI, msg: Message, expression: string): unknown {
  try {
    return RED.util.getMessageProperty(msg, expression);
  } catch (error) {
    // Node-RED throws a TypeError if a part of the path is missing, and an error with a code for an invalid expression.
    if (error instanceof TypeError) {
      return undefined;
    }
    throw error;
  }
}
