import { PeerClock } from "../time/clocks.ts";
import type { Call, Command, Peer, Read } from "./call.ts";
import type { CommandQueues, QueueRequest } from "./command-queue.ts";
import { type Connections, type TlsOptions, openConnections } from "./connections.ts";
import { type Receiver, type TimeLimit, exchange } from "./exchange.ts";
import { callFailure, outcomeOf } from "./failures.ts";
import { type HttpResponse, ResponseReceiver } from "./response.ts";
import { delayMs, isTransient, readPolicy, wait } from "./retry.ts";

/** How the commands of one client wait. */
export interface QueueRules {
  /** How many may wait; 0: none. 10 where it is not given. */
  readonly queueLimit: number;
  /** Longest wait in milliseconds; 0: no limit. 30,000 where it is not given. */
  readonly maxWaitMs: number;
}

export const defaultQueueRules: QueueRules = { queueLimit: 10, maxWaitMs: 30_000 };

export interface TransportOptions extends QueueRules {
  readonly peer: Peer;
  /** Deadline of a call; for downloads the longest time without a byte. */
  readonly timeoutMs: number;
  readonly queues: CommandQueues;
  /** Sent with every request, to this peer's origin only. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsOptions | undefined;
  /** Blank: no proxy. The environment's proxy variables are not used here. */
  readonly proxyUrl?: string | undefined;
}

export interface CallOptions {
  /** Aborting ends the call with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

export interface CommandOptions extends CallOptions {
  /** Aborting removes the command only while it waits in the queue. */
  readonly waitSignal?: AbortSignal | undefined;
  /** Called when the command has to wait, with the number of waiting commands. */
  readonly onWaiting?: ((count: number) => void) | undefined;
  /** Called when the command is about to be sent. If a promise is returned, it is sent when that has resolved. */
  readonly onTurn?: (() => unknown) | undefined;
}

/** How one request is sent. */
export interface RequestOptions {
  readonly limit: TimeLimit;
  readonly signal: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The device that a command is for, and what the command does to a video there. */
export interface ForDevice {
  readonly deviceKey: string;
  readonly video?: QueueRequest["video"];
}

const longestConnectMs = 10_000;
/** A single object for all clients, because a thousand devices would need memory for a thousand. */
const anyBody = { accept: "*/*", "accept-encoding": "identity" };

/** The one way to a peer: owns its connections and its deadline, and the rules for commands. */
export class Transport {
  readonly peer: Peer;
  readonly timeoutMs: number;
  /** What each answer says of the peer's clock. */
  readonly clock = new PeerClock();
  readonly #options: TransportOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connectMs: number;
  readonly #closing = new AbortController();
  /** The pools, each opened by the first call that needs it: an unused config node costs none. Null once closed. */
  #open: { commands?: Connections; reads?: Connections } | null = {};

  constructor(options: TransportOptions) {
    this.peer = options.peer;
    this.timeoutMs = options.timeoutMs;
    this.#options = options;
    this.#headers = options.headers === undefined ? anyBody : { ...anyBody, ...options.headers };
    this.#connectMs = Math.min(longestConnectMs, options.timeoutMs);
  }

  /** The signals that end a wait before or between calls: the close of this transport, and the given ones. */
  signals(...given: readonly (AbortSignal | undefined)[]): readonly AbortSignal[] {
    return [this.#closing.signal, ...given.filter((signal) => signal !== undefined)];
  }

  /** Sends a command when it is its turn in the device's queue; at most once, whatever happens. */
  async sendCommand(
    command: Command,
    target: ForDevice,
    options: CommandOptions = {},
  ): Promise<HttpResponse> {
    const { signal, waitSignal, onWaiting, onTurn } = options;
    const { queues, queueLimit, maxWaitMs } = this.#options;
    const release = await queues.of(target.deviceKey).waitForTurn({
      video: target.video,
      waitOptions: () => ({
        queueLimit,
        maxWaitMs,
        onWaiting,
        signals: this.signals(signal, waitSignal),
        fail: (sentence, values) => callFailure(this.peer, command, sentence, "not-sent", values),
      }),
    });
    try {
      const ready = onTurn?.();
      if (ready instanceof Promise) {
        await ready;
      }
      const receiver = new ResponseReceiver(this.peer, command);
      const limit = { kind: "deadline", ms: this.timeoutMs } as const;
      try {
        await this.#exchange("commands", command, receiver, { limit, signal });
        return receiver.response();
      } catch (error) {
        throw receiver.explain(error);
      }
    } finally {
      release();
    }
  }

  /** Sends a read once. The caller decides whether to repeat it. */
  sendRead(read: Read, receiver: Receiver, how: RequestOptions): Promise<void> {
    return this.#exchange("reads", read, receiver, how);
  }

  /** Aborts all calls with ERR_CANCELLED and closes every connection. Later calls fail in the same way. */
  async close(): Promise<void> {
    this.#closing.abort();
    const open = Object.values(this.#open ?? {});
    this.#open = null;
    await Promise.all(open.map((connections) => connections.destroy()));
  }

  #exchange(
    use: "commands" | "reads",
    call: Call,
    receiver: Receiver,
    { limit, signal, headers }: RequestOptions,
  ): Promise<void> {
    const listening: Receiver = {
      onHead: (statusCode, head, flow) => {
        this.clock.note(head);
        receiver.onHead(statusCode, head, flow);
      },
      onData: (chunk) => receiver.onData(chunk),
    };
    return exchange(this.peer, call, listening, {
      connections: this.#connections(use, call),
      headers: headers === undefined ? this.#headers : { ...this.#headers, ...headers },
      limit,
      connectMs: this.#connectMs,
      signal,
    });
  }

  #connections(use: "commands" | "reads", call: Call): Connections {
    if (this.#open === null) {
      throw callFailure(this.peer, call, "cancelledClose", outcomeOf(call, "not-sent"));
    }
    const { tls, proxyUrl } = this.#options;
    return (this.#open[use] ??= openConnections(use, {
      origin: this.peer.origin,
      connectMs: this.#connectMs,
      tls,
      proxyUrl,
    }));
  }
}

/** Sends a read, and repeats it within one deadline if that can help. */
export async function readResponse(
  transport: Transport,
  read: Read,
  { signal }: CallOptions = {},
): Promise<HttpResponse> {
  const { peer, timeoutMs } = transport;
  const since = performance.now();
  for (let failures = 1; ; failures++) {
    const receiver = new ResponseReceiver(peer, read);
    try {
      await transport.sendRead(read, receiver, { limit: { kind: "deadline", ms: timeoutMs, since }, signal });
      return receiver.response();
    } catch (error) {
      const waitMs = delayMs(readPolicy, failures, receiver.retryAfterMs);
      const isLate = performance.now() + waitMs >= since + timeoutMs;
      if (failures >= readPolicy.tries || isLate || !isTransient(error)) {
        throw error;
      }
      await wait(waitMs, transport.signals(signal), (sentence) => callFailure(peer, read, sentence, null));
    }
  }
}
