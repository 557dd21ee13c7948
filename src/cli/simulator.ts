import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { startSimulator, type RequestRecord, type Simulator, type StartOptions } from "../simulator/index.ts";
import { isLoopback, modes, transactionIdKinds, type Webhook } from "../simulator/options.ts";
import type { ScannerOptions } from "../simulator/scanner-types.ts";
import {
  defineVerb,
  oneOf,
  printableJson,
  UsageError,
  wholeNumber,
  type Option,
  type Values,
} from "./command-line.ts";
import type { WebhookPost } from "../simulator/webhooks.ts";

/** Where the examples 01 and 20 listen in a Node-RED on this computer. */
export const defaultWebhooks = [
  "http://127.0.0.1:1880/dimensioner/transaction",
  "http://127.0.0.1:1880/dimensioner/operator-scans",
] as const;

/** What the examples expect. */
export const defaultSecret = { name: "x-webhook-secret", value: "simulator" } as const;

/** Long enough to start Node-RED after the simulator. */
export const webhookRetryMs = 10 * 60_000;

/** What can end a scan, by the names of the keys and characters. */
const scanSuffixes = { cr: "\r", lf: "\n", crlf: "\r\n", tab: "\t", etx: "\x03", none: "" } as const;
const suffixNames = Object.keys(scanSuffixes).filter(
  (one): one is keyof typeof scanSuffixes => one in scanSuffixes,
);

const options = {
  mode: {
    type: "string",
    choices: modes,
    group: "Devices",
    help: "operating mode of the newer device (default video-with-measurement)",
  },
  parcel: {
    type: "string",
    value: "<name>",
    help: 'the parcel on the table at the start, or "none" (default shoe-box)',
  },
  measure: { type: "string", value: "<seconds>", default: "0.5", help: "how long a measurement takes" },
  encoding: {
    type: "string",
    value: "<seconds>",
    default: "3",
    help: "how long a video is encoded before it can be fetched",
  },
  "video-bytes": {
    type: "string",
    value: "<size>",
    help: "size of each video, for example 512M or 4G; it remains playable",
  },
  token: {
    type: "string",
    value: "<token>",
    group: "Cloud",
    help: "the access token that the cloud accepts (default simulator)",
  },
  "media-delay": {
    type: "string",
    value: "<seconds>",
    default: "2",
    help: "how long images and videos take to reach the cloud",
  },
  "cloud-devices": {
    type: "string",
    value: "<number>",
    default: "0",
    help: "how many more devices are registered",
  },
  "transaction-ids": {
    type: "string",
    choices: transactionIdKinds,
    help: "the kind of transaction IDs (default integer-string)",
  },
  "simulation-mode": {
    type: "boolean",
    help: "answer remote measurements with made-up values, like the switch in the portal",
  },
  "scanner-suffix": { type: "string", choices: suffixNames, group: "Scanner", help: "what ends each scan" },
  "scanner-no-aim": {
    type: "boolean",
    help: "send no AIM identifier such as ]C1 in front of each code",
  },
  "scanner-repeats": {
    type: "string",
    value: "<number>",
    help: "send each scan so many times, like a scanner that still sees the label (default 1)",
  },
  "scanner-chunk": {
    type: "string",
    value: "<bytes>",
    help: "send so many bytes at a time, like a serial port (default: each scan at once)",
  },
  "scanner-connect": {
    type: "string",
    value: "<host:port>",
    help: "also connect to a Node-RED that listens there",
  },
  webhook: {
    type: "string",
    multiple: true,
    value: "<address>",
    group: "Webhook",
    help:
      "where the cloud posts a record of each measurement; can be given up to three times. By default, the addresses of " +
      `examples 01 and 20 in Node-RED on this computer: ${defaultWebhooks.join(" ")}`,
  },
  "webhook-secret": {
    type: "string",
    value: "<header>",
    help: 'the header that is sent with each record (default "x-webhook-secret: simulator")',
  },
  "no-webhook": { type: "boolean", help: "post nothing" },
  "control-port": {
    type: "string",
    value: "<port>",
    default: "8100",
    group: "Network",
    help: "page and control API",
  },
  "newer-port": { type: "string", value: "<port>", default: "8101", help: "newer device" },
  "earlier-port": { type: "string", value: "<port>", default: "8102", help: "earlier device" },
  "cloud-port": { type: "string", value: "<port>", default: "8103", help: "cloud" },
  "scanner-port": {
    type: "string",
    value: "<port>",
    default: "8104",
    help: "scanner; 0 takes any free port, here as for the others",
  },
  host: {
    type: "string",
    value: "<address>",
    default: "127.0.0.1",
    help: "the address to listen on; the default can be reached from this computer only",
  },
  expose: {
    type: "boolean",
    help: "required with any other address: everyone on the network can then use the simulator",
  },
  seed: {
    type: "string",
    value: "<number>",
    group: "Other",
    help: "repeat the IDs and values of an earlier run, which printed this number at its start",
  },
  keep: {
    type: "string",
    value: "<number>",
    help: "how many transactions and requests are remembered (default 10000)",
  },
  "keep-bytes": {
    type: "string",
    value: "<size>",
    help: "how much memory each of these two lists can take (default 64M)",
  },
  quiet: { type: "boolean", help: "do not print a line for each request" },
} as const satisfies Record<string, Option>;

