import type { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { abortWithAny, cancelSentence } from "./retry.ts";

/** How a command waits in the queue. */
export interface WaitOptions {
  /** How many commands may wait in this queue, this one included; 0: none. */
  readonly queueLimit: number;
  /** Longest wait; 0: no limit. */
  readonly maxWaitMs: number;
  /** Aborting one of these removes the command while it waits; the reason "reset" selects the error's sentence. */
  readonly signals: readonly AbortSignal[];
  /** Called when the command has to wait, with the number of waiting commands. */
  readonly onWaiting?: ((count: number) => void) | undefined;
  readonly fail: (sentence: SentenceKey, values: Values) => DimensionerError;
}

/** What a queue has to know of a command. */
export interface QueueRequest {
  /** One that `destroys` the saved video waits while that is downloaded; others overtake it, but not one that `ends` a recording. */
  readonly video: "destroys" | "ends" | undefined;
  /** Called only if the command has to wait, which is rare. */
  readonly waitOptions: () => WaitOptions;
}

interface Entry {
  readonly request: QueueRequest;
  /** Its wait ends at this time of `performance`. */
  readonly until: number;
  readonly start: () => void;
  readonly expire: () => void;
}

/** The commands to one device: first in, first out, and one at a time. */
class CommandQueue {
  readonly #waiting: Entry[] = [];
  readonly #onIdle: () => void;
  #isBusy = false;
  #transfers = 0;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** Waits for the command's turn. Returns a function to be called when the command has ended. */
  async waitForTurn(request: QueueRequest): Promise<() => void> {
    if (this.#mayStart(request)) {
      this.#isBusy = true;
    } else {
      await this.#wait(request, request.waitOptions());
    }
    return () => {
      this.#isBusy = false;
      this.#startNext();
    };
  }

  /** Marks the saved video as being downloaded. Returns a function to be called when the download has ended. */
  holdVideo(): () => void {
    this.#transfers++;
    return () => {
      this.#transfers--;
      this.#startNext();
    };
  }

  #mayStart({ video }: QueueRequest, before: readonly Entry[] = this.#waiting): boolean {
    const overtakes = video === "ends" && before.some(({ request }) => request.video === "destroys");
    return !this.#isBusy && !overtakes && !(video === "destroys" && this.#transfers > 0);
  }

  async #wait(request: QueueRequest, options: WaitOptions): Promise<void> {
    const { queueLimit, maxWaitMs, signals, onWaiting, fail } = options;
    if (this.#waiting.length >= queueLimit) {
      throw fail("queueFull", { limit: queueLimit });
    }
    // Called first: if it throws, the command is not in the queue yet.
    onWaiting?.(this.#waiting.length + 1);
    const controller = new AbortController();
    const { signal } = controller;
    const release = abortWithAny(signals, controller);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        clearTimeout(timer);
        release();
      };
      const end = (sentence: SentenceKey, values: Values = {}): void => {
        leave();
        reject(fail(sentence, values));
        // Others may have waited for this one only. Not at once: what ends this wait may be about to end theirs.
        queueMicrotask(() => this.#waiting.length > 0 && this.#startNext());
      };
      const drop = (): void => end(cancelSentence(signal));
      const expire = (): void => end("expired", { seconds: maxWaitMs / 1000 });
      const start = (): void => {
        leave();
        resolve();
      };
      const until = maxWaitMs > 0 ? performance.now() + maxWaitMs : Infinity;
      const entry: Entry = { request, until, start, expire };
      const timer = maxWaitMs > 0 ? setTimeout(expire, maxWaitMs) : undefined;
      this.#waiting.push(entry);
      signal.addEventListener("abort", drop);
      if (signal.aborted) {
        drop();
      }
    });
  }

  /** Starts the first command that may start. When the process was held up, this comes before the timers of those that expire. */
  #startNext(): void {
    this.#waiting.filter(({ until }) => until <= performance.now()).forEach(({ expire }) => expire());
    const next = this.#waiting.find(({ request }, at, all) => this.#mayStart(request, all.slice(0, at)));
    if (next !== undefined) {
      // Marked as busy at once, so that no other command starts before the promise has settled.
      this.#isBusy = true;
      next.start();
    } else if (!this.#isBusy && this.#waiting.length === 0 && this.#transfers === 0) {
      this.#onIdle();
    }
  }
}

/**
 * The queues of all devices, by device key. All clients that may command the same device have to share one of these:
 * the nodes share one in each runtime, users of the library pass one to their clients. An idle device has no queue.
 */
export class CommandQueues {
  readonly #queues = new Map<string, CommandQueue>();

  /** How many devices have a queue now. */
  get size(): number {
    return this.#queues.size;
  }

  of(deviceKey: string): CommandQueue {
    let queue = this.#queues.get(deviceKey);
    if (queue === undefined) {
      queue = new CommandQueue(() => this.#queues.delete(deviceKey));
      this.#queues.set(deviceKey, queue);
    }
    return queue;
  }
}
