import {
  aFunction,
  aProxyUrl,
  aReference,
  aText,
  aWholeNumber,
  anInstance,
  anObject,
  callOptions,
  checkArguments,
  checkOptions,
  milliseconds,
  references,
  trueOrFalse,
} from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field, phrase } from "../errors/interpolation.ts";
import { hider } from "../errors/secrets.ts";
import { type Command, type Peer, type Read, deviceKeyOf } from "../http/call.ts";
import { CommandQueues } from "../http/command-queue.ts";
import type { TlsOptions } from "../http/connections.ts";
import { type DownloadOptions, startDownload } from "../http/download.ts";
import { callFailure } from "../http/failures.ts";
import { type HttpResponse, readMeasurement, readShape, refuseDocument } from "../http/response.ts";
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
import type { Download } from "../model/download.ts";
import type { Measurement, References } from "../model/measurement.ts";
import { listLimits, recordLimits } from "../model/parse-json.ts";
import type { CloudDevice, MediaItem, Terminal } from "../model/shapes.ts";
import {
  decodeDevice,
  decodeDevices,
  decodeMediaList,
  decodeTerminal,
  decodeTerminals,
} from "../model/transaction-record.ts";
import { readBaseUrl } from "../rules/addresses.ts";
import { CloudCalls } from "./calls.ts";
import { missingMedia } from "./expected-media.ts";
import type { PeerClock } from "../time/clocks.ts";

/** Pass the same queues to all clients that command the same device. */
export { CommandQueues };

export interface MediaWaitOptions extends CallOptions {
  /** Only media of this MIME type. */
  readonly contentType?: string | undefined;
  /** Content types or descriptions that have to be there. */
  readonly expect?: readonly string[];
  /** How long to wait for them; 0. */
  readonly waitMs?: number;
  /** Aborting ends the wait. */
  readonly waitSignal?: AbortSignal | undefined;
  readonly onWaiting?: (() => void) | undefined;
}

/** The listed media, and which of the expected ones are missing. */
export interface MediaWaitResult {
  readonly items: MediaItem[];
  readonly missing: readonly string[];
  /** The error of the last request if the cloud did not know the transaction until the wait for its media was over. */
  readonly notFound?: DimensionerError;
}

/**
 * The cloud: media of transactions, and triggers that act on a registered device (spec 4.1). Triggers go out at most
 * once, one at a time a device; reads are repeated where that can help. Every method throws a DimensionerError.
 */
export class CloudClient {
  readonly #transport: Transport;
  readonly #calls: CloudCalls;

  /** Throws ERR_CONFIG if the base URL, the token or any other option is not valid. */
  constructor(options: CloudClientOptions) {
    const { basePath, transport } = readOptions(options);
    this.#calls = new CloudCalls(basePath);
    this.#transport = new Transport(transport);
  }

  get peer(): Peer {
    return this.#transport.peer;
  }

  /** The cloud's clock, as its last answer has told it. */
  get clock(): PeerClock {
    return this.#transport.clock;
  }

