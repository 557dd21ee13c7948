import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { type Values, onOneLine } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { isJsonLonger } from "../model/parse-json.ts";

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
