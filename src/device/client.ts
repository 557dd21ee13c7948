import * as v from "valibot";
import {
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  callOptions,
  checkArguments,
  checkOptions,
  milliseconds,
  oneOf,
  references,
} from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field, phrase } from "../errors/interpolation.ts";
import { type Command, type Peer, type Read, deviceKeyOf, encodePart } from "../http/call.ts";
import { CommandQueues } from "../http/command-queue.ts";
import { type DownloadOptions, startDownload } from "../http/download.ts";
import { callFailure } from "../http/failures.ts";
import { readMeasurement, readShape, refuseDocument } from "../http/response.ts";
import { poll } from "../http/retry.ts";
import {
  type CallOptions,
  type CommandOptions,
  type QueueRules,
  Transport,
  type TransportOptions,
  defaultQueueRules,
  readResponse,
} from "../http/transport.ts";
import { decode, text } from "../model/decode.ts";
import type { Download } from "../model/download.ts";
import type { Measurement, References } from "../model/measurement.ts";
import { recordLimits } from "../model/parse-json.ts";
import { readAddress } from "../rules/addresses.ts";
import {
  type Generation,
  type GenerationProfile,
  type ImageKind,
  type VideoAction,
  type VideoMethod,
  generations,
  refuseMissing,
  writeReferences,
} from "./generations.ts";
import type { PeerClock } from "../time/clocks.ts";

/** Pass the same queues to all clients that command the same device. */
export { CommandQueues };

/** An array would be accepted as an object without fields. */
const echo = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value)),
  v.looseObject({ msg: text("What was sent.") }),
);

/**
 * One dimensioner on the local network, of either generation (spec 4.2 and 4.3). Commands (measure, video start, stop
 * and cancel) go out at most once, one at a time; reads are repeated where that can help. No request ever goes through
 * a proxy. Every method throws a DimensionerError.
 */
export class DeviceClient {
  readonly generation: Generation;
  readonly #profile: GenerationProfile;
  readonly #transport: Transport;
  readonly #video: DeviceVideo;

  /** Throws ERR_CONFIG if the address or any other option is not valid. */
  constructor(options: DeviceClientOptions) {
    const { generation, transport } = readOptions(options);
    this.generation = generation;
    this.#profile = generations[generation];
    this.#transport = new Transport(transport);
    this.#video = new DeviceVideo(this.#transport, transport.queues, generation);
  }

  get peer(): Peer {
    return this.#transport.peer;
  }

  /** The device's clock, as its last answer has told it. */
  get clock(): PeerClock {
    return this.#transport.clock;
  }

  /** Whether a measure of this generation accepts references. */
  get takesReferences(): boolean {
    return this.#profile.takesReferences;
  }

  /** Whether this generation's API has a ping. */
  get canPing(): boolean {
    return this.#profile.pingPath !== null;
  }

