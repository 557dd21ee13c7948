import { aText, callOptions, checkArguments, oneOf, references } from "../errors/check.ts";
import type { Peer } from "../http/call.ts";

const callArguments = {
  references,
  kind: oneOf(["annotated", "color", "depth"]),
  imageIdentifier: aText,
  method: oneOf(["download", "stream"]),
  message: aText,
  options: callOptions,
};

/** Throws ERR_INPUT if an argument of a call is not valid. */
export function checkCall(
  { surface }: Peer,
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface, operation, outcome }, given, callArguments);
}
