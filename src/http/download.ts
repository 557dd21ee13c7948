import type { Readable } from "node:stream";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { ContentCheck } from "../media/content-check.ts";
import { ReceivedBody } from "../media/received-body.ts";
import type { Download, DownloadSource, Framing } from "../model/download.ts";
import { readRange, refusePart, refuseUnusable } from "./answer.ts";
import type { Peer, Read } from "./call.ts";
import type { Flow, Headers, Receiver } from "./exchange.ts";
import { callFailure } from "./failures.ts";
import { delayMs, follow, isTransient, readPolicy, readRetryAfterMs, wait } from "./retry.ts";
import type { Transport } from "./transport.ts";

/** Told with every chunk; `totalBytes` is null while the peer has not said it. */
export type OnProgress = (doneBytes: number, totalBytes: number | null) => void;

export interface DownloadOptions {
  /** Aborting ends the transfer with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** What is downloaded, and by which way. */
interface Order {
  readonly transport: Transport;
  readonly read: Read;
  readonly suggestedName: string;
  readonly options: DownloadOptions;
  /** Called when a transfer begins; what it returns is called when that has ended. */
  readonly hold: (() => () => void) | undefined;
}

/**
 * Begins a download of any size; resolves with the headers of the first good answer. Its body ends when no byte has come for
 * the transport's `timeoutMs`, or after three tries in a row that brought nothing new, and is otherwise unbounded.
 */
export function startDownload(
  transport: Transport,
  read: Read,
  suggestedName: string,
  options: DownloadOptions = {},
  hold?: () => () => void,
): Promise<Download> {
  return new Transfer({ transport, read, suggestedName, options, hold }, new Tries()).start();
}

/** Counts the tries of one download, over all its transfers. */
class Tries {
  #failures = 0;
  /** Most bytes that any try has brought: a try that brings no more has brought nothing. */
  #mostBytes = 0;
  /** When the last byte came, in `performance.now()`. */
  lastByteAt = performance.now();

