import { randomInt } from "node:crypto";
import { validateHeaderName } from "node:http";

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

/** What the records that the cloud posts have otherwise than the device's answer. All of it can be at a real one. */
export interface RecordChanges {
  /** How many milliseconds the cloud's clock is ahead of the device's; negative: behind. */
  readonly clockAheadMs: number;
  /** False: custom references are lost on the way. */
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
   * How many milliseconds long a record that was not taken (no answer, 408, 429, 5xx) is posted again, with growing
   * pauses. Default 0: each record is posted once.
   */
  readonly retryMs?: number;
}

/** Everything that can be set at the start. All durations are milliseconds; 0 means at once. */
export interface SimulatorOptions {
  /** Address to listen on. One that is not loopback needs `expose` as well. */
  readonly host: string;
  readonly expose: boolean;
  readonly ports: Ports;
  /**
   * Ids, elapsed times and simulated values repeat with the same seed and the same order of requests: a whole number.
   * Without one each start has another, so that no start gives the ids of an earlier one.
   */
  readonly seed: number;
  readonly mode: Mode;
  /** Name of the catalogue's parcel that lies on the table at the start; null: an empty table. */
  readonly parcel: string | null;

  /** The scanner at the packing table, which sends over TCP. The one at the device needs no options. */
  readonly scanner: ScannerOptions;

  /** How long the machine takes to measure. */
  readonly measureMs: number;
  /** How long a recording is encoded after its end. */
  readonly encodingMs: number;
  /** How long after the act (for a video: after its encoding) media reach the cloud. */
  readonly mediaDelayMs: number;
  /** How long the cloud waits for a device that is switched off before it answers 504. */
  readonly triggerTimeoutMs: number;

  readonly dimsUnit: DimsUnit;
  readonly weightUnit: "lb" | "kg";
  /** The scale's reading wanders by up to this much to both sides. */
  readonly weightJitterKg: number;
  /** Makes every video this many bytes long, made up while it is sent. At least the length of the real one. */
  readonly videoBytes: number | undefined;

  /** The newer device's Enable Local API switch; off, every path answers 404. */
  readonly localApi: boolean;
  /** Device answers come in chunks, without Content-Length. */
  readonly chunkedBodies: boolean;
  /** False: the header api-supported-versions is left out. */
  readonly versionHeader: boolean;
  /** True: /video/stream answers a plain GET with 206 and the whole video. */
  readonly streamAnswers206: boolean;
  /** The earlier device's answer has depthImage, colorImage and annotatedColorImage, all null. */
  readonly earlierImageFields: boolean;

  // What no documentation tells. Each default is a guess; set it to what your device does.
  /** Measure in Video Only: a failed result with status 200, or this status code. */
  readonly measureInVideoOnly: "failed-result" | number;
  /** Start while a recording runs: begin anew with the new references, go on with the old, or this status code. */
  readonly startWhileRecording: "restart" | "continue" | number;
  /** Status of stop when nothing is recorded. */
  readonly stopWhileIdle: number;
  /** Status of cancel when nothing is recorded; a saved video is cleared when it is 200. */
  readonly cancelWhileIdle: number;
  /** Status of a local stop in Video with Measurement, where only a measurement ends a recording. */
  readonly stopInVideoWithMeasurement: number;
  /** Status of a remote start, stop or cancel that the device's mode doesn't allow. */
  readonly remoteVideoInWrongMode: number;
  /** The media list of a transaction that the cloud doesn't know. */
  readonly unknownTransaction: "not-found" | "empty-list";
  /** Code and text of a measurement of an empty table. */
  readonly emptyTable: { readonly errorCode: number; readonly errorMessage: string };

  /** The bearer token that the cloud takes. */
  readonly token: string;
  /** Registration code of the simulated newer device: 8 letters or digits. */
  readonly deviceCode: string;
  /** How many further devices are registered with the cloud; each answers triggers. */
  readonly cloudDevices: number;
  readonly transactionIds: TransactionIds;
  readonly terminalIds: "number" | "string";
  readonly webhooks: readonly Webhook[];
  /** What the webhooks' records have otherwise than the device's answer. */
  readonly records: RecordChanges;
  /** The cloud answers measure triggers at once with made-up values and contacts no device. */
  readonly simulationMode: boolean;
  /** Key and certificate in PEM; given, the cloud speaks https. */
  readonly tls: { readonly key: string | Buffer; readonly cert: string | Buffer } | undefined;

  // What is remembered: the oldest goes first. A forgotten transaction is answered 404, with all its media.
  /** How many transactions the cloud stores. */
  readonly keepTransactions: number;
  /** How many requests are listed, and how many posts of the webhook. */
  readonly keepRequests: number;
  /** How many measurements' images the newer device stores. */
  readonly keepImages: number;
  /** About how many bytes of memory each of these lists may take, whatever their number of entries. */
  readonly keepBytes: number;
}

/** What a caller may leave out: everything. */
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

/** Short enough to be typed again. */
const largestRandomSeed = 2 ** 32;

const loopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/i;

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** Fills in the defaults and refuses what can't work. */
export function completeOptions(given: StartOptions): SimulatorOptions {
  const { seed = randomInt(1, largestRandomSeed) } = given;
  const ports = { ...defaultOptions.ports, ...given.ports };
  const records = { ...defaultOptions.records, ...given.records };
  const scanner = { ...defaultScanner, ...checkSettings(given.scanner ?? {}) };
  const options = { ...defaultOptions, ...given, seed, ports, records, scanner };
  if (!isLoopback(options.host) && !options.expose) {
    throw new Error(`The simulator listens on ${options.host} only when it is told to be exposed.`);
  }
  if (!/^[a-z0-9]{8}$/i.test(options.deviceCode)) {
    throw new Error("The device code must be 8 letters or digits.");
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
    }
  }
  return options;
}
