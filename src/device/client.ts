import { readMeasurement, readShape } from "../http/response.ts";
import { deviceKeyOf, type Command, type Peer, type Read } from "../http/call.ts";
import { CommandQueues } from "../http/command-queue.ts";
import type { DownloadOptions } from "../http/download.ts";
import { encodePart } from "../http/path-part.ts";
import { readResponse } from "../http/read.ts";
import { Transport, type CallOptions, type CommandOptions } from "../http/transport.ts";
import { decode, text } from "../model/decode.ts";
import type { Download } from "../model/download.ts";
import type { Measurement, References } from "../model/measurement.ts";
import { recordLimits } from "../model/parse-json.ts";
import * as v from "valibot";
import { checkCall } from "./arguments.ts";
import {
  generations,
  refuseMissing,
  writeReferences,
  type Generation,
  type GenerationProfile,
  type ImageKind,
  type VideoMethod,
} from "./generations.ts";
import { startImage } from "./images.ts";
import { readOptions, type DeviceClientOptions } from "./options.ts";
import { DeviceVideo, type VideoOptions } from "./video.ts";

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
