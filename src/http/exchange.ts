import type { Dispatcher } from "undici";
import { phrase } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { afterLimit } from "../time/after-limit.ts";
import type { Call, Peer } from "./call.ts";
import type { Connections } from "./connections.ts";
import { type RequestProgress, callFailure, connectFailure, outcomeOf, wireFailure } from "./failures.ts";

/** Header fields of a response, with lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Lets the receiver pause and resume the response. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Ends the exchange within this time, whatever its limit is: the rest is of little use. */
  endWithin(ms: number): void;
}

/** Receives one response. What it throws ends the exchange. */
export interface Receiver {
  onHead(statusCode: number, headers: Headers, flow: Flow): void;
  onData(chunk: Buffer): void;
}

/**
 * `deadline`: the whole exchange ends within `ms`. `stall`: in each time of `ms`, as much arrives as a second of the slowest line brings
 * (`leastBytesPerSecond`), because a peer that sends a byte now and then would hold a download for ever; time in which the receiver has
 * paused counts as well, so that a hanging disk cannot hide a hanging peer.
 */
export interface TimeLimit {
  readonly kind: "deadline" | "stall";
  readonly ms: number;
  /** The start of the limit in `performance.now()`; now if it is not given. */
  readonly since?: number;
}

/** The slowest lines bring eight times as much. */
const leastBytesPerSecond = 1_000;

/** How many provisional responses (1xx) a request may be sent: each costs work, and a server could go on for as long as it is waited for. */
export const mostProvisional = 100;

export interface ExchangeOptions {
  readonly connections: Connections;
  readonly headers: Readonly<Record<string, string>>;
  readonly limit: TimeLimit;
  /** Longest time for making a connection. */
  readonly connectMs: number;
  /** Aborting it ends the exchange with ERR_CANCELLED, as closing its connections does. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request on one connection, without any repetition, and receives its response. Resolves when the whole body
 * was passed to the receiver. Whether anything was sent is decided when undici writes the request: `onRequestStart` is
 * called right before that, and aborts an exchange that has ended by then, or whose time has passed, unsent.
 */
export function exchange(
  peer: Peer,
  call: Call,
  receiver: Receiver,
  options: ExchangeOptions,
): Promise<void> {
  return new Exchange(peer, call, receiver, options).start();
}

/** The length that is announced; null if there is none, or not exactly one. */
function lengthOf({ "content-length": length, "transfer-encoding": coding }: Headers): number | null {
  const isOne = coding === undefined && typeof length === "string" && /^\d{1,15}$/.test(length);
  return isOne ? Number(length) : null;
}

/** More connections than a pool usually keeps idle; each of them may turn out to be closed. */
const mostDeadConnections = 64;

class Exchange implements Dispatcher.DispatchHandler, Flow {
  readonly #peer: Peer;
  readonly #call: Call;
  readonly #receiver: Receiver;
  readonly #options: ExchangeOptions;
  readonly #end = Promise.withResolvers<void>();
  readonly #onAbort = (): void => this.#endWith("cancelledClose");
  #controller: Dispatcher.DispatchController | undefined;
  #stopTimer = (): void => undefined;
  #progress: RequestProgress = "not-sent";
  #ended = false;
  #paused = false;
  #deadConnections = 0;
  /** When the exchange ends, in `performance.now()`, even if its limit has not passed. */
  #endsAt = Infinity;
  #provisional = 0;
  #received = 0;
  #announced: number | null = null;
  /** The start of the limit: the start of the exchange, or for a stall limit when enough had arrived the last time. */
  #since: number;
  /** What has arrived since then. */
  #sinceBytes = 0;

  constructor(peer: Peer, call: Call, receiver: Receiver, options: ExchangeOptions) {
    this.#peer = peer;
    this.#call = call;
    this.#receiver = receiver;
    this.#options = options;
    this.#since = options.limit.since ?? performance.now();
  }

