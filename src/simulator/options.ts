import { randomInt } from "node:crypto";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { checkSettings, defaultScanner, type ScannerOptions } from "./scanner-types.ts";

/** The operating modes of the newer device. Legal for Trade is a measuring mode without video. */
export const modes = ["measurement-only", "video-with-measurement", "video-only", "legal-for-trade"] as const;
export type Mode = (typeof modes)[number];

/** Whether the device records video in this mode. */
export function isVideoMode(mode: Mode): boolean {
  return mode === "video-only" || mode === "video-with-measurement";
}

/** How the cloud writes transaction ids: `"905865"`, a GUID, or the JSON number 905865. */
export const transactionIdKinds = ["integer-string", "guid", "integer"] as const;
export type TransactionIds = (typeof transactionIdKinds)[number];

export const dimsUnits = ["cm", "mm", "in"] as const;
export type DimsUnit = (typeof dimsUnits)[number];

/** How the records that the cloud posts differ from the device's response. All of it occurs in real clouds. */
export interface RecordChanges {
  /** How many milliseconds the cloud's clock is ahead of the device's; negative: behind. */
  readonly clockAheadMs: number;
  /** False: the records have no custom references. */
  readonly customReferences: boolean;
  /** The unit of the dimensions; null: that of the device. */
  readonly dimsUnit: DimsUnit | null;
}

/** The ports to listen on; 0 takes any free one. */
interface Ports {
  readonly newer: number;
  readonly earlier: number;
  readonly cloud: number;
  readonly scanner: number;
  readonly control: number;
}

/** An address that the cloud posts transaction records to. */
export interface Webhook {
  readonly url: string;
  /** v1: `id` is an integer. v2: `id` is a GUID and `legacyId` the integer. Default v2. */
  readonly version?: "v1" | "v2";
  /** Sent with every post, so that the receiver can tell the cloud from others. */
  readonly header?: { readonly name: string; readonly value: string };
  /** `local`: only measurements that were triggered at the device or through its local API. Default any. */
  readonly fires?: "any" | "local";
  /** How often each record is posted. Default 1; more than 1 makes duplicates. */
  readonly copies?: number;
  /** True: records leave in pairs, the later one first. Default false. */
  readonly outOfOrder?: boolean;
  /** Milliseconds between the measurement and the post. Default 0. */
  readonly delayMs?: number;
  /**
   * For how many milliseconds a record that was not accepted (no response, 408, 429, 5xx) is posted again, with growing
   * pauses. Default 0: each record is posted once.
   */
  readonly retryMs?: number;
}

/** Everything that can be set at the start. All durations are in milliseconds; 0 means at once. */
export interface SimulatorOptions {
  /** Address to listen on. One that is not loopback needs `expose` as well. */
  readonly host: string;
  readonly expose: boolean;
  readonly ports: Ports;
  /**
   * A whole number: ids, elapsed times and simulated values repeat with the same seed and the same order of requests.
   * Without a seed, each start has another one and so other ids.
   */
  readonly seed: number;
  readonly mode: Mode;
  /** Name of the catalogue's parcel that lies on the table at the start; null: an empty table. */
  readonly parcel: string | null;

  /** The scanner at the packing table, which sends over TCP. The one at the device needs no options. */
  readonly scanner: ScannerOptions;

  /** How long a measurement takes. */
  readonly measureMs: number;
  /** How long a recording is encoded after its end. */
  readonly encodingMs: number;
  /** How long after a measurement, or after the encoding of a video, media reach the cloud. */
  readonly mediaDelayMs: number;
  /** How long the cloud waits for a device that is switched off before it responds with 504. */
  readonly triggerTimeoutMs: number;

  readonly dimsUnit: DimsUnit;
  readonly weightUnit: "lb" | "kg";
  /** The scale's reading varies by up to this much in both directions. */
  readonly weightJitterKg: number;
  /**
   * Makes every video this long in bytes; the additional bytes are generated while it is sent. At least the length of
   * the real video.
   */
  readonly videoBytes: number | undefined;

  /** The newer device's Enable Local API switch; if it is off, every path responds with 404. */
  readonly localApi: boolean;
  /** Responses of the devices are sent in chunks, without Content-Length. */
  readonly chunkedBodies: boolean;
  /** False: the header api-supported-versions is left out. */
  readonly versionHeader: boolean;
  /** True: /video/stream responds to a plain GET with 206 and the whole video. */
  readonly streamAnswers206: boolean;
  /** The earlier device's response has depthImage, colorImage and annotatedColorImage, all null. */
  readonly earlierImageFields: boolean;

  // Behaviour that is not documented. Each default is a guess; set it to what your device does.
  /** Measure in Video Only: a failed result with status 200, or this status code. */
  readonly measureInVideoOnly: "failed-result" | number;
  /**
   * Start while a recording runs: start again with the new references, continue with the old ones, or respond with this
   * status code.
   */
  readonly startWhileRecording: "restart" | "continue" | number;
  /** The status of stop when nothing is being recorded. */
  readonly stopWhileIdle: number;
  /** The status of cancel when nothing is being recorded; with 200 a saved video is deleted. */
  readonly cancelWhileIdle: number;
  /** Status of a local stop in Video with Measurement, where only a measurement ends a recording. */
  readonly stopInVideoWithMeasurement: number;
  /** Status of a remote start, stop or cancel that the device's mode doesn't allow. */
  readonly remoteVideoInWrongMode: number;
  /** The media list of a transaction that the cloud doesn't know. */
  readonly unknownTransaction: "not-found" | "empty-list";
  /** Code and text of a measurement of an empty table. */
  readonly emptyTable: { readonly errorCode: number; readonly errorMessage: string };

