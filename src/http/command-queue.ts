import type { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { cancelSentence, follow } from "./retry.ts";

/** How long and how one command may wait. */
export interface Wait {
  /** How many may wait in this queue, this one counted; 0: none. */
  readonly queueLimit: number;
  /** Longest wait; 0: no limit. */
  readonly maxWaitMs: number;
  /** Aborting one of them drops the command while it waits; the reason "reset" says so in the error. */
  readonly signals: readonly AbortSignal[];
  /** Told when the command has to wait, with how many wait then. */
  readonly onWaiting?: ((count: number) => void) | undefined;
  readonly fail: (sentence: SentenceKey, values: Values) => DimensionerError;
}

/** What a command asks of its queue. */
export interface Turn {
  /** A command that would destroy the saved video waits until no transfer of it runs. */
  readonly sparesVideo: boolean;
  /** Asked only if the command has to wait: few do. */
  readonly howToWait: () => Wait;
}

interface Entry {
  readonly turn: Turn;
  readonly start: () => void;
}

/** The commands to one machine: first in, first out, one in flight. */
class CommandQueue {
  readonly #waiting: Entry[] = [];
  readonly #onIdle: () => void;
  #isBusy = false;
  #transfers = 0;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** Waits for the command's turn; what it returns has to be called when the command has ended. */
  async take(turn: Turn): Promise<() => void> {
    if (this.#mayStart(turn)) {
      this.#isBusy = true;
    } else {
      await this.#wait(turn, turn.howToWait());
    }
    return () => {
      this.#isBusy = false;
      this.#startNext();
    };
  }

  /** Says that the saved video is being transferred; call what it returns when that has ended. */
  holdVideo(): () => void {
    this.#transfers++;
    return () => {
      this.#transfers--;
      this.#startNext();
    };
  }

  #mayStart(turn: Turn): boolean {
    return !this.#isBusy && !(turn.sparesVideo && this.#transfers > 0);
  }

  async #wait(turn: Turn, { queueLimit, maxWaitMs, signals, onWaiting, fail }: Wait): Promise<void> {
    if (this.#waiting.length >= queueLimit) {
      throw fail("queueFull", { limit: queueLimit });
    }
    // Told first: if that throws, nothing has begun to wait.
    onWaiting?.(this.#waiting.length + 1);
    const controller = new AbortController();
    const { signal } = controller;
    const release = follow(signals, controller);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        clearTimeout(timer);
        release();
      };
      const drop = (): void => {
        leave();
        reject(fail(cancelSentence(signal), {}));
      };
      const expire = (): void => {
        leave();
        reject(fail("expired", { seconds: maxWaitMs / 1000 }));
      };
      const entry: Entry = {
        turn,
        start: () => {
          leave();
          resolve();
        },
      };
      const timer = maxWaitMs > 0 ? setTimeout(expire, maxWaitMs) : undefined;
      this.#waiting.push(entry);
      signal.addEventListener("abort", drop);
      if (signal.aborted) {
        drop();
      }
    });
  }

  /** Starts the first that may go: only commands that spare the video let others pass. */
  #startNext(): void {
    const next = this.#waiting.find((entry) => this.#mayStart(entry.turn));
    if (next !== undefined) {
      // Taken at once, so that nothing slips in before the promise of its wait has settled.
      this.#isBusy = true;
      next.start();
    } else if (!this.#isBusy && this.#waiting.length === 0 && this.#transfers === 0) {
      this.#onIdle();
    }
  }
}

/**
 * The queues of all machines, by the machine's address. Whoever may command the same machine has to share one: the
 * nodes share one a runtime, users of the library pass one to their clients. An idle machine has no queue.
 */
export class CommandQueues {
  readonly #queues = new Map<string, CommandQueue>();

  /** Machines that are busy now. */
  get size(): number {
    return this.#queues.size;
  }

  of(machine: string): CommandQueue {
    let queue = this.#queues.get(machine);
    if (queue === undefined) {
      queue = new CommandQueue(() => this.#queues.delete(machine));
      this.#queues.set(machine, queue);
    }
    return queue;
  }
}
