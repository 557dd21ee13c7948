import type { NodeAPI, NodeMessageInFlow } from "node-red";
import { problemOf, verbatim, type Problem } from "../errors/interpolation.ts";
import { show } from "./failure.ts";

/** A message. Properties that a node does not own stay unchanged. */
export type Message = NodeMessageInFlow & Partial<Record<string, unknown>>;

/** What to send to each output, in order; null for nothing, a list for several messages. */
export type Outputs = readonly (Message | readonly Message[] | null)[];

/** What to send one after the other, if the order between the outputs matters, or if it is too much for one turn of the event loop. */
export interface InTurn {
  readonly turns: Iterable<Outputs> | AsyncIterable<Outputs>;
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

/** The problem of an expression. JSONata rejects with objects that only look like errors. */
export function expressionProblem(error: unknown): Problem {
  const isWorded =
    typeof error === "object" && error !== null && "message" in error && error.message !== undefined;
  const problem = problemOf(isWorded ? error.message : show(error));
  return "verbatim" in problem ? verbatim(`${problem.verbatim}.`) : problem;
}