  /** The bearer token that the cloud accepts. */
  readonly token: string;
  /** Registration code of the simulated newer device: 8 letters or digits. */
  readonly deviceCode: string;
  /** How many further devices are registered with the cloud; each responds to triggers. */
  readonly cloudDevices: number;
  readonly transactionIds: TransactionIds;
  readonly terminalIds: "number" | "string";
  readonly webhooks: readonly Webhook[];
  /** How the webhooks' records differ from the device's response. */
  readonly records: RecordChanges;
  /** The cloud responds to measure triggers at once with invented values, without a request to a device. */
  readonly simulationMode: boolean;
  /** Key and certificate in PEM; given, the cloud speaks https. */
  readonly tls: { readonly key: string | Buffer; readonly cert: string | Buffer } | undefined;

  // Limits of the lists; the oldest entries are forgotten first. A request for a forgotten transaction or its media is
  // answered with 404.
  /** How many transactions the cloud stores. */
  readonly keepTransactions: number;
  /** How many requests are listed, and how many posts of the webhook. */
  readonly keepRequests: number;
  /** How many measurements' images the newer device stores. */
  readonly keepImages: number;
  /** About how many bytes of memory each of these lists may take, whatever the number of its entries. */
  readonly keepBytes: number;
}

/** The same with all options optional. */
export type StartOptions = Partial<Omit<SimulatorOptions, "ports" | "records" | "scanner">> & {
  readonly ports?: Partial<Ports>;
  readonly records?: Partial<RecordChanges>;
  readonly scanner?: Partial<ScannerOptions>;
};

const defaultOptions: Omit<SimulatorOptions, "seed" | "scanner"> = {
  host: "127.0.0.1",
  expose: false,
  ports: { newer: 0, earlier: 0, cloud: 0, scanner: 0, control: 0 },
  mode: "video-with-measurement",
  parcel: "shoe-box",
  measureMs: 0,
  encodingMs: 0,
  mediaDelayMs: 0,
  triggerTimeoutMs: 0,
  dimsUnit: "cm",
  weightUnit: "kg",
  weightJitterKg: 0,
  videoBytes: undefined,
  localApi: true,
  chunkedBodies: false,
  versionHeader: true,
  streamAnswers206: false,
  earlierImageFields: false,
  measureInVideoOnly: "failed-result",
  startWhileRecording: "restart",
  stopWhileIdle: 200,
  cancelWhileIdle: 200,
  stopInVideoWithMeasurement: 401,
  remoteVideoInWrongMode: 400,
  unknownTransaction: "not-found",
  emptyTable: { errorCode: 1, errorMessage: "No object on the table" },
  token: "simulator",
  deviceCode: "ABCD2345",
  cloudDevices: 0,
  transactionIds: "integer-string",
  terminalIds: "number",
  webhooks: [],
  records: { clockAheadMs: 0, customReferences: true, dimsUnit: null },
  simulationMode: false,
  tls: undefined,
  keepTransactions: 10_000,
  keepRequests: 10_000,
  keepImages: 1000,
  keepBytes: 64 * 1024 * 1024,
};

/** Short enough to be typed in. */
const largestRandomSeed = 2 ** 32;

const loopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/i;

/** Whether only this computer can reach the address. */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** Fills in the defaults, and throws if an option is not valid. */
export function completeOptions(given: StartOptions): SimulatorOptions {
  const { seed = randomInt(1, largestRandomSeed) } = given;
  const ports = { ...defaultOptions.ports, ...given.ports };
  const records = { ...defaultOptions.records, ...given.records };
  const scanner = { ...defaultScanner, ...checkSettings(given.scanner ?? {}) };
  const options = { ...defaultOptions, ...given, seed, ports, records, scanner };
  if (!isLoopback(options.host) && !options.expose) {
    throw new Error(`The simulator listens on ${options.host} only if the expose option is set.`);
  }
  if (!/^[a-z0-9]{8}$/i.test(options.deviceCode)) {
    throw new Error("The registration code (deviceCode) must be 8 letters or digits.");
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new Error(`The seed must be a whole number, not ${seed}.`);
  }
  for (const name of ["keepTransactions", "keepRequests", "keepImages", "keepBytes"] as const) {
    if (!(options[name] >= 1)) {
      throw new Error(`${name} must be 1 or more, not ${options[name]}.`);
    }
  }
  for (const { url, header } of options.webhooks) {
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw new Error(`A webhook needs an http(s) address: ${url}`);
    }
    if (header !== undefined) {
      validateHeaderName(header.name);
      validateHeaderValue(header.name, header.value);
    }
  }
  return options;
}
