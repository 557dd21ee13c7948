import {
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  checkOptions,
  milliseconds,
  oneOf,
} from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field, phrase } from "../errors/interpolation.ts";
import { CommandQueues } from "../http/command-queue.ts";
import { defaultQueueRules, type QueueRules, type TransportOptions } from "../http/transport.ts";
import { readAddress } from "../rules/addresses.ts";
import { generations, type Generation } from "./generations.ts";

export interface DeviceClientOptions extends Partial<QueueRules> {
  /** host, host:port, [v6]:port or an http(s) origin. */
  readonly address: string;
  readonly generation?: Generation;
  /** Deadline of a call, and for downloads the longest time without a byte; 30 s. */
  readonly timeoutMs?: number;
  /** To be shared by all clients that may command the same device. */
  readonly queues?: CommandQueues;
}

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

/** Fills in the defaults. Throws ERR_CONFIG if the address or any other option is not valid. */
export function readOptions(options: DeviceClientOptions): {
  readonly generation: Generation;
  readonly transport: TransportOptions;
} {
  checkOptions("device", options, clientOptions);
  const { generation = "newer", timeoutMs = 30_000, queues = new CommandQueues() } = options;
  const { queueLimit = defaultQueueRules.queueLimit, maxWaitMs = defaultQueueRules.maxWaitMs } = options;
  const address = readAddress(options.address);
  if ("problem" in address) {
    const facts = { surface: "config", operation: "settings" } as const;
    const what = phrase("device");
    throw new DimensionerError("configInvalid", facts, { what, field: field("address"), ...address });
  }
  const peer = { surface: generations[generation].surface, ...address };
  return { generation, transport: { peer, queues, timeoutMs, queueLimit, maxWaitMs } };
}
