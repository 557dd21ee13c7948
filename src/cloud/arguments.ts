import { aFunction, aText, anObject, callOptions, checkArguments, references } from "../errors/check.ts";

const callArguments = {
  transactionId: aText,
  contentId: aText,
  id: aText,
  deviceReference: aText,
  transactionReference: aText,
  references,
  options: callOptions,
  /** Arguments of the methods that list or read devices and terminals, by method. */
  client: anObject({ devices: aFunction, terminals: aFunction }, ["devices", "terminals"]),
};

/** Throws ERR_INPUT if an argument of a call is not valid. */
export function checkCall(
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface: "cloud", operation, outcome }, given, callArguments);
}