  /** Lists the media of a transaction, all or those of one content type. */
  async listMedia(
    transactionId: string,
    options: CallOptions & { readonly contentType?: string | undefined } = {},
  ): Promise<MediaItem[]> {
    checkCall("media list", null, { transactionId, options });
    return this.#readList(
      this.#calls.mediaList(transactionId, options.contentType),
      options,
      decodeMediaList,
    );
  }

  /**
   * Lists the media again and again until all expected ones are there or the wait is over; if none are expected, until
   * there is at least one. Meanwhile a transaction that is not known yet counts as one without media. It is an error
   * afterwards, unless media are expected: then they are missing.
   */
  async waitForMedia(transactionId: string, options: MediaWaitOptions = {}): Promise<MediaWaitResult> {
    checkCall("media list", null, { transactionId, options });
    const { expect = [], waitMs = 0, signal, waitSignal, onWaiting } = options;
    const read = this.#calls.mediaList(transactionId, options.contentType);
    const ask = async (): Promise<MediaWaitResult & { isThere: boolean }> => {
      try {
        const items = await this.#readList(read, options, decodeMediaList);
        const missing = missingMedia(items, expect);
        return { items, missing, isThere: missing.length === 0 && items.length > 0 };
      } catch (error) {
        if (error instanceof DimensionerError && error.code === "ERR_NOT_FOUND") {
          return { items: [], missing: expect, isThere: false, notFound: error };
        }
        throw error;
      }
    };
    const { items, missing, notFound } = await poll(ask, {
      waitMs,
      onWaiting,
      signals: this.#transport.signals(signal, waitSignal),
      fail: (sentence) => callFailure(this.peer, read, sentence, null),
    });
    if (notFound === undefined) {
      return { items, missing };
    }
    if (expect.length === 0 || waitMs <= 0) {
      throw notFound;
    }
    return { items, missing, notFound };
  }

  /** Starts the download of one media item in the type in which it was saved; resolves with the headers. */
  async media(transactionId: string, contentId: string, options: DownloadOptions = {}): Promise<Download> {
    checkCall("media", null, { transactionId, contentId, options });
    const read = this.#calls.media(transactionId, contentId);
    return startDownload(this.#transport, read, `${transactionId}-${contentId}`, options);
  }

  /** Starts a recording on a device in a video mode. */
  async startVideo(
    deviceReference: string,
    references: References,
    options: CommandOptions = {},
  ): Promise<void> {
    checkCall("remote start", "not-sent", { deviceReference, references, options });
    const command = this.#calls.trigger("start", deviceReference, {
      transactionReference: references.transactionReference,
      cRef1: references.customReference1,
      cRef2: references.customReference2,
      cRef3: references.customReference3,
    });
    await this.#sendVideo(deviceReference, command, options);
  }

  /** Ends a recording; works in Video Only mode only. */
  async stopVideo(deviceReference: string, options: CommandOptions = {}): Promise<void> {
    checkCall("remote stop", "not-sent", { deviceReference, options });
    await this.#sendVideo(deviceReference, this.#calls.trigger("stop", deviceReference, {}), options);
  }

  /** Ends a recording and deletes it. */
  async cancelVideo(deviceReference: string, options: CommandOptions = {}): Promise<void> {
    checkCall("remote cancel", "not-sent", { deviceReference, options });
    await this.#sendVideo(deviceReference, this.#calls.trigger("cancel", deviceReference, {}), options);
  }

  /**
   * Measures on a device, once. The result has a transactionId, by which its media are listed. A result that is not
   * `ok` is returned, not thrown. The cloud takes no custom references here.
   */
  async measure(
    deviceReference: string,
    transactionReference: string,
    options: CommandOptions = {},
  ): Promise<Measurement> {
    checkCall("remote measure", "not-sent", { deviceReference, transactionReference, options });
    const command = this.#calls.trigger("measure", deviceReference, { transactionReference });
    const response = await this.#send(deviceReference, command, options);
    return readMeasurement(this.peer, command, response, "cloud");
  }

  /** Lists the registered devices. It has no effect, so it can also be used to test a token. */
  async devices(options: CallOptions = {}): Promise<CloudDevice[]> {
    checkCall("device list", null, { options });
    return this.#readList(this.#calls.devices(), options, decodeDevices);
  }

  async device(id: string, options: CallOptions = {}): Promise<CloudDevice> {
    checkCall("device", null, { id, options });
    return this.#readOne(this.#calls.device(id), options, decodeDevice);
  }

  /** Lists the terminals; a terminal is a group of devices. */
  async terminals(options: CallOptions = {}): Promise<Terminal[]> {
    checkCall("terminal list", null, { options });
    return this.#readList(this.#calls.terminals(), options, decodeTerminals);
  }

  async terminal(id: string, options: CallOptions = {}): Promise<Terminal> {
    checkCall("terminal", null, { id, options });
    return this.#readOne(this.#calls.terminal(id), options, decodeTerminal);
  }

  /** Aborts all calls and waits with ERR_CANCELLED, and closes every connection. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** One queue for each device, so that a slow device delays no other. */
  #send(deviceReference: string, command: Command, options: CommandOptions): Promise<HttpResponse> {
    const target = { deviceKey: deviceKeyOf(this.peer, deviceReference) };
    return this.#transport.sendCommand(command, target, options);
  }

  async #sendVideo(deviceReference: string, command: Command, options: CommandOptions): Promise<void> {
    refuseDocument(this.peer, command, await this.#send(deviceReference, command, options));
  }

  async #readOne<T>(read: Read, options: CallOptions, decode: (value: unknown) => T): Promise<T> {
    return readShape(
      this.peer,
      read,
      await readResponse(this.#transport, read, options),
      recordLimits,
      decode,
    ).value;
  }

  async #readList<T>(read: Read, options: CallOptions, decodeList: (value: unknown) => T[]): Promise<T[]> {
    return readShape(
      this.peer,
      read,
      await readResponse(this.#transport, read, options),
      listLimits,
      decodeList,
    ).value;
  }
}

