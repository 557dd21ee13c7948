import { parseArgs } from "node:util";

import { isLoopback, modes, transactionIdKinds, type StartOptions } from "./options.ts";

export const helpText = `Usage: dimensioner-simulator [options]

Stands in for the machines at a packing table, so that a flow can be built and tried without them:
a newer and an earlier measuring device, and the cloud that keeps transactions, pictures and videos.
Each has an address of its own. It stays up until you press Ctrl+C, and keeps nothing.

What lies on the table
  --mode <mode>           ${modes.join(", ")}
                          (default video-with-measurement)
  --parcel <name>         parcel on the table at the start, "none" for an empty table (default shoe-box)
  --video-bytes <size>    make every video this large, for example 512M or 4G; it stays playable
  --measure <seconds>     how long a measurement takes (default 0.5)
  --encoding <seconds>    how long a video is encoded before it can be fetched (default 3)
  --media-delay <seconds> how long pictures and videos take to reach the cloud (default 2)

The cloud
  --token <token>         the token that it accepts (default simulator)
  --cloud-devices <n>     further registered devices (default 0)
  --transaction-ids <how> ${transactionIdKinds.join(", ")} (default integer-string)
  --webhook <address>     post each measurement to this address; may be given up to three times
  --webhook-secret <header: value>   a header that goes with every such post
  --simulation-mode       answer remote measurements with made-up values, as the portal's switch does

Where it listens
  --control-port <port>   control: faults, parcels, scans (default 8100)
  --newer-port <port>     newer device (default 8101)
  --earlier-port <port>   earlier device (default 8102)
  --cloud-port <port>     cloud (default 8103); 0 takes any free port
  --host <address>        default 127.0.0.1, which only this computer can reach
  --expose                needed for any other address: everybody in the network can then use and control it

  --seed <number>         same number, same ids and values (default 1)
  --quiet                 don't print a line for each request
  --help                  this text
  --version               the version

While it runs, open http://127.0.0.1:8100 in a browser: put parcels on the table, scan, watch, make it fail.
The same from a shell:
  curl http://127.0.0.1:8100/state
  curl -H "content-type: application/json" -d '{"barcode":"VIDEO_START"}' http://127.0.0.1:8100/scan
docs/simulator.md lists everything the control port can do.
`;

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
  "simulation-mode": flag,
  "control-port": text,
  "newer-port": text,
  "earlier-port": text,
  "cloud-port": text,
  host: text,
  expose: flag,
  seed: text,
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

function size(given: string | undefined): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const match = /^(\d+)([KMG]?)$/i.exec(given);
  if (match === null) {
    throw new UsageError(`--video-bytes needs a size like 800000, 512M or 4G, not "${given}".`);
  }
  return Number(match[1]) * 1024 ** ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
}

function secret(given: string | undefined): { name: string; value: string } | undefined {
  if (given === undefined) {
    return undefined;
  }
  const match = /^([^:]+):\s*(.+)$/.exec(given);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new UsageError('--webhook-secret looks like "x-webhook-secret: my secret".');
  }
  return { name: match[1], value: match[2] };
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
  const webhooks = given.webhook ?? [];
  if (webhooks.length > 3) {
    throw new UsageError("The cloud posts to at most three addresses.");
  }
  const header = secret(given["webhook-secret"]);
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
    seed: number("seed", given.seed, 1),
    measureMs: seconds("measure", 0.5),
    encodingMs: seconds("encoding", 3),
    mediaDelayMs: seconds("media-delay", 2),
    triggerTimeoutMs: 10_000,
    cloudDevices: Math.floor(number("cloud-devices", given["cloud-devices"], 0, 100_000)),
    simulationMode: given["simulation-mode"] === true,
    webhooks: webhooks.map((url) => ({ url, ...without({ header }) })),
    ...(given.parcel === undefined ? {} : { parcel: given.parcel === "none" ? null : given.parcel }),
    ...without({
      mode: oneOf("mode", given.mode, modes),
      token: given.token,
      transactionIds: oneOf("transaction-ids", given["transaction-ids"], transactionIdKinds),
      videoBytes: size(given["video-bytes"]),
    }),
  };
  return { do: "run", quiet: given.quiet === true, options };
}
