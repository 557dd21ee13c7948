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
  /** Of a list of all devices: a client, by what is asked of it. */
  client: anObject({ devices: aFunction, terminals: aFunction }, ["devices", "terminals"]),
};

/** Throws ERR_CONFIG where an option of the client cannot be used. The token is read apart: it is never shown. */
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