type SimulatorValues = Values<typeof options>;

export const simulator = defineVerb({
  name: "simulator",
  usage: ["[options]"],
  description: `Simulates the equipment of a packing table, so that you can build and test flows without hardware: a newer and an earlier
dimensioner, the cloud that stores transactions and media, and a barcode scanner. It runs until you press Ctrl+C. Nothing is stored on disk.

While it runs, open http://127.0.0.1:8100 in a browser to place parcels, scan barcodes, watch the requests and cause faults. The same from a
shell: see docs/simulator.md, which describes the control API.`,
  options,
  examples: [
    "simulator",
    "simulator --parcel none --measure 2",
    "simulator --webhook http://127.0.0.1:1880/records",
  ],
  exitCodes: "0 it was stopped, 2 it could not start.",
  isService: true,
  async run(values, positionals, signal) {
    if (positionals.length > 0) {
      throw new UsageError(`“${positionals.join(" ")}” is no option.`);
    }
    // This process may run for weeks beside Node-RED: without the flag V8 lets garbage grow to several times of what is in use.
    setFlagsFromString("--optimize-for-size");
    const startOptions = readOptions(values);
    let running: Simulator;
    try {
      running = await startSimulator(startOptions);
    } catch (error) {
      throw new Error(sentence(error, startOptions), { cause: error });
    }
    const { host, webhooks } = running.options;
    if (!isLoopback(host)) {
      process.stderr.write(`Warning: everyone who can reach ${host} can use and control this simulator.\n`);
    }
    const isJson = values.json === true;
    (isJson ? sayStartAsJson : sayStart)(running);
    const report = webhookReporter(
      webhooks.map(({ url }) => url),
      (line) => say(isJson ? printableJson({ webhook: line }) : line),
    );
    running.onEvent((event) => {
      if (event.type === "webhook") {
        report(event.post);
      }
    });
    if (values.quiet !== true) {
      running.onSettled((request) => say(isJson ? printableJson({ request }) : sayRequest(request)));
    }
    if (!signal.aborted) {
      await once(signal, "abort");
    }
    await running.close();
    return 0;
  },
});

