import { parseArgs } from "node:util";

import { defaultSecret, defaultWebhooks, webhookRetryMs } from "./cli-webhooks.ts";
import { isLoopback, modes, transactionIdKinds, type StartOptions, type Webhook } from "./options.ts";

/** A mistake on the command line, in a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

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

function number(
  name: string,
  given: string | undefined,
  fallback: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (given === undefined) {
    return fallback;
  }
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (!(value <= most)) {
    throw new UsageError(`--${name} needs a number, not "${given}".`);
  }
  return value;
}

function wholeNumber(name: string, given: string | undefined, least = 0): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (!(Number.isSafeInteger(value) && value >= least)) {
    throw new UsageError(`--${name} needs a whole number from ${least} on, not "${given}".`);
  }
  return value;
}

function port(name: string, given: string | undefined, fallback: number): number {
  const value = number(name, given, fallback);
  if (!Number.isInteger(value) || value > 65_535) {
    throw new UsageError(`--${name} needs a port from 0 to 65535, not "${given}".`);
  }
  return value;
}

function oneOf<T extends string>(
  name: string,
  given: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (given === undefined) {
    return undefined;
  }
  const found = allowed.find((one) => one === given);
  if (found === undefined) {
    throw new UsageError(`--${name} is one of ${allowed.join(", ")}, not "${given}".`);
  }
  return found;
}

function size(name: string, given: string | undefined): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const match = /^(\d+)([KMG]?)$/i.exec(given);
  if (match === null) {
    throw new UsageError(`--${name} needs a size like 800000, 512M or 4G, not "${given}".`);
  }
  return Number(match[1]) * 1024 ** ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
}

function secret(given: string | undefined): { name: string; value: string } {
  if (given === undefined) {
    return defaultSecret;
  }
  const match = /^([^:]+):\s*(.+)$/.exec(given);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new UsageError('--webhook-secret looks like "x-webhook-secret: my secret".');
  }
  return { name: match[1], value: match[2] };
}

function webhooksOf(given: ReturnType<typeof parse>): Webhook[] {
  const addresses = given.webhook ?? defaultWebhooks;
  if (given["no-webhook"] === true) {
    if (given.webhook !== undefined) {
      throw new UsageError("--webhook and --no-webhook exclude each other.");
    }
    return [];
  }
  if (addresses.length > 3) {
    throw new UsageError("The cloud posts to at most three addresses.");
  }
  const header = secret(given["webhook-secret"]);
  return addresses.map((url) => ({ url, header, retryMs: webhookRetryMs }));
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
    throw new UsageError(
      `${host} can be reached by others in the network. If that is what you want, add --expose.`,
    );
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
    },
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
