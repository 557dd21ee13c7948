import {
  aFunction,
  aProxyUrl,
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  callOptions,
  checkArguments,
  checkOptions,
  milliseconds,
  references,
  trueOrFalse,
} from "../errors/check.ts";
import { CommandQueues } from "../http/command-queue.ts";

const clientOptions = anObject(
  {
    baseUrl: aText,
    allowHttp: trueOrFalse,
    timeoutMs: milliseconds(1),
    queueLimit: aWholeNumber,
    maxWaitMs: milliseconds(0),
    tls: anObject({}),
    proxyUrl: aProxyUrl,
    queues: anInstance(CommandQueues),
  },
  ["baseUrl"],
);

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

/**
 * Throws ERR_CONFIG if an option of the client is not valid. The token is checked separately, because it must never be
 * shown.
 */
export function checkClientOptions(options: unknown): void {
  checkOptions("cloud", options, clientOptions);
}

/** Throws ERR_INPUT where an argument of a call cannot be used. */
export function checkCall(
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface: "cloud", operation, outcome }, given, callArguments);
}
