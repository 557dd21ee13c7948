import type { Answer } from "./answer.ts";
import type { Command } from "./call.ts";
import type { CommandQueues, Turn, Wait } from "./command-queue.ts";
import { callFailure } from "./failures.ts";
import type { Transport } from "./transport.ts";

/** How the commands of one config node wait. */
export interface QueueRules {
  /** How many may wait; 0: none. */
  readonly queueLimit: number;
  /** Longest wait in milliseconds; 0: no limit. */
  readonly maxWaitMs: number;
}

export const defaultQueueRules: QueueRules = { queueLimit: 10, maxWaitMs: 30_000 };

export interface CommandOptions {
  /** Aborting drops the command, and ends it when it is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Aborting drops the command only while it waits for its turn. */
  readonly waitSignal?: AbortSignal | undefined;
  /** Told when the command has to wait, with how many wait then. */
  readonly onWaiting?: ((count: number) => void) | undefined;
  /** Told when its turn has come. */
  readonly onTurn?: (() => void) | undefined;
}

/** Sends commands through a transport, each when its machine's queue says that its turn has come. */
export class CommandSender {
  readonly #transport: Transport;
  readonly #queues: CommandQueues;
  readonly #rules: QueueRules;

  constructor(transport: Transport, queues: CommandQueues, rules: QueueRules) {
    this.#transport = transport;
    this.#queues = queues;
    this.#rules = rules;
  }

  send(
    machine: string,
    command: Command,
    options: CommandOptions & Partial<Pick<Turn, "sparesVideo">>,
  ): Promise<Answer> {
    const { signal, waitSignal, onWaiting, onTurn, sparesVideo = false } = options;
    const howToWait = (): Wait => ({
      ...this.#rules,
      onWaiting,
      signals: this.#transport.signals(signal, waitSignal),
      fail: (sentence, values) => callFailure(this.#transport.peer, command, sentence, "not-sent", values),
    });
    return this.#queues.of(machine).run({ sparesVideo, howToWait }, () => {
      onTurn?.();
      return this.#transport.send(command, { signal });
    });
  }
}