export interface CloudClientOptions extends Partial<QueueRules> {
  /** https; http only on loopback or with `allowHttp`. */
  readonly baseUrl: string;
  /** Sent to baseUrl's origin and nowhere else. */
  readonly token: string;
  readonly allowHttp?: boolean;
  /** Deadline of a call, and for downloads the longest time without a byte; 60 s. */
  readonly timeoutMs?: number;
  readonly tls?: TlsOptions | undefined;
  /** May contain a user name and a password. The environment's proxy variables are not used. */
  readonly proxyUrl?: string | undefined;
  /** Shared by all clients that may command the same devices. */
  readonly queues?: CommandQueues;
}

const clientOptions = anObject(
  {
    baseUrl: aText,
    allowHttp: trueOrFalse,
    timeoutMs: milliseconds(1),
    queueLimit: aWholeNumber,
    maxWaitMs: milliseconds(0),
    tls: anObject({}),
    proxyUrl: aProxyUrl,
    queues: anInstance(CommandQueues),
  },
  ["baseUrl"],
);

/**
 * Fills in the defaults. Throws ERR_CONFIG if the base URL, the token or any other option is not valid. The token is
 * checked separately, because it must never be shown.
 */
function readOptions(options: CloudClientOptions): {
  readonly basePath: string;
  readonly transport: TransportOptions;
} {
  checkOptions("cloud", options, clientOptions);
  const { timeoutMs = 60_000, queues = new CommandQueues(), tls, proxyUrl } = options;
  const { queueLimit = defaultQueueRules.queueLimit, maxWaitMs = defaultQueueRules.maxWaitMs } = options;
  const facts = { surface: "config", operation: "settings" } as const;
  const address = readBaseUrl(options.baseUrl, options.allowHttp ?? false);
  if ("problem" in address) {
    const what = phrase("cloud");
    throw new DimensionerError("configInvalid", facts, { what, field: field("baseUrl"), ...address });
  }
  const token = readToken(options.token);
  if (token === undefined) {
    throw new DimensionerError("configToken", facts);
  }
  const { origin, host, basePath } = address;
  const hide = hider([token, ...loginOf(proxyUrl)]);
  const peer: Peer = { surface: "cloud", origin, host, hide };
  const headers = { authorization: `Bearer ${token}` };
  return { basePath, transport: { peer, timeoutMs, queues, queueLimit, maxWaitMs, headers, tls, proxyUrl } };
}

/** The password of an address, as it is written and as it is. */
function loginOf(url: string | undefined): string[] {
  const { password } = URL.parse(url ?? "") ?? { password: "" };
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

const callArguments = {
  transactionId: aText,
  contentId: aText,
  id: aText,
  deviceReference: aText,
  transactionReference: aReference,
  references,
  options: callOptions,
  /** Arguments of the methods that list or read devices and terminals, by method. */
  client: anObject({ devices: aFunction, terminals: aFunction }, ["devices", "terminals"]),
};

/** Throws ERR_INPUT if an argument of a call is not valid. */
export function checkCall(
  operation: string,
  outcome: "not-sent" | null,
  given: Readonly<Partial<Record<keyof typeof callArguments, unknown>>>,
): void {
  checkArguments({ surface: "cloud", operation, outcome }, given, callArguments);
}

/**
 * Reads a token as people paste it: surrounding white space and a leading "Bearer " are removed. Returns undefined if
 * nothing is left, or if it has characters that a header field cannot contain (RFC 6750, 2.1).
 */
export function readToken(pasted: unknown): string | undefined {
  const token = (typeof pasted === "string" ? pasted : "").trim().replace(/^bearer(\s+|$)/i, "");
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
