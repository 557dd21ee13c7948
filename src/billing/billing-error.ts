import { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";

/** Calculating a billable weight sends no request: what goes wrong is in the given values. */
export const billingFacts = { surface: "config", operation: "billable weight", outcome: null } as const;

export function billingError(sentence: SentenceKey, values: Values = {}): DimensionerError {
  return new DimensionerError(sentence, billingFacts, values);
}
