import { parseArgs } from "node:util";

import { number, oneOf, port, size, UsageError, wholeNumber } from "./cli-values.ts";
import { defaultSecret, defaultWebhooks, webhookRetryMs } from "./cli-webhooks.ts";
import type { ScannerOptions } from "./scanner-types.ts";
import { isLoopback, modes, transactionIdKinds, type StartOptions, type Webhook } from "./options.ts";

export type Command =
  | { readonly do: "help" }
  | { readonly do: "version" }
  | { readonly do: "run"; readonly quiet: boolean; readonly options: StartOptions };

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const optionConfig = {
  mode: text,
  parcel: text,
  "video-bytes": text,
  measure: text,
  encoding: text,
  "media-delay": text,
  token: text,
  "cloud-devices": text,
  "transaction-ids": text,
  webhook: { type: "string", multiple: true },
  "webhook-secret": text,
  "no-webhook": flag,
  "simulation-mode": flag,
  "control-port": text,
  "newer-port": text,
  "earlier-port": text,
  "cloud-port": text,
  "scanner-port": text,
  "scanner-connect": text,
  "scanner-suffix": text,
  "scanner-no-aim": flag,
  "scanner-repeats": text,
  "scanner-chunk": text,
  host: text,
  expose: flag,
  seed: text,
  keep: text,
  "keep-bytes": text,
  quiet: flag,
  help: flag,
  version: flag,
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: optionConfig, strict: true, allowPositionals: false })
      .values;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.replace(/\.?$/, "."));
  }
}

function secret(given: string | undefined): { name: string; value: string } {
  if (given === undefined) {
    return defaultSecret;
  }
  const match = /^([^:]+):\s*(.+)$/.exec(given);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new UsageError('--webhook-secret needs a header, such as "x-webhook-secret: my secret".');
  }
  return { name: match[1], value: match[2] };
}

function webhooksOf(given: ReturnType<typeof parse>): Webhook[] {
  const addresses = given.webhook ?? defaultWebhooks;
  if (given["no-webhook"] === true) {
    if (given.webhook !== undefined) {
      throw new UsageError("--webhook and --no-webhook cannot be used together.");
    }
    return [];
  }
  if (addresses.length > 3) {
    throw new UsageError("The cloud posts to at most three addresses.");
  }
  const header = secret(given["webhook-secret"]);
  return addresses.map((url) => ({ url, header, retryMs: webhookRetryMs }));
}

/** What can end a scan, by the names of the keys and characters. */
const scanSuffixes = { cr: "\r", lf: "\n", crlf: "\r\n", tab: "\t", etx: "\x03", none: "" } as const;
export const suffixNames = Object.keys(scanSuffixes).filter(
  (one): one is keyof typeof scanSuffixes => one in scanSuffixes,
);

function connectTo(given: string | undefined): ScannerOptions["connectTo"] {
  if (given === undefined) {
    return null;
  }
  const [, bracketed, host = bracketed, at] = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d+)$/.exec(given) ?? [];
  if (host === undefined || at === undefined) {
    throw new UsageError(
      `--scanner-connect needs a host and a port, such as "127.0.0.1:4001", not "${given}".`,
    );
  }
  return { host, port: port("scanner-connect", at, 0) };
}

function scannerOf(given: ReturnType<typeof parse>): Partial<ScannerOptions> {
  const suffix = oneOf("scanner-suffix", given["scanner-suffix"], suffixNames);
  return {
    connectTo: connectTo(given["scanner-connect"]),
    aim: given["scanner-no-aim"] !== true,
    ...without({
      suffix: suffix === undefined ? undefined : scanSuffixes[suffix],
      repeats: wholeNumber("scanner-repeats", given["scanner-repeats"], 1),
      chunkBytes: wholeNumber("scanner-chunk", given["scanner-chunk"], 1),
    }),
  };
}

function without<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function without(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Understands the command line, or throws a UsageError. */
export function readArguments(args: readonly string[]): Command {
  const given = parse(args);
  if (given.help === true) {
    return { do: "help" };
  }
  if (given.version === true) {
    return { do: "version" };
  }
  const host = given.host ?? "127.0.0.1";
  if (!isLoopback(host) && given.expose !== true) {
    throw new UsageError(`Others on the network can reach ${host}. If that is what you want, add --expose.`);
  }
  const keep = wholeNumber("keep", given.keep, 1);
  const seconds = (name: "measure" | "encoding" | "media-delay", fallback: number): number =>
    number(name, given[name], fallback, 86_400) * 1000;
  const options = {
    host,
    expose: given.expose === true,
    ports: {
      control: port("control-port", given["control-port"], 8100),
      newer: port("newer-port", given["newer-port"], 8101),
      earlier: port("earlier-port", given["earlier-port"], 8102),
      cloud: port("cloud-port", given["cloud-port"], 8103),
      scanner: port("scanner-port", given["scanner-port"], 8104),
    },
    scanner: scannerOf(given),
    measureMs: seconds("measure", 0.5),
    encodingMs: seconds("encoding", 3),
    mediaDelayMs: seconds("media-delay", 2),
    triggerTimeoutMs: 10_000,
    cloudDevices: Math.floor(number("cloud-devices", given["cloud-devices"], 0, 100_000)),
    simulationMode: given["simulation-mode"] === true,
    webhooks: webhooksOf(given),
    ...(given.parcel === undefined ? {} : { parcel: given.parcel === "none" ? null : given.parcel }),
    ...without({
      mode: oneOf("mode", given.mode, modes),
      token: given.token,
      transactionIds: oneOf("transaction-ids", given["transaction-ids"], transactionIdKinds),
      videoBytes: size("video-bytes", given["video-bytes"]),
      seed: wholeNumber("seed", given.seed),
      keepTransactions: keep,
      keepRequests: keep,
      keepBytes: size("keep-bytes", given["keep-bytes"]),
    }),
  };
  return { do: "run", quiet: given.quiet === true, options };
}
