import {
  aProxyUrl,
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  checkOptions,
  milliseconds,
  trueOrFalse,
} from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field, phrase } from "../errors/interpolation.ts";
import { CommandQueues } from "../http/command-queue.ts";
import type { TlsOptions } from "../http/connections.ts";
import { defaultQueueRules, type QueueRules, type TransportOptions } from "../http/transport.ts";
import { readBaseUrl } from "../rules/addresses.ts";
import { readToken } from "./token.ts";

export interface CloudClientOptions extends Partial<QueueRules> {
  /** https; http only on loopback or with `allowHttp`. */
  readonly baseUrl: string;
  /** Sent to baseUrl's origin and nowhere else. */
  readonly token: string;
  readonly allowHttp?: boolean;
  /** Deadline of a call, and for downloads the longest time without a byte; 60 s. */
  readonly timeoutMs?: number;
  readonly tls?: TlsOptions | undefined;
  /** May contain a user name and a password. The environment's proxy variables are not used. */
  readonly proxyUrl?: string | undefined;
  /** Shared by all clients that may command the same devices. */
  readonly queues?: CommandQueues;
}

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

/**
 * Fills in the defaults. Throws ERR_CONFIG if the base URL, the token or any other option is not valid. The token is
 * checked separately, because it must never be shown.
 */
export function readOptions(options: CloudClientOptions): {
  readonly basePath: string;
  readonly transport: TransportOptions;
} {
  checkOptions("cloud", options, clientOptions);
  const { timeoutMs = 60_000, queues = new CommandQueues(), tls, proxyUrl } = options;
  const { queueLimit = defaultQueueRules.queueLimit, maxWaitMs = defaultQueueRules.maxWaitMs } = options;
  const facts = { surface: "config", operation: "settings" } as const;
  const address = readBaseUrl(options.baseUrl, options.allowHttp ?? false);
  if ("problem" in address) {
    const what = phrase("cloud");
    throw new DimensionerError("configInvalid", facts, { what, field: field("baseUrl"), ...address });
  }
  const token = readToken(options.token);
  if (token === undefined) {
    throw new DimensionerError("configToken", facts);
  }
  const { origin, host, basePath } = address;
  const peer = { surface: "cloud", origin, host } as const;
  const headers = { authorization: `Bearer ${token}` };
  return { basePath, transport: { peer, timeoutMs, queues, queueLimit, maxWaitMs, headers, tls, proxyUrl } };
}
