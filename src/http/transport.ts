import { setMaxListeners } from "node:events";
import { AnswerReceiver, type Answer } from "./answer.ts";
import type { Call, Command, Peer, Read } from "./call.ts";
import type { CommandQueues } from "./command-queue.ts";
import { openConnections, type Connections, type TlsOptions } from "./connections.ts";
import { exchange, type Receiver, type TimeLimit } from "./exchange.ts";
import { callFailure, outcomeOf } from "./failures.ts";

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
  /** Blank: no proxy. The environment is never asked here. */
  readonly proxyUrl?: string | undefined;
}

export interface CallOptions {
  /** Aborting ends the call with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

export interface CommandOptions extends CallOptions {
  /** Aborting drops the command only while it waits for its turn. */
  readonly waitSignal?: AbortSignal | undefined;
  /** Told when the command has to wait, with how many wait then. */
  readonly onWaiting?: ((count: number) => void) | undefined;
  /** Told when its turn has come. */
  readonly onTurn?: (() => void) | undefined;
}

/** How one request is sent. */
export interface RequestOptions {
  readonly limit: TimeLimit;
  readonly signal: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Which machine a command is for, and whether it would destroy the video that the machine keeps. */
export interface Target {
  readonly machine: string;
  readonly sparesVideo?: boolean;
}

const longestConnectMs = 10_000;
/** One for all: what a call goes through is what a thousand devices have to keep at hand. */
const anyBody = { accept: "*/*", "accept-encoding": "identity" };

/** The one way to a peer: owns its connections and its deadline, and the rules for commands. */
export class Transport {
  readonly peer: Peer;
  readonly timeoutMs: number;
  readonly #options: TransportOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connectMs: number;
  readonly #closing = new AbortController();
  /** Opened by the first call that needs one: a config node that nobody uses costs no pool. Null once closed. */
  #open: { commands?: Connections; reads?: Connections } | null = {};

  constructor(options: TransportOptions) {
    this.peer = options.peer;
    this.timeoutMs = options.timeoutMs;
    this.#options = options;
    this.#headers = options.headers === undefined ? anyBody : { ...anyBody, ...options.headers };
    this.#connectMs = Math.min(longestConnectMs, options.timeoutMs);
    setMaxListeners(0, this.#closing.signal);
  }

  /** What ends a wait before or between calls: the transport's own closing, and these. */
  signals(...given: readonly (AbortSignal | undefined)[]): readonly AbortSignal[] {
    return [this.#closing.signal, ...given.filter((signal) => signal !== undefined)];
  }

  /** Sends a command when its machine's queue says that its turn has come; once, whatever happens. */
  async send(command: Command, target: Target, options: CommandOptions = {}): Promise<Answer> {
    const { signal, waitSignal, onWaiting, onTurn } = options;
    const { queues, queueLimit, maxWaitMs } = this.#options;
    const release = await queues.of(target.machine).take({
      sparesVideo: target.sparesVideo ?? false,
      howToWait: () => ({
        queueLimit,
        maxWaitMs,
        onWaiting,
        signals: this.signals(signal, waitSignal),
        fail: (sentence, values) => callFailure(this.peer, command, sentence, "not-sent", values),
      }),
    });
    try {
      onTurn?.();
      const receiver = new AnswerReceiver(this.peer, command);
      const limit = { kind: "deadline", ms: this.timeoutMs } as const;
      await this.#exchange("commands", command, receiver, { limit, signal });
      return receiver.answer();
    } finally {
      release();
    }
  }

  /** Sends a read, once; who repeats it decides when. */
  ask(read: Read, receiver: Receiver, how: RequestOptions): Promise<void> {
    return this.#exchange("reads", read, receiver, how);
  }

  /** Ends all that runs with ERR_CANCELLED and every connection with it. Calls made afterwards fail the same way. */
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
    return exchange(this.peer, call, receiver, {
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