/** Never waits: the reader of the output may have ended, as in `dimensioner simulator | head`. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayStartAsJson({ newer, earlier, cloud, scanner, control, options: chosen }: Simulator): void {
  const origins = {
    newer: newer.origin,
    earlier: earlier.origin,
    cloud: cloud.origin,
    control: control.origin,
  };
  const { deviceCode, webhooks, seed } = chosen;
  const { host, port } = scanner;
  say(
    printableJson({
      started: { ...origins, scanner: { host, port }, token: cloud.token, deviceCode, webhooks, seed },
    }),
  );
}

function sayStart({ newer, earlier, cloud, scanner, control, options }: Simulator): void {
  say(`newer device    ${newer.origin}   (${newer.state.mode})`);
  say(`earlier device  ${earlier.origin}`);
  say(`cloud           ${cloud.origin}   token ${cloud.token}, registration code ${options.deviceCode}`);
  const to = options.scanner.connectTo;
  say(
    `scanner         ${scanner.host}:${scanner.port}   for a tcp in node that connects to it` +
      (to === null ? "" : `; it also connects to ${to.host}:${to.port}`),
  );
  say(`control         ${control.origin}   open it in a browser`);
  const [first, ...others] = options.webhooks;
  say(`webhook         ${first?.url ?? "none"}`);
  others.forEach(({ url }) => say(`                ${url}`));
  if (first?.header !== undefined) {
    say(`                with the header ${first.header.name}: ${first.header.value}`);
  }
  say(`seed            ${options.seed}   --seed ${options.seed} repeats the IDs and values of this run`);
  say("Press Ctrl+C to stop the simulator.");
}

function sayRequest({
  at,
  surface,
  method,
  path,
  query,
  outcome,
  statusCode,
  tookMs,
}: RequestRecord): string {
  const clock = new Date(at).toTimeString().slice(0, 8);
  const what = `${method} ${path}${query === "" ? "" : `?${query}`}`;
  const result = outcome === "answered" ? String(statusCode) : `${outcome} ${statusCode ?? ""}`.trim();
  return `${clock}  ${surface.padEnd(7)}  ${what}  ->  ${result}  ${tookMs ?? 0} ms`;
}

/** A sentence for an error at the start. */
function sentence(error: unknown, { ports }: StartOptions): string {
  const facts = error instanceof Error ? error : new Error(String(error));
  const code = "code" in facts ? facts.code : null;
  const port = "port" in facts ? facts.port : null;
  const name = Object.entries(ports ?? {}).find(([, wanted]) => wanted === port)?.[0] ?? "newer";
  if (code === "EADDRINUSE") {
    return `Port ${String(port)} is in use by another program. Choose another with --${name}-port, or 0 for any free one.`;
  }
  if (code === "EACCES") {
    return `This user is not allowed to open port ${String(port)}. Choose one above 1023.`;
  }
  if (code === "EADDRNOTAVAIL") {
    return "This computer has no such address. Choose another --host.";
  }
  return facts.message;
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

function webhooksOf(given: SimulatorValues): Webhook[] {
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
  return { host, port: port("scanner-connect", at) };
}

function scannerOf(given: SimulatorValues): Partial<ScannerOptions> {
  const suffix = optional(given["scanner-suffix"], (text) => oneOf("scanner-suffix", suffixNames, text));
  return {
    connectTo: connectTo(given["scanner-connect"]),
    aim: given["scanner-no-aim"] !== true,
    ...without({
      suffix: suffix === undefined ? undefined : scanSuffixes[suffix],
      repeats: optional(given["scanner-repeats"], (text) => wholeNumber("scanner-repeats", text, 1)),
      chunkBytes: optional(given["scanner-chunk"], (text) => wholeNumber("scanner-chunk", text, 1)),
    }),
  };
}

function without<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function without(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function optional<T>(given: string | undefined, read: (text: string) => T): T | undefined {
  return given === undefined ? undefined : read(given);
}

function number(name: string, text: string, most: number): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= most)) {
    throw new UsageError(`--${name} needs a number, not “${text}”.`);
  }
  return value;
}

function port(name: string, text: string): number {
  const value = number(name, text, Number.MAX_SAFE_INTEGER);
  if (!Number.isInteger(value) || value > 65_535) {
    throw new UsageError(`--${name} needs a port from 0 to 65535, not “${text}”.`);
  }
  return value;
}

function size(name: string, text: string): number {
  const match = /^(\d+)([KMG]?)$/i.exec(text);
  if (match === null) {
    throw new UsageError(`--${name} needs a size such as 800000, 512M or 4G, not “${text}”.`);
  }
  return Number(match[1]) * 1024 ** ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
}

