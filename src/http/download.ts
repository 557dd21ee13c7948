import { isDimensionerError } from "../errors/dimensioner-error.ts";
import type { ByteSink, DownloadFacts, Framing } from "../model/download.ts";
import { readRange, refusePart, refuseUnusable } from "./answer.ts";
import type { Peer, Read } from "./call.ts";
import type { Flow, Headers, Receiver } from "./exchange.ts";
import { callFailure } from "./failures.ts";
import { readRetryAfterMs } from "./retry-after.ts";

/** Told with every chunk; `totalBytes` is null while the peer has not said it. */
export type OnProgress = (doneBytes: number, totalBytes: number | null) => void;

/**
 * One download over as many connections as it takes. It goes on where it stopped only when the peer named the exact
 * bytes by a strong ETag and confirms them (RFC 9110, 13.1.5); otherwise it starts again at byte 0, so that the result
 * is never spliced from two versions.
 */
export class DownloadReceiver implements Receiver {
  readonly #peer: Peer;
  readonly #read: Read;
  readonly #sink: ByteSink;
  readonly #onProgress: OnProgress | undefined;
  #flow: Flow | undefined;
  #etag: string | undefined;
  #contentType: string | null = null;
  #framing: Framing = "close";
  #totalBytes: number | null = null;
  #resumesAt = 0;
  /** Most bytes that any try has brought: a try that brings no more has brought nothing. */
  #mostBytes = 0;
  /** When the last byte came, in `performance.now()`. */
  lastByteAt = performance.now();
  retryAfterMs: number | undefined;

  constructor(peer: Peer, read: Read, sink: ByteSink, onProgress?: OnProgress) {
    this.#peer = peer;
    this.#read = read;
    this.#sink = sink;
    this.#onProgress = onProgress;
  }

  /** A peer that was there and cannot be reached for a moment may have restarted: worth another try. */
  canRejoin(error: unknown): boolean {
    return this.#mostBytes > 0 && isDimensionerError(error) && error.code === "ERR_UNREACHABLE";
  }

  /** Makes ready for the next try and says which header fields it needs. */
  prepare(): Record<string, string> {
    if (this.#etag === undefined && this.#sink.bytes > 0) {
      void this.#sink.restart();
    }
    this.#resumesAt = this.#sink.bytes;
    return this.#resumesAt > 0 && this.#etag !== undefined
      ? { range: `bytes=${this.#resumesAt}-`, "if-range": this.#etag }
      : {};
  }

  /** Whether the try that has just ended brought new bytes; asked once a try. */
  tookProgress(): boolean {
    const isMore = this.#sink.bytes > this.#mostBytes;
    this.#mostBytes = Math.max(this.#mostBytes, this.#sink.bytes);
    return isMore;
  }

  onHead(statusCode: number, headers: Headers, flow: Flow): void {
    this.#flow = flow;
    this.#sink.onDrain = () => flow.resume();
    this.#sink.onChunkDone = (chunk) => flow.giveBack(chunk);
    this.#sink.onError = (error) => flow.fail(error);
    this.lastByteAt = performance.now();
    this.retryAfterMs = readRetryAfterMs(headers["retry-after"]);
    if (statusCode === 416 && this.#resumesAt > 0) {
      this.#startAnew(statusCode);
    }
    refuseUnusable(this.#peer, this.#read, statusCode, headers);
    if (statusCode === 206) {
      this.#acceptPart(headers);
    } else {
      this.#acceptWhole(headers);
    }
  }

  onData(chunk: Buffer): void {
    this.lastByteAt = performance.now();
    if (!this.#sink.write(chunk)) {
      this.#flow?.pause();
    }
    this.#onProgress?.(this.#sink.bytes, this.#totalBytes);
  }

  /** What was downloaded, once the last try has ended well. */
  facts(): DownloadFacts {
    const { bytes } = this.#sink;
    if (this.#totalBytes !== null && this.#totalBytes !== bytes) {
      throw callFailure(this.#peer, this.#read, "connectionLost", null);
    }
    return { contentType: this.#contentType, framing: this.#framing, bytes };
  }

  #acceptWhole(headers: Headers): void {
    const length = headers["content-length"];
    this.#totalBytes = length === undefined ? null : Number(length);
    this.#framing = "close";
    if (length !== undefined) {
      this.#framing = "length";
    } else if (headers["transfer-encoding"] !== undefined) {
      this.#framing = "chunked";
    }
    this.#remember(headers);
    if (this.#sink.bytes > 0) {
      void this.#sink.restart();
    }
  }

  /** A part is good when it is the whole, or exactly the rest of what has been received. */
  #acceptPart(headers: Headers): void {
    const range = readRange(headers);
    if (this.#resumesAt === 0) {
      if (range?.isWhole !== true) {
        refusePart(this.#peer, this.#read, headers);
      }
      this.#remember(headers);
    } else {
      const isSame = headers["etag"] === this.#etag;
      const fits = this.#totalBytes === null || this.#totalBytes === range?.total;
      if (range?.first !== this.#resumesAt || !range.endsWhole || !isSame || !fits) {
        this.#startAnew(206);
      }
    }
    this.#totalBytes = range.total;
    this.#framing = "length";
  }

  #remember(headers: Headers): void {
    const etag = headers["etag"];
    this.#etag = typeof etag === "string" && etag.startsWith('"') ? etag : undefined;
    const type = headers["content-type"];
    this.#contentType =
      typeof type === "string" ? (type.split(";", 1)[0] ?? "").trim().toLowerCase() || null : null;
  }

  /** The peer cannot go on where we stopped: what there is counts no more, and the next try begins at byte 0. */
  #startAnew(statusCode: number): never {
    this.#etag = undefined;
    throw callFailure(this.#peer, this.#read, "connectionLost", null, {}, { statusCode });
  }
}