  /**
   * Measures once what is on the table. A result that is not `ok` is returned, not thrown. The earlier generation
   * accepts no references; they are not sent to it.
   */
  async measure(references: References = {}, options: CommandOptions = {}): Promise<Measurement> {
    checkCall(this.peer, "measure", "not-sent", { references, options });
    const command: Command = {
      acts: true,
      operation: "measure",
      method: "GET",
      path: this.#profile.measurePath,
      query: this.#profile.takesReferences ? writeReferences(references) : "",
    };
    const target = { deviceKey: deviceKeyOf(this.peer) };
    const response = await this.#transport.sendCommand(command, target, options);
    return readMeasurement(this.peer, command, response, this.#profile.surface);
  }

  /** Starts a recording; the references are kept with the video in Video Only mode. Destroys the saved video. */
  startVideo(references: References = {}, options: CommandOptions = {}): Promise<void> {
    return this.#video.command("start", references, options);
  }

  /** Ends the recording, which the device then encodes; works in Video Only mode only. */
  stopVideo(options: CommandOptions = {}): Promise<void> {
    return this.#video.command("stop", {}, options);
  }

  /** Ends the recording and deletes all saved video. */
  cancelVideo(options: CommandOptions = {}): Promise<void> {
    return this.#video.command("cancel", {}, options);
  }

  /** Starts the download of an image, by the imageIdentifier of its result; resolves with the headers. */
  image(kind: ImageKind, imageIdentifier: string, options: DownloadOptions = {}): Promise<Download> {
    return startImage(this.#transport, this.generation, kind, imageIdentifier, options);
  }

  /**
   * Starts the download of the saved video; resolves with the headers. If there is none yet, it asks again for
   * `waitMs`, since it may still be encoded. Until the end, video start and cancel wait: they would destroy it.
   */
  video(method: VideoMethod, options: VideoOptions = {}): Promise<Download> {
    return this.#video.download(method, options);
  }

  /** Pings the device, which changes nothing on it; returns the echo. */
  async ping(message = "ping", options: CallOptions = {}): Promise<{ msg: string | null }> {
    checkCall(this.peer, "ping", null, { message, options });
    const part = encodePart(this.peer.surface, "ping", "message", message);
    const path = this.#profile.pingPath ?? refuseMissing(this.generation, "ping", "ping", null);
    const read: Read = { acts: false, operation: "ping", method: "GET", path: `${path}/${part}`, query: "" };
    const response = await readResponse(this.#transport, read, options);
    return readShape(this.peer, read, response, recordLimits, (value) => decode(echo, value)).value;
  }

  /** Aborts all calls and waits with ERR_CANCELLED, and closes every connection. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

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
function readOptions(options: DeviceClientOptions): {
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

const callArguments = {
  references,
  kind: oneOf(["annotated", "color", "depth"]),
  imageIdentifier: aText,
  method: oneOf(["download", "stream"]),
  message: aText,
  options: callOptions,
};

/** Throws ERR_INPUT if an argument of a call is not valid. */
function checkCall(
  { surface }: Peer,
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface, operation, outcome }, given, callArguments);
}

/** Starts the download of an image of an earlier measurement (spec 4.2); resolves with the headers. */
async function startImage(
  transport: Transport,
  generation: Generation,
  kind: ImageKind,
  imageIdentifier: string,
  options: DownloadOptions,
): Promise<Download> {
  const { peer } = transport;
  const operation = "image";
  checkCall(peer, operation, null, { kind, imageIdentifier, options });
  const paths = generations[generation].imagePaths ?? refuseMissing(generation, "images", operation, null);
  const id = encodePart(peer.surface, operation, "imageIdentifier", imageIdentifier);
  return startDownload(
    transport,
    {
      acts: false,
      operation,
      method: "GET",
      path: `${paths[kind]}/${id}`,
      query: "",
      statuses: { 404: "notFoundImage" },
    },
    `${imageIdentifier}-${kind}`,
    options,
  );
}

export interface VideoOptions extends DownloadOptions {
  /** How long to wait for a video that is still being encoded; 0. */
  readonly waitMs?: number;
  /** Aborting ends the wait, but not the transfer that follows it. */
  readonly waitSignal?: AbortSignal | undefined;
  readonly onWaiting?: (() => void) | undefined;
}

const commandStatuses = {
  start: { 401: "wrongMode", 403: "wrongMode" },
  stop: { 401: "wrongModeStop", 403: "wrongModeStop" },
  cancel: { 401: "wrongMode", 403: "wrongMode" },
} as const;

/** The video commands of one device, and the download of the video that it keeps (spec 4.2). */
export class DeviceVideo {
  readonly #transport: Transport;
  readonly #queues: CommandQueues;
  readonly #generation: Generation;

  constructor(transport: Transport, queues: CommandQueues, generation: Generation) {
    this.#transport = transport;
    this.#queues = queues;
    this.#generation = generation;
  }

  /** Only a start takes references. */
  async command(action: VideoAction, references: References, options: CommandOptions): Promise<void> {
    const { peer } = this.#transport;
    const operation = `video ${action}`;
    checkCall(peer, operation, "not-sent", { references, options });
    const path =
      generations[this.#generation].videoActionPath ??
      refuseMissing(this.#generation, "video", operation, "not-sent");
    const command: Command = {
      acts: true,
      operation,
      method: "POST",
      path: `${path}/${action}`,
      query: writeReferences(references),
      statuses: commandStatuses[action],
    };
    const target = { deviceKey: deviceKeyOf(peer), video: action === "stop" ? "ends" : "destroys" } as const;
    refuseDocument(peer, command, await this.#transport.sendCommand(command, target, options));
  }

  /** Starts the download of the saved video; if there is none yet, it asks again for `waitMs`. */
  async download(method: VideoMethod, options: VideoOptions): Promise<Download> {
    const { peer } = this.#transport;
    const operation = "video";
    checkCall(peer, operation, null, { method, options });
    const paths =
      generations[this.#generation].videoPaths ?? refuseMissing(this.#generation, "video", operation, null);
    const read: Read = {
      acts: false,
      operation,
      method: "GET",
      path: paths[method],
      query: "",
      statuses: { 401: "wrongMode", 403: "wrongMode", 404: "noVideo" },
    };
    const last = await poll(() => this.#try(read, options), {
      waitMs: options.waitMs ?? 0,
      signals: this.#transport.signals(options.signal, options.waitSignal),
      onWaiting: options.onWaiting,
      fail: (sentence) => callFailure(peer, read, sentence, null),
    });
    if (!last.isThere) {
      throw last.error;
    }
    return last.download;
  }

  async #try(
    read: Read,
    options: VideoOptions,
  ): Promise<{ isThere: true; download: Download } | { isThere: false; error: DimensionerError }> {
    const hold = (): (() => void) => this.#queues.of(deviceKeyOf(this.#transport.peer)).holdVideo();
    try {
      return { isThere: true, download: await startDownload(this.#transport, read, "video", options, hold) };
    } catch (error) {
      if (error instanceof DimensionerError && error.code === "ERR_NO_VIDEO") {
        return { isThere: false, error };
      }
      throw error;
    }
  }
}
