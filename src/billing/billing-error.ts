import { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";

/** Whoever works out a billable weight asks nobody: what goes wrong is in what was given. */
export const billingFacts = { surface: "config", operation: "billable weight", outcome: null } as const;

export function billingError(sentence: SentenceKey, values: Values = {}): DimensionerError {
  return new DimensionerError(sentence, billingFacts, values);
}
