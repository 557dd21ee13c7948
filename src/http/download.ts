import type { Readable } from "node:stream";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { type Values, phrase, verbatim } from "../errors/interpolation.ts";
import { ContentCheck, watchForDocument } from "../media/formats.ts";
import { ReceivedBody } from "../media/save-to-file.ts";
import {
  type Document,
  type DocumentWatch,
  isTextType,
  nameOfDocument,
  wordsOf,
} from "../model/documents.ts";
import type { Download, DownloadSource, Framing } from "../model/download.ts";
import type { Peer, Read } from "./call.ts";
import type { Flow, Headers, Receiver } from "./exchange.ts";
import { callFailure } from "./failures.ts";
import { compressionOf, readRange, refusePart, refuseUnusable } from "./response.ts";
import { abortWithAny, delayMs, isTransient, readPolicy, retryAfterOf, wait } from "./retry.ts";
import type { Transport } from "./transport.ts";

/** Called with every chunk; `totalBytes` is null as long as the peer has not sent the length. */
export type OnProgress = (doneBytes: number, totalBytes: number | null) => void;

export interface DownloadOptions {
  /** Aborting ends the transfer with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** The type that the cloud's list has for the medium. A text is taken only for one that is announced as a text. */
  readonly contentType?: string | null | undefined;
}

/** A smaller chunk is gathered with others: to pause and go on after each of them would copy what has arrived each time. */
const smallBytes = 4 * 1024;
/** How much is gathered at most before it is passed on. */
const roomBytes = 64 * 1024;

/** What is to be downloaded, and how. */
interface DownloadRequest {
  readonly transport: Transport;
  readonly read: Read;
  readonly suggestedName: string;
  readonly options: DownloadOptions;
  readonly hold: Hold | undefined;
}

/**
 * Starts a download of any size; resolves with the headers of the first good response. The body fails when less than 1,000 bytes a second
 * have arrived for the transport's `timeoutMs`, or after three tries in a row that bring less than 1,000 bytes each; apart from that it has no
 * time limit.
 */
export function startDownload(
  transport: Transport,
  read: Read,
  suggestedName: string,
  options: DownloadOptions = {},
  hold?: Hold,
): Promise<Download> {
  return new Transfer({ transport, read, suggestedName, options, hold }, new DownloadTries()).start();
}

/**
 * One body over as many connections as it takes. It is continued after an interruption only if the peer identified the
 * exact bytes by a strong ETag and confirms them (RFC 9110, 13.1.5), so that a body never consists of parts of two
 * versions.
 */
class Transfer implements Receiver, Download {
  readonly body: Readable;
  contentType: string | null = null;
  contentLength: number | null = null;
  framing: Framing = "close";
  readonly suggestedName: string;
  readonly source: DownloadSource;
  readonly #request: DownloadRequest;
  readonly #peer: Peer;
  readonly #signals: readonly AbortSignal[];
  readonly #tries: DownloadTries;
  readonly #hold: TransferHold;
  readonly #head = Promise.withResolvers<Download>();
  /** Aborts when the transfer ends for any reason, such as the destruction of its body. */
  readonly #end = new AbortController();
  #flow: Flow | undefined;
  #etag: string | undefined;
  #hasHead = false;
  /** Bytes that were pushed into the body. */
  #bytes = 0;
  /** Bytes of the present response that the body already has, to be skipped. */
  #skip = 0;
  #retryAfterMs: number | undefined;
  /** The wait before a restart; undefined if a restart cannot help. */
  #restartAfterMs: number | undefined;
  /** Checks a body whose end is visible in its format only, or that is said to be compressed. */
  #content: ContentCheck | undefined;
  #coding: string | undefined;
  /** Undefined where a text is what was asked for. */
  readonly #watch: DocumentWatch | undefined;
  /** Whether the bytes are not those of the medium, so that they are no progress. */
  #isWorthless = false;
  /** Small chunks that were not passed on yet: the bytes of `memory` from `start` to `end`. */
  #room: { readonly memory: Buffer; start: number; end: number } | undefined;
  #isFlushDue = false;

  constructor(request: DownloadRequest, tries: DownloadTries) {
    const { read, suggestedName } = request;
    const { peer } = request.transport;
    this.#request = request;
    this.#peer = peer;
    this.#signals = request.transport.signals(request.options.signal);
    this.#tries = tries;
    this.#hold = new TransferHold(request.hold);
    this.suggestedName = suggestedName;
    this.#watch = isTextType(request.options.contentType) ? undefined : watchForDocument();
    this.source = {
      surface: peer.surface,
      operation: read.operation,
      host: peer.host,
      url: peer.origin + read.path,
    };
    this.body = new ReceivedBody({
      read: () => this.#flow?.resume(),
      destroy: (error, callback) => {
        // Without a reason, each download would create a DOMException with its stack.
        this.#end.abort("ended");
        callback(error);
      },
    });
    // A reader gets the failure from the stream; without a reader it must not end the process.
    this.body.on("error", () => undefined);
  }

