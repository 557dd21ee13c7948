import {
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  callOptions,
  checkArguments,
  checkOptions,
  milliseconds,
  oneOf,
  references,
} from "../errors/check.ts";
import type { Peer } from "../http/call.ts";
import { CommandQueues } from "../http/command-queue.ts";
import { generations } from "./generations.ts";

const clientOptions = anObject(
  {
    address: aText,
    generation: oneOf(Object.keys(generations)),
    timeoutMs: milliseconds(1),
    queueLimit: aWholeNumber,
    maxWaitMs: milliseconds(0),
    queues: anInstance(CommandQueues),
  },
  ["address"],
);

const callArguments = {
  references,
  kind: oneOf(["annotated", "color", "depth"]),
  imageIdentifier: aText,
  method: oneOf(["download", "stream"]),
  message: aText,
  options: callOptions,
};

/** Throws ERR_CONFIG where an option of the client cannot be used. */
export function checkClientOptions(options: unknown): void {
  checkOptions("device", options, clientOptions);
}

/** Throws ERR_INPUT where an argument of a call cannot be used. */
export function checkCall(
  { surface }: Peer,
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface, operation, outcome }, given, callArguments);
}
