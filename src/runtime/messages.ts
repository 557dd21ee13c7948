import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { type Values, onOneLine, problemOf, verbatim, type Problem } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { isJsonLonger } from "../model/parse-json.ts";
import type { NodeAPI, NodeMessageInFlow } from "node-red";

/** The operation of an action node, as its errors name it. */
export interface Operation {
  /** In the API's words: "measure", "video start", "media list". */
  readonly operation: string;
  readonly surface: FailureFacts["surface"];
  /** Whether it is a command: then an error before it is sent has the outcome "not sent". */
  readonly acts: boolean;
}

/** Creates an error for a failure before anything was sent. */
export function errorBeforeSending(
  { operation, surface, acts }: Operation,
  sentence: SentenceKey,
  values: Values = {},
): DimensionerError {
  const outcome: Outcome | null = acts ? "not-sent" : null;
  const isConfig = sentence.startsWith("config");
  return new DimensionerError(
    sentence,
    { surface: isConfig ? "config" : surface, operation, outcome },
    values,
  );
}

/** An object that is longer as JSON is not shown: a Buffer or a list can be so long that writing its JSON takes minutes. */
const longestShown = 1_000;

/** Shows a value from a message in an error: short, on one line. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? value.slice(0, longestShown) : jsonOf(value);
  return onOneLine(text).replace(/\s+/g, " ").slice(0, 60).toWellFormed();
}

/** A value that is nested too deeply, refers to itself or contains a BigInt has no JSON. */
function jsonOf(value: unknown): string {
  try {
    if (isJsonLonger(value, longestShown)) {
      return Array.isArray(value) ? "[…]" : "{…}";
    }
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value;
  }
}

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
