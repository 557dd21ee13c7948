import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { onOneLine, type Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";

/** What an action node is doing, as its errors name it. */
export interface Operation {
  /** In the API's words: "measure", "video start", "media list". */
  readonly operation: string;
  readonly surface: FailureFacts["surface"];
  /** Whether it is a command: then nothing that goes wrong before it is sent leaves a doubt about it. */
  readonly acts: boolean;
}

/** A failure before anything was sent. */
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

/** How a value from a message is shown in an error: short, on one line. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? value.slice(0, 1_000) : jsonOf(value);
  return onOneLine(text).replace(/\s+/g, " ").slice(0, 60).toWellFormed();
}

/** What is nested too deeply, goes in a circle or holds a BigInt has no JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value;
  }
}
