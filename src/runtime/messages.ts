import type { NodeAPI, NodeMessageInFlow } from "node-red";

/** A message as it travels: what a node does not own stays as it is. */
export type Message = NodeMessageInFlow & Partial<Record<string, unknown>>;

/** What goes to each output, in order; null for nothing, a list for several messages in a row. */
export type Outputs = readonly (Message | readonly Message[] | null)[];

/** What goes out one after the other, where the order between the outputs counts. */
export interface InTurn {
  readonly turns: readonly Outputs[];
}

/** A property of the message by its expression ("payload.contentId"); undefined where a step of it is missing. */
export function readMessageProperty(RED: NodeAPI, msg: Message, expression: string): unknown {
  try {
    return RED.util.getMessageProperty(msg, expression);
  } catch (error) {
    // Node-RED throws a TypeError where a step on the way is missing, and an error with a code for a wrong expression.
    if (error instanceof TypeError) {
      return undefined;
    }
    throw error;
  }
}
