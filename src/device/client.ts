import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field, phrase } from "../errors/interpolation.ts";
import { readShape, refuseHtml, type Answer } from "../http/answer.ts";
import { writeQuery, type Command, type Peer, type Read } from "../http/call.ts";
import { encodePart } from "../http/path-part.ts";
import { CommandQueues } from "../http/command-queue.ts";
import { startDownload, type DownloadOptions } from "../http/download.ts";
import { callFailure } from "../http/failures.ts";
import { readAnswer } from "../http/read.ts";
import { poll } from "../http/retry.ts";
import {
  defaultQueueRules,
  Transport,
  type CallOptions,
  type CommandOptions,
  type QueueRules,
} from "../http/transport.ts";
import { decode, text } from "../model/decode.ts";
import type { Download } from "../model/download.ts";
import type { Measurement, References } from "../model/measurement.ts";
import { decodeMeasureResult } from "../model/measure-result.ts";
import { recordLimits } from "../model/parse-json.ts";
import * as v from "valibot";
import { readAddress } from "../rules/addresses.ts";
import { checkCall, checkClientOptions } from "./arguments.ts";
import {
  generations,
  type Generation,
  type GenerationProfile,
  type ImageKind,
  type VideoAction,
  type VideoMethod,
} from "./generations.ts";

/** Whoever opens several clients to one machine gives them one of these. */
export { CommandQueues };

export interface DeviceClientOptions extends Partial<QueueRules> {
  /** host, host:port, [v6]:port or an http(s) origin. */
  readonly address: string;
  readonly generation?: Generation;
  /** Deadline of a call, and for downloads the longest time without a byte; 30 s. */
  readonly timeoutMs?: number;
  /** Shared by all clients that may command the same machine. */
  readonly queues?: CommandQueues;
}

export interface VideoOptions extends DownloadOptions {
  /** How long to wait for a video that is still being encoded; 0. */
  readonly waitMs?: number;
  /** Aborting ends the wait, but not a transfer. */
  readonly waitSignal?: AbortSignal | undefined;
  readonly onWaiting?: (() => void) | undefined;
}

/** A list would pass for an object of nothing. */
const echo = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value)),
  v.looseObject({ msg: text("What was sent.") }),
);

const videoStatuses = { 401: "wrongMode", 403: "wrongMode" } as const;
const stopStatuses = { 401: "wrongModeStop", 403: "wrongModeStop" } as const;

/**
 * One dimensioner on the local network, of either generation (spec 4.2 and 4.3). Commands (measure, video start, stop
 * and cancel) go out at most once, one at a time; reads are repeated where that can help. No request ever goes through
 * a proxy. Every method throws a DimensionerError.
 */
export class DeviceClient {
  readonly generation: Generation;
  readonly #profile: GenerationProfile;
  readonly #transport: Transport;
  readonly #queues: CommandQueues;