  start(): Promise<Download> {
    const releaseSignals = abortWithAny(this.#signals, this.#end);
    void this.#run().finally(() => {
      releaseSignals();
      if (this.#restartAfterMs === undefined) {
        this.#hold.end();
      } else {
        this.#hold.endAfter(this.#request.transport.timeoutMs, this.#signals);
      }
    });
    return this.#head.promise;
  }

  async restart(): Promise<Download> {
    if (this.#restartAfterMs === undefined) {
      throw this.body.errored ?? this.#failure();
    }
    // It holds before this one lets go: what the hold keeps off would destroy what is requested again.
    const next = new Transfer(this.#request, this.#tries);
    this.#hold.end();
    await this.#pause(this.#restartAfterMs, this.#signals).catch((error: unknown) => {
      next.#hold.end();
      throw error;
    });
    return next.start();
  }

  async #run(): Promise<void> {
    const { transport, read } = this.#request;
    for (;;) {
      try {
        await transport.sendRead(read, this, {
          headers: this.#rangeHeaders(),
          limit: { kind: "stall", ms: transport.timeoutMs, since: this.#tries.lastByteAt },
          signal: this.#end.signal,
        });
        this.#complete();
        return;
      } catch (error) {
        const waitMs = this.body.destroyed
          ? undefined
          : this.#tries.next(
              error,
              this.#isWorthless ? 0 : this.#bytes,
              this.#retryAfterMs,
              transport.timeoutMs,
            );
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
    const { read } = this.#request;
    const peer = this.#peer;
    this.#flow = flow;
    this.#tries.lastByteAt = performance.now();
    this.#retryAfterMs = retryAfterOf(headers);
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
    if (this.contentLength !== null && this.#bytes + bytes.length > this.contentLength) {
      this.#refuseBody("responseLonger", { total: this.contentLength });
    }
    this.#bytes += bytes.length;
    this.#content?.update(bytes);
    if (this.#watch?.update(bytes) === false) {
      this.#refuseDocument(this.#watch.document());
    }
    this.#gather(bytes);
    this.#request.options.onProgress?.(this.#bytes, this.contentLength);
  }

  /** Passes on a chunk; small ones together, at the latest when the connection has nothing more at the moment. */
  #gather(bytes: Buffer): void {
    if (bytes.length >= smallBytes) {
      this.#flush();
      this.#pass(bytes);
      return;
    }
    this.#room ??= { memory: Buffer.allocUnsafeSlow(roomBytes), start: 0, end: 0 };
    if (this.#room.end + bytes.length > roomBytes) {
      this.#flush();
      this.#room = { memory: Buffer.allocUnsafeSlow(roomBytes), start: 0, end: 0 };
    }
    this.#room.end += bytes.copy(this.#room.memory, this.#room.end);
    if (!this.#isFlushDue) {
      this.#isFlushDue = true;
      setImmediate(() => {
        this.#isFlushDue = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    const room = this.#room;
    if (room !== undefined && room.end > room.start) {
      const bytes = room.memory.subarray(room.start, room.end);
      room.start = room.end;
      this.#pass(bytes);
    }
  }

  #pass(bytes: Buffer): void {
    if (!this.body.destroyed && !this.body.push(bytes)) {
      this.#flow?.pause();
    }
  }

  /** Handles the first good response: its headers apply to the whole download. */
  #begin(statusCode: number, headers: Headers): void {
    const { read } = this.#request;
    const peer = this.#peer;
    const { contentType, contentLength, framing, etag } = readDownloadHead(peer, read, statusCode, headers);
    this.contentType = contentType;
    this.contentLength = contentLength;
    this.framing = framing;
    this.#etag = etag;
    this.#coding = compressionOf(headers);
    if (framing === "close" || this.#coding !== undefined) {
      this.#content = new ContentCheck(framing === "close");
    }
    this.#hasHead = true;
    this.#head.resolve(this);
  }

  /** Handles a later response, which has to be of the same version and to continue the body. */
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

  /** The peer cannot continue the body: the bytes so far are of no use. */
  #refuseToResume(statusCode: number): never {
    this.#etag = undefined;
    throw callFailure(this.#peer, this.#request.read, "connectionLost", null, {}, { statusCode });
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
    const document = this.#watch?.document();
    if (document !== undefined) {
      this.#refuseDocument(document);
    }
    if (this.#coding !== undefined && this.#content?.found() === null) {
      throw callFailure(this.#peer, this.#request.read, "responseEncoded", null, {
        problem: verbatim(this.#coding),
      });
    }
    if (this.framing === "close") {
      this.#content?.refuseUnfinished(this.source);
    }
    this.#flush();
    this.body.push(null);
  }

  #refuseDocument(document: Document | undefined): never {
    const found = document ?? { kind: "text", text: "" };
    const problem = wordsOf(found, this.#peer.hide);
    this.#refuseBody("responseDocument", { what: phrase(nameOfDocument(found)), problem });
  }

  /** The bytes are not those of the medium: the next try begins with the first one. */
  #refuseBody(sentence: "responseDocument" | "responseLonger", values: Values): never {
    this.#etag = undefined;
    this.#isWorthless = true;
    throw callFailure(this.#peer, this.#request.read, sentence, null, values);
  }

  #fail(error: unknown): void {
    this.#head.reject(error);
    this.body.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  #failure(): Error {
    return callFailure(this.#peer, this.#request.read, "connectionLost", null);
  }

  #pause(waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    const { read } = this.#request;
    const peer = this.#peer;
    return wait(waitMs, signals, (sentence) => callFailure(peer, read, sentence, null));
  }
}

