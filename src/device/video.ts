import { DimensionerError } from "../errors/dimensioner-error.ts";
import { refuseHtml } from "../http/response.ts";
import { deviceKeyOf, type Command, type Read } from "../http/call.ts";
import type { CommandQueues } from "../http/command-queue.ts";
import { startDownload, type DownloadOptions } from "../http/download.ts";
import { callFailure } from "../http/failures.ts";
import { poll } from "../http/retry.ts";
import type { CommandOptions, Transport } from "../http/transport.ts";
import type { Download } from "../model/download.ts";
import type { References } from "../model/measurement.ts";
import { checkCall } from "./arguments.ts";
import {
  generations,
  refuseMissing,
  writeReferences,
  type Generation,
  type VideoAction,
  type VideoMethod,
} from "./generations.ts";

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
    refuseHtml(peer, command, await this.#transport.sendCommand(command, target, options));
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
