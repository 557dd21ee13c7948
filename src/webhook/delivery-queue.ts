/** The receiver of the items. */
export interface Target<T> {
  /** Delivers one item; `waiting` others are behind it. */
  deliver(item: T, waiting: number): void;
  /** Returns the items of the last turn that have to be delivered again. */
  unreached(items: readonly T[]): readonly T[];
}

interface Queued<T> {
  readonly item: T;
  readonly bytes: number;
}

/** How long one turn of the event loop may take to deliver items, including what follows from them. */
const longestTurnMs = 8;
const largestBatch = 256;

/**
 * A queue of accepted items: first in, first out, some in each turn of the event loop. Their number depends on how long
 * the turn before has taken: a burst on an idle flow is delivered at once, and a slow flow delays neither the responses
 * to new posts nor other flows. Without a target the items wait.
 */
export class DeliveryQueue<T> {
  #waiting: Queued<T>[] = [];
  /** Items that were delivered, but arrive with the next turn only. */
  #inFlight: readonly Queued<T>[] = [];
  #bytes = 0;
  #target: Target<T> | undefined;
  /** The target of the items in flight; meanwhile another one may have replaced it. */
  #lastTarget: Target<T> | undefined;
  #turn: NodeJS.Immediate | undefined;
  #turnSince = 0;
  #batch = 1;
  #lastCount = 0;

  get size(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /** Whether one more item may wait. */
  hasRoom(bytes: number, most: { readonly items: number; readonly bytes: number }): boolean {
    return this.size < most.items && this.#bytes + bytes <= most.bytes;
  }

  push(item: T, bytes: number): void {
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    this.#schedule();
  }

  /** Delivers all items to this target from now on. */
  resume(target: Target<T>): void {
    this.#target = target;
    this.#schedule();
  }

  /** Delivers nothing until the next `resume`. */
  hold(): void {
    this.#target = undefined;
  }

  #schedule(): void {
    const hasWork = this.#inFlight.length > 0 || (this.#waiting.length > 0 && this.#target !== undefined);
    if (hasWork && this.#turn === undefined) {
      this.#turnSince = performance.now();
      this.#turn = setImmediate(() => {
        this.#turn = undefined;
        this.#settle();
        this.#deliver();
        // Scheduled behind the flow's own work with the items: when this turn comes, they have arrived.
        this.#schedule();
      });
    }
  }

  #settle(): void {
    if (this.#inFlight.length === 0) {
      return;
    }
    const again = new Set(this.#lastTarget?.unreached(this.#inFlight.map(({ item }) => item)));
    const back = this.#inFlight.filter(({ item }) => again.has(item));
    const sum = (all: readonly Queued<T>[]): number => all.reduce((total, { bytes }) => total + bytes, 0);
    this.#bytes -= sum(this.#inFlight) - sum(back);
    this.#waiting.unshift(...back);
    this.#inFlight = [];
  }

  #deliver(): void {
    const target = this.#target;
    if (target === undefined || this.#waiting.length === 0) {
      return;
    }
    const since = performance.now();
    if (since - this.#turnSince > longestTurnMs) {
      this.#batch = Math.max(1, this.#batch >> 1);
    } else if (this.#lastCount === this.#batch) {
      this.#batch = Math.min(largestBatch, this.#batch * 2);
    }
    this.#lastTarget = target;
    let count = 0;
    for (const { item } of this.#waiting.slice(0, this.#batch)) {
      count++;
      target.deliver(item, this.#waiting.length - count);
      // Delivering an item may remove the target.
      if (this.#target !== target || performance.now() - since > longestTurnMs / 2) {
        break;
      }
    }
    this.#inFlight = this.#waiting.splice(0, count);
    this.#lastCount = count;
  }
}