  /** Throws ERR_CONFIG where the address, or any other option, cannot be one. */
  constructor(options: DeviceClientOptions) {
    checkClientOptions(options);
    const { generation = "newer", timeoutMs = 30_000 } = options;
    const { queueLimit = defaultQueueRules.queueLimit, maxWaitMs = defaultQueueRules.maxWaitMs } = options;
    const address = readAddress(options.address);
    if ("problem" in address) {
      const facts = { surface: "config", operation: "settings" } as const;
      const what = phrase("device");
      throw new DimensionerError("configInvalid", facts, { what, field: field("address"), ...address });
    }
    this.generation = generation;
    this.#profile = generations[this.generation];
    this.#queues = options.queues ?? new CommandQueues();
    this.#transport = new Transport({
      peer: { surface: this.#profile.surface, ...address },
      queues: this.#queues,
      timeoutMs,
      queueLimit,
      maxWaitMs,
    });
  }

  get peer(): Peer {
    return this.#transport.peer;
  }

  /** Whether there is a ping in this generation's API. */
  get canPing(): boolean {
    return this.#profile.pingPath !== null;
  }

  /**
   * Measures what lies on the table, once. A result that is not `ok` is returned, not thrown. The earlier generation
   * takes no references; they are left out there.
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
    const answer = await this.#send(command, options);
    const { text: rawResponse, value: result } = readShape(
      this.peer,
      command,
      answer,
      recordLimits,
      (value) => decodeMeasureResult(value, this.#profile.surface),
    );
    return { result, rawResponse };
  }

  /** Begins a recording; the references are kept with the video in Video Only mode. Destroys the saved video. */
  async startVideo(references: References = {}, options: CommandOptions = {}): Promise<void> {
    checkCall(this.peer, "video start", "not-sent", { references, options });
    await this.#video("start", writeReferences(references), options);
  }

  /** Ends the recording and has it encoded; works in Video Only mode alone. */
  async stopVideo(options: CommandOptions = {}): Promise<void> {
    checkCall(this.peer, "video stop", "not-sent", { options });
    await this.#video("stop", "", options);
  }

  /** Ends the recording and clears all saved video. */
  async cancelVideo(options: CommandOptions = {}): Promise<void> {
    checkCall(this.peer, "video cancel", "not-sent", { options });
    await this.#video("cancel", "", options);
  }

  /**
   * Begins to download a picture of an earlier measure, by the imageIdentifier of its result; resolves with the headers.
   */
  async image(kind: ImageKind, imageIdentifier: string, options: DownloadOptions = {}): Promise<Download> {
    checkCall(this.peer, "image", null, { kind, imageIdentifier, options });
    const paths = this.#profile.imagePaths ?? this.#lacks("image", "images", null);
    const id = encodePart(this.peer.surface, "image", "imageIdentifier", imageIdentifier);
    const read: Read = { ...readOf("image", `${paths[kind]}/${id}`), statuses: { 404: "notFoundImage" } };
    return startDownload(this.#transport, read, `${imageIdentifier}-${kind}`, options);
  }

  /**
   * Begins to download the locally saved video; resolves with the headers. While there is none it asks again for
   * `waitMs`, since it may still be encoded. During the transfer, video start and cancel to this machine wait, since they
   * would destroy it.
   */
  async video(method: VideoMethod, options: VideoOptions = {}): Promise<Download> {
    checkCall(this.peer, "video", null, { method, options });
    const paths = this.#profile.videoPaths ?? this.#lacks("video", "video", null);
    const read: Read = {
      ...readOf("video", paths[method]),
      statuses: { ...videoStatuses, 404: "noVideo" },
    };
    const last = await poll(() => this.#tryVideo(read, options), {
      waitMs: options.waitMs ?? 0,
      signals: this.#transport.signals(options.signal, options.waitSignal),
      onWaiting: options.onWaiting,
      fail: (sentence) => callFailure(this.peer, read, sentence, null),
    });
    if (!last.isThere) {
      throw last.error;
    }
    return last.download;
  }

  /** Asks whether the device is there, without any effect; returns what it echoes. */
  async ping(message = "ping", options: CallOptions = {}): Promise<{ msg: string | null }> {
    checkCall(this.peer, "ping", null, { message, options });
    const part = encodePart(this.peer.surface, "ping", "message", message);
    const path = this.#profile.pingPath ?? this.#lacks("ping", "ping", null);
    const read = readOf("ping", `${path}/${part}`);
    const answer = await readAnswer(this.#transport, read, options);
    return readShape(this.peer, read, answer, recordLimits, (value) => decode(echo, value)).value;
  }

  /** Ends all that runs and waits with ERR_CANCELLED, and every connection. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  async #video(action: VideoAction, query: string, options: CommandOptions): Promise<void> {
    const path = this.#profile.videoActionPath ?? this.#lacks(`video ${action}`, "video", "not-sent");
    const command: Command = {
      acts: true,
      operation: `video ${action}`,
      method: "POST",
      path: `${path}/${action}`,
      query,
      statuses: action === "stop" ? stopStatuses : videoStatuses,
    };
    const sparesVideo = action !== "stop";
    refuseHtml(this.peer, command, await this.#send(command, options, sparesVideo));
  }

  #send(command: Command, options: CommandOptions, sparesVideo = false): Promise<Answer> {
    return this.#transport.send(command, { machine: this.peer.origin, sparesVideo }, options);
  }

  async #tryVideo(
    read: Read,
    options: VideoOptions,
  ): Promise<{ isThere: true; download: Download } | { isThere: false; error: DimensionerError }> {
    const hold = (): (() => void) => this.#queues.of(this.peer.origin).holdVideo();
    try {
      return { isThere: true, download: await startDownload(this.#transport, read, "video", options, hold) };
    } catch (error) {
      if (error instanceof DimensionerError && error.code === "ERR_NO_VIDEO") {
        return { isThere: false, error };
      }
      throw error;
    }
  }

  #lacks(operation: string, feature: "images" | "ping" | "video", outcome: "not-sent" | null): never {
    throw new DimensionerError(
      "configGeneration",
      { surface: "config", operation, outcome },
      { generation: phrase(this.generation), feature: phrase(feature) },
    );
  }
}

function readOf(operation: string, path: string): Read {
  return { acts: false, operation, method: "GET", path, query: "" };
}

/** The query names of measure and video start (spec 4.2, rule 3). */
function writeReferences(references: References): string {
  return writeQuery({
    TransactionReference: references.transactionReference,
    CustomReference1: references.customReference1,
    CustomReference2: references.customReference2,
    CustomReference3: references.customReference3,
  });
}