/** What the options of the command line mean. Throws a UsageError. */
export function readOptions(given: SimulatorValues): StartOptions {
  const { host } = given;
  if (!isLoopback(host) && given.expose !== true) {
    throw new UsageError(`Others on the network can reach ${host}. If that is what you want, add --expose.`);
  }
  const keep = optional(given.keep, (text) => wholeNumber("keep", text, 1));
  const seconds = (name: "measure" | "encoding" | "media-delay"): number =>
    number(name, given[name], 86_400) * 1000;
  return {
    host,
    expose: given.expose === true,
    ports: {
      control: port("control-port", given["control-port"]),
      newer: port("newer-port", given["newer-port"]),
      earlier: port("earlier-port", given["earlier-port"]),
      cloud: port("cloud-port", given["cloud-port"]),
      scanner: port("scanner-port", given["scanner-port"]),
    },
    scanner: scannerOf(given),
    measureMs: seconds("measure"),
    encodingMs: seconds("encoding"),
    mediaDelayMs: seconds("media-delay"),
    triggerTimeoutMs: 10_000,
    cloudDevices: Math.floor(number("cloud-devices", given["cloud-devices"], 100_000)),
    simulationMode: given["simulation-mode"] === true,
    webhooks: webhooksOf(given),
    ...(given.parcel === undefined ? {} : { parcel: given.parcel === "none" ? null : given.parcel }),
    ...without({
      mode: optional(given.mode, (text) => oneOf("mode", modes, text)),
      token: given.token,
      transactionIds: optional(given["transaction-ids"], (text) =>
        oneOf("transaction-ids", transactionIdKinds, text),
      ),
      videoBytes: optional(given["video-bytes"], (text) => size("video-bytes", text)),
      seed: optional(given.seed, (text) => wholeNumber("seed", text)),
      keepTransactions: keep,
      keepRequests: keep,
      keepBytes: optional(given["keep-bytes"], (text) => size("keep-bytes", text)),
    }),
  };
}

interface Server {
  readonly urls: Set<string>;
  /** The latest answer of each address; null for no answer. */
  readonly answers: Map<string, number | null>;
  /** The sentence that was printed last. */
  said: string | null;
}

function isTaken(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

function problemOf(origin: string, answers: readonly (number | null)[]): string {
  const refused = answers.filter((one) => one !== null);
  if (refused.length === 0) {
    return `Webhook: ${origin} does not respond, so no flow receives the records of measurements. Start Node-RED there, or use --no-webhook. Each record is retried for ten minutes.`;
  }
  if (refused.every((one) => one === 404)) {
    return `Webhook: no flow at ${origin} accepts the records (HTTP status 404). Deploy example 01 or 20 there, or use --no-webhook.`;
  }
  return `Webhook: ${origin} responds with HTTP status ${refused.join(" and ")}. If it is 401, compare the secret in the node with --webhook-secret.`;
}

/**
 * Prints one line when a server does not accept the webhook's records, and another one when that has changed. A server
 * with several addresses accepts them if one of its addresses does: hardly anybody deploys both examples.
 */
export function webhookReporter(
  urls: readonly string[],
  print: (line: string) => void,
): (post: WebhookPost) => void {
  const servers = new Map<string, Server>();
  for (const url of urls) {
    const { origin } = new URL(url);
    const server = servers.get(origin) ?? { urls: new Set(), answers: new Map(), said: null };
    server.urls.add(url);
    servers.set(origin, server);
  }

  return ({ url, statusCode }) => {
    const { origin } = new URL(url);
    const server = servers.get(origin);
    if (server === undefined) {
      return;
    }
    const { answers } = server;
    // A server that has just started, or ended, has to be asked again at all its addresses.
    const hasChanged = [...answers.values()].some((before) => (before === null) !== (statusCode === null));
    if (hasChanged) {
      answers.clear();
    }
    answers.set(url, statusCode);
    const all = [...answers.values()];
    if (all.some(isTaken)) {
      if (server.said !== null) {
        print(`Webhook: ${origin} now accepts the records.`);
      }
      server.said = null;
    } else if (answers.size === server.urls.size) {
      const problem = problemOf(origin, all);
      if (problem !== server.said) {
        print(problem);
      }
      server.said = problem;
    }
  };
}