/** What the headers of a response say of the whole download. */
interface DownloadHead {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly framing: Framing;
  readonly etag: string | undefined;
}

/** A type as RFC 6838 allows it; anything else says nothing. */
const mediaType = /^[\w!#$&^.+*-]{1,127}\/[\w!#$&^.+*-]{1,127}$/;

/** Reads the head of the first response, which has to be for the whole body: throws for any other part. */
function readDownloadHead(peer: Peer, read: Read, statusCode: number, headers: Headers): DownloadHead {
  const range = readRange(headers);
  if (statusCode === 206 && range?.isWhole !== true) {
    refusePart(peer, read, headers);
  }
  const length = statusCode === 206 ? range?.total : headers["content-length"];
  const [type = ""] = String(headers["content-type"] ?? "").split(";", 1);
  const named = (peer.hide?.(type) ?? type).trim().toLowerCase();
  return {
    contentType: mediaType.test(named) ? named : null,
    contentLength: length === undefined ? null : Number(length),
    framing: framingOf(length !== undefined, headers),
    etag: strongEtag(headers),
  };
}

/** The ETag of a response, unless it is weak: only a strong one identifies the exact bytes (RFC 9110, 8.8.1). */
function strongEtag(headers: Headers): string | undefined {
  const etag = headers["etag"];
  return typeof etag === "string" && etag.startsWith('"') ? etag : undefined;
}

function framingOf(hasLength: boolean, headers: Headers): Framing {
  if (hasLength) {
    return "length";
  }
  return headers["transfer-encoding"] === undefined ? "close" : "chunked";
}

/** A try that brings less than this has failed, but for the first one: a byte with each connection would take for ever. */
const leastProgressBytes = 1_000;

/** Counts the tries of one download, including those of restarts. */
class DownloadTries {
  #failures = 0;
  /** The largest number of bytes that a try has reached: a try that reaches no more has failed. */
  #mostBytes = 0;
  /** When the last byte arrived, in `performance.now()`. */
  lastByteAt = performance.now();

  /** The wait before the next try; undefined if another try cannot help. */
  next(
    error: unknown,
    bytes: number,
    retryAfterMs: number | undefined,
    timeoutMs: number,
  ): number | undefined {
    const isFirst = this.#mostBytes === 0 && bytes > 0;
    this.#failures = isFirst || bytes >= this.#mostBytes + leastProgressBytes ? 0 : this.#failures + 1;
    this.#mostBytes = Math.max(this.#mostBytes, bytes);
    const waitMs = delayMs(readPolicy, Math.max(this.#failures, 1), retryAfterMs);
    const isLate = performance.now() + waitMs >= this.lastByteAt + timeoutMs;
    // A peer that has responded before and cannot be reached now may be restarting.
    const wasThere = this.#mostBytes > 0 && isDimensionerError(error) && error.code === "ERR_UNREACHABLE";
    const canHelp = (isTransient(error) || wasThere) && !isLate && this.#failures < readPolicy.tries;
    return canHelp ? waitMs : undefined;
  }
}

/** Called when a transfer begins; the returned function is called when it has ended. */
export type Hold = () => () => void;

/** The hold of one transfer. If the transfer fails, it is kept for a while, so that a restart can take its own in time. */
class TransferHold {
  #release: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(hold: Hold | undefined) {
    this.#release = hold?.();
  }

  /** Ends the hold; a second call does nothing. */
  end(): void {
    this.#stopWaiting?.();
    this.#release?.();
    this.#release = undefined;
  }

  /** Ends the hold after a time or when one of the signals aborts, unless it ends before. */
  endAfter(ms: number, signals: readonly AbortSignal[]): void {
    if (this.#release === undefined) {
      return;
    }
    const end = (): void => this.end();
    const controller = new AbortController();
    const release = abortWithAny(signals, controller);
    const timer = setTimeout(end, ms);
    this.#stopWaiting = () => {
      clearTimeout(timer);
      release();
    };
    controller.signal.addEventListener("abort", end);
    if (controller.signal.aborted) {
      end();
    }
  }
}