  /** How long to wait before the next try; undefined where another one cannot help. */
  next(
    error: unknown,
    bytes: number,
    retryAfterMs: number | undefined,
    timeoutMs: number,
  ): number | undefined {
    this.#failures = bytes > this.#mostBytes ? 0 : this.#failures + 1;
    this.#mostBytes = Math.max(this.#mostBytes, bytes);
    const waitMs = delayMs(readPolicy, Math.max(this.#failures, 1), retryAfterMs);
    const isLate = performance.now() + waitMs >= this.lastByteAt + timeoutMs;
    // A peer that was there and cannot be reached for a moment may have restarted.
    const wasThere = this.#mostBytes > 0 && isDimensionerError(error) && error.code === "ERR_UNREACHABLE";
    const canHelp = (isTransient(error) || wasThere) && !isLate && this.#failures < readPolicy.tries;
    return canHelp ? waitMs : undefined;
  }
}

/**
 * One body over as many connections as it takes. It goes on where it stopped only when the peer named the exact bytes by
 * a strong ETag and confirms them (RFC 9110, 13.1.5), so that a body is never spliced from two versions.
 */
class Transfer implements Receiver, Download {
  readonly body: Readable;
  contentType: string | null = null;
  contentLength: number | null = null;
  framing: Framing = "close";
  readonly suggestedName: string;
  readonly source: DownloadSource;
  readonly #order: Order;
  readonly #peer: Peer;
  readonly #signals: readonly AbortSignal[];
  readonly #tries: Tries;
  readonly #head = Promise.withResolvers<Download>();
  /** Aborts with what ends the transfer, the destruction of its body included. */
  readonly #end = new AbortController();
  #flow: Flow | undefined;
  #etag: string | undefined;
  #hasHead = false;
  /** Bytes that were handed to the body. */
  #bytes = 0;
  /** Bytes of the answer that is coming which the body has already. */
  #skip = 0;
  #retryAfterMs: number | undefined;
  /** How long to wait before a restart; undefined where there shall be none. */
  #restartAfterMs: number | undefined;
  /** For a body whose end only its format can show. */
  #content: ContentCheck | undefined;

  constructor(order: Order, tries: Tries) {
    const { read, suggestedName } = order;
    const { peer } = order.transport;
    this.#order = order;
    this.#peer = peer;
    this.#signals = order.transport.signals(order.options.signal);
    this.#tries = tries;
    this.suggestedName = suggestedName;
    this.source = {
      surface: peer.surface,
      operation: read.operation,
      host: peer.host,
      url: peer.origin + read.path,
    };
    this.body = new ReceivedBody({
      read: () => this.#flow?.resume(),
      destroy: (error, callback) => {
        this.#end.abort();
        callback(error);
      },
    });
    // Whoever reads it is told of a failure; one that nobody reads must not end the process.
    this.body.on("error", () => undefined);
  }

  start(): Promise<Download> {
    const release = this.#order.hold?.();
    const unfollow = follow(this.#signals, this.#end);
    void this.#run().finally(() => {
      unfollow();
      release?.();
    });
    return this.#head.promise;
  }

  async restart(): Promise<Download> {
    if (this.#restartAfterMs === undefined) {
      throw this.body.errored ?? this.#failure();
    }
    await this.#pause(this.#restartAfterMs, this.#signals);
    return new Transfer(this.#order, this.#tries).start();
  }

  async #run(): Promise<void> {
    const { transport, read } = this.#order;
    for (;;) {
      try {
        await transport.ask(read, this, {
          headers: this.#rangeHeaders(),
          limit: { kind: "stall", ms: transport.timeoutMs, since: this.#tries.lastByteAt },
          signal: this.#end.signal,
        });
        this.#complete();
        return;
      } catch (error) {
        const waitMs = this.body.destroyed
          ? undefined
          : this.#tries.next(error, this.#bytes, this.#retryAfterMs, transport.timeoutMs);
        if (waitMs === undefined || (this.#hasHead && this.#etag === undefined)) {
          this.#restartAfterMs = waitMs;
          this.#fail(error);
          return;
        }
        try {
          await this.#pause(waitMs, [this.#end.signal]);
        } catch (reason) {
          this.#fail(reason);
          return;
        }
      }
    }
  }

  onHead(statusCode: number, headers: Headers, flow: Flow): void {
    const { read } = this.#order;
    const peer = this.#peer;
    this.#flow = flow;
    this.#tries.lastByteAt = performance.now();
    this.#retryAfterMs = readRetryAfterMs(headers["retry-after"]);
    if (statusCode === 416 && this.#bytes > 0) {
      this.#refuseToResume(statusCode);
    }
    refuseUnusable(peer, read, statusCode, headers);
    if (this.#hasHead) {
      this.#resume(statusCode, headers);
    } else {
      this.#begin(statusCode, headers);
    }
  }

  onData(chunk: Buffer): void {
    this.#tries.lastByteAt = performance.now();
    const bytes = this.#skip === 0 ? chunk : chunk.subarray(this.#skip);
    this.#skip -= chunk.length - bytes.length;
    if (bytes.length === 0) {
      return;
    }
    this.#bytes += bytes.length;
    this.#content?.update(bytes);
    if (!this.body.push(bytes)) {
      this.#flow?.pause();
    }
    this.#order.options.onProgress?.(this.#bytes, this.contentLength);
  }

  /** The first good answer: what it says of itself holds for the whole. */
  #begin(statusCode: number, headers: Headers): void {
    const { read } = this.#order;
    const peer = this.#peer;
    const range = readRange(headers);
    if (statusCode === 206 && range?.isWhole !== true) {
      refusePart(peer, read, headers);
    }
    const length = statusCode === 206 ? range?.total : headers["content-length"];
    this.contentLength = length === undefined ? null : Number(length);
    if (this.contentLength !== null) {
      this.framing = "length";
    } else if (headers["transfer-encoding"] !== undefined) {
      this.framing = "chunked";
    } else {
      this.#content = new ContentCheck();
    }
    const type = headers["content-type"];
    this.contentType =
      typeof type === "string" ? (type.split(";", 1)[0] ?? "").trim().toLowerCase() || null : null;
    this.#etag = strongEtag(headers);
    this.#hasHead = true;
    this.#head.resolve(this);
  }

  /** A later answer is good when it is of the same bytes, and brings the rest of them. */
  #resume(statusCode: number, headers: Headers): void {
    const range = readRange(headers);
    const isSame = strongEtag(headers) === this.#etag;
    if (statusCode === 206 && this.#bytes > 0) {
      const fits = this.contentLength === null || this.contentLength === range?.total;
      if (range?.first !== this.#bytes || !range.endsWhole || !isSame || !fits) {
        this.#refuseToResume(statusCode);
      }
      this.contentLength = range.total;
      this.#skip = 0;
    } else if (isSame && (statusCode !== 206 || range?.isWhole === true)) {
      this.#skip = this.#bytes;
    } else {
      this.#refuseToResume(statusCode);
    }
  }

  /** The peer cannot go on where we stopped: what has come counts no more. */
  #refuseToResume(statusCode: number): never {
    this.#etag = undefined;
    throw callFailure(this.#peer, this.#order.read, "connectionLost", null, {}, { statusCode });
  }

  #rangeHeaders(): Record<string, string> {
    return this.#bytes > 0 && this.#etag !== undefined
      ? { range: `bytes=${this.#bytes}-`, "if-range": this.#etag }
      : {};
  }

  #complete(): void {
    if (this.#skip > 0 || (this.contentLength !== null && this.contentLength !== this.#bytes)) {
      throw this.#failure();
    }
    this.#content?.refuseUnfinished(this.source);
    this.body.push(null);
  }

  #fail(error: unknown): void {
    this.#head.reject(error);
    this.body.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  #failure(): Error {
    return callFailure(this.#peer, this.#order.read, "connectionLost", null);
  }

  #pause(waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    const { read } = this.#order;
    const peer = this.#peer;
    return wait(waitMs, signals, (sentence) => callFailure(peer, read, sentence, null));
  }
}

function strongEtag(headers: Headers): string | undefined {
  const etag = headers["etag"];
  return typeof etag === "string" && etag.startsWith('"') ? etag : undefined;
}