  start(): Promise<void> {
    const { connectMs, signal } = this.#options;
    if (signal?.aborted === true) {
      this.#endWith("cancelledClose");
      return this.#end.promise;
    }
    signal?.addEventListener("abort", this.#onAbort);
    this.#stopTimer = afterLimit(Math.max(1, Math.min(this.#leftMs(), connectMs)), this.#onTimer);
    this.#dispatch();
    return this.#end.promise;
  }

  #dispatch(): void {
    const { connections, headers } = this.#options;
    const { path, query, method } = this.#call;
    const body = this.#call.acts ? null : (this.#call.body ?? null);
    connections.dispatcher.dispatch(
      {
        origin: this.#peer.origin,
        path: query === "" ? path : `${path}?${query}`,
        method,
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#leftMs() <= 0) {
      this.#endWith("unreachableSilent", this.#connectSeconds());
    }
    if (this.#ended) {
      controller.abort(new Error("ended before it was sent"));
      return;
    }
    this.#controller = controller;
    this.#progress = "sent";
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: Headers): void {
    this.#provisional += 1;
    if (statusCode < 200 && this.#provisional > mostProvisional) {
      const outcome = outcomeOf(this.#call, this.#progress);
      const problem = phrase("manyProvisional", { most: mostProvisional });
      this.#fail(callFailure(this.#peer, this.#call, "responseBroken", outcome, { problem }));
    }
    if (statusCode >= 200) {
      this.#announced = lengthOf(headers);
      this.#goesOn();
      this.#take(() => this.#receiver.onHead(statusCode, headers, this));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // When a connection ends, undici may deliver an empty chunk.
    if (chunk.length > 0) {
      this.#received += chunk.length;
      this.#sinceBytes += chunk.length;
      if (this.#sinceBytes * 1_000 >= leastBytesPerSecond * this.#options.limit.ms) {
        this.#goesOn();
      }
      this.#take(() => this.#receiver.onData(chunk));
    }
  }

  onResponseEnd(): void {
    if (!this.#ended) {
      this.#finish();
      this.#end.resolve();
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { connections } = this.#options;
    if (this.#ended) {
      return;
    }
    if (connections.isClosed) {
      this.#endWith("cancelledClose");
    } else if (this.#progress === "sent") {
      const received = { bytes: this.#received, announced: this.#announced };
      this.#fail(wireFailure(this.#peer, this.#call, error, received));
    } else if (!connections.couldNotConnect(error) && ++this.#deadConnections <= mostDeadConnections) {
      // An idle connection turned out to be closed. Nothing was written, so the request is still sent only once.
      this.#dispatch();
    } else {
      this.#fail(connectFailure(this.#peer, this.#call, error, this.#connectSeconds()));
    }
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }

  endWithin(ms: number): void {
    this.#endsAt = performance.now() + ms;
    this.#stopTimer();
    this.#stopTimer = afterLimit(Math.max(1, Math.min(ms, this.#leftMs())), this.#onTimer);
  }

  #fail(error: Error): void {
    if (!this.#ended) {
      this.#finish();
      this.#end.reject(error);
      this.#controller?.abort(error);
    }
  }

  /** Begins the limit anew, if it is one for a stall. */
  #goesOn(): void {
    if (this.#options.limit.kind === "stall") {
      this.#since = performance.now();
      this.#sinceBytes = 0;
    }
  }

  #take(receive: () => void): void {
    if (this.#ended) {
      return;
    }
    try {
      receive();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #finish(): void {
    this.#ended = true;
    this.#stopTimer();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }

  /** The one timer: it fires at the earliest time at which the limit can have passed, and compares the clock. */
  readonly #onTimer = (): void => {
    if (this.#progress === "not-sent") {
      this.#endWith("unreachableSilent", this.#connectSeconds());
      return;
    }
    const leftMs = this.#leftMs();
    if (leftMs > 1) {
      this.#stopTimer = afterLimit(leftMs, this.#onTimer);
      return;
    }
    const { kind, ms } = this.#options.limit;
    const stalled = this.#paused ? "fileStalled" : "stalled";
    this.#endWith(kind === "stall" ? stalled : "timeout", ms / 1000);
  };

  #leftMs(): number {
    return Math.min(this.#since + this.#options.limit.ms, this.#endsAt) - performance.now();
  }

  #connectSeconds(): number {
    return Math.min(this.#options.limit.ms, this.#options.connectMs) / 1000;
  }

  #endWith(sentence: SentenceKey, seconds = 0): void {
    const outcome = outcomeOf(this.#call, this.#progress);
    this.#fail(callFailure(this.#peer, this.#call, sentence, outcome, { seconds }));
  }
}
