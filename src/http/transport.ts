import { setMaxListeners } from "node:events";
import type { ByteSink, DownloadFacts } from "../model/download.ts";
import { AnswerReceiver, type Answer } from "./answer.ts";
import type { Call, Command, Peer, Read } from "./call.ts";
import { openDispatcher, type OpenDispatcher, type TlsOptions } from "./dispatchers.ts";
import { DownloadReceiver, type OnProgress } from "./download.ts";
import { exchange } from "./exchange.ts";
import { callFailure, outcomeOf } from "./failures.ts";
import { delayMs, isPassing, readPolicy } from "./repeat.ts";
import { wait } from "./wait.ts";

export interface TransportOptions {
  readonly peer: Peer;
  /** Deadline of a call; for downloads the longest time without a byte. */
  readonly timeoutMs: number;
  /** Sent with every request, to this peer's origin only. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsOptions | undefined;
  /** Blank: no proxy. The environment is never asked here. */
  readonly proxyUrl?: string | undefined;
}

export interface CallOptions {
  /** Aborting ends the call with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

const longestConnectMs = 10_000;
/** One for all: what a call goes through is what a thousand devices have to keep at hand. */
const anyBody = { accept: "*/*", "accept-encoding": "identity" };

/** The one way to a peer: owns its connections, its deadline and the rules for commands and reads. */
export class Transport {
  readonly peer: Peer;
  readonly timeoutMs: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #route: { tls: TlsOptions | undefined; proxyUrl: string | undefined };
  readonly #connectMs: number;
  readonly #closing = new AbortController();
  /** Opened by the first call that needs one: a config node that nobody uses costs no pool. Null once closed. */
  #open: { commands?: OpenDispatcher; reads?: OpenDispatcher } | null = {};

  constructor(options: TransportOptions) {
    this.peer = options.peer;
    this.timeoutMs = options.timeoutMs;
    this.#headers = options.headers === undefined ? anyBody : { ...anyBody, ...options.headers };
    this.#route = { tls: options.tls, proxyUrl: options.proxyUrl };
    this.#connectMs = Math.min(longestConnectMs, options.timeoutMs);
    setMaxListeners(0, this.#closing.signal);
  }

  /** What ends a wait before or between calls: the transport's own closing, and these. */
  signals(...given: readonly (AbortSignal | undefined)[]): readonly AbortSignal[] {
    return [this.#closing.signal, ...given.filter((signal) => signal !== undefined)];
  }

  /** Sends a command, once, whatever happens. */
  async send(command: Command, options: CallOptions = {}): Promise<Answer> {
    const receiver = new AnswerReceiver(this.peer, command);
    await exchange(this.peer, command, receiver, {
      connections: this.#connections("commands", command),
      headers: this.#headers,
      limit: { kind: "deadline", ms: this.timeoutMs },
      connectMs: this.#connectMs,
      signal: options.signal,
    });
    return receiver.answer();
  }

  /** Reads, again where that can help, within one deadline. */
  async read(read: Read, options: CallOptions = {}): Promise<Answer> {
    const since = performance.now();
    for (let failures = 1; ; failures++) {
      const receiver = new AnswerReceiver(this.peer, read);
      try {
        await exchange(this.peer, read, receiver, {
          connections: this.#connections("reads", read),
          headers: this.#headers,
          limit: { kind: "deadline", ms: this.timeoutMs, since },
          connectMs: this.#connectMs,
          signal: options.signal,
        });
        return receiver.answer();
      } catch (error) {
        const waitMs = delayMs(readPolicy, failures, receiver.retryAfterMs);
        const isLate = performance.now() + waitMs >= since + this.timeoutMs;
        if (failures >= readPolicy.tries || isLate || !isPassing(error)) {
          throw error;
        }
        await this.#pause(waitMs, read, options);
      }
    }
  }

  /**
   * Brings a body of any size into the sink. It ends when no byte has come for `timeoutMs`, or after three tries in a
   * row that brought nothing new, and is otherwise unbounded.
   */
  async download(
    read: Read,
    sink: ByteSink,
    options: CallOptions & { onProgress?: OnProgress | undefined } = {},
  ): Promise<DownloadFacts> {
    const receiver = new DownloadReceiver(this.peer, read, sink, options.onProgress);
    for (let failures = 0; ;) {
      const headers = receiver.prepare();
      try {
        await exchange(this.peer, read, receiver, {
          connections: this.#connections("reads", read),
          headers: { ...this.#headers, ...headers },
          limit: { kind: "stall", ms: this.timeoutMs, since: receiver.lastByteAt },
          connectMs: this.#connectMs,
          signal: options.signal,
        });
        return receiver.facts();
      } catch (error) {
        failures = receiver.tookProgress() ? 0 : failures + 1;
        const waitMs = delayMs(readPolicy, Math.max(failures, 1), receiver.retryAfterMs);
        const isLate = performance.now() + waitMs >= receiver.lastByteAt + this.timeoutMs;
        if (failures >= readPolicy.tries || isLate || !(isPassing(error) || receiver.canRejoin(error))) {
          throw error;
        }
        await this.#pause(waitMs, read, options);
      }
    }
  }

  /** Lets some time pass before the next try. */
  #pause(waitMs: number, read: Read, { signal }: CallOptions): Promise<void> {
    return wait(waitMs, this.signals(signal), (sentence) => callFailure(this.peer, read, sentence, null));
  }

  /** Ends all that runs with ERR_CANCELLED and every connection with it. Calls made afterwards fail the same way. */
  async close(): Promise<void> {
    this.#closing.abort();
    const open = Object.values(this.#open ?? {});
    this.#open = null;
    await Promise.all(open.map((connections) => connections.destroy()));
  }

  #connections(use: "commands" | "reads", call: Call): OpenDispatcher {
    if (this.#open === null) {
      throw callFailure(this.peer, call, "cancelledClose", outcomeOf(call, "not-sent"));
    }
    return (this.#open[use] ??= openDispatcher(use, {
      origin: this.peer.origin,
      connectMs: this.#connectMs,
      ...this.#route,
    }));
  }
}
