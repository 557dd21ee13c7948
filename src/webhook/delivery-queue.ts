/** Where the items go. */
export interface Target<T> {
  /** Hands on one item, `waiting` others behind it. */
  deliver(item: T, waiting: number): void;
  /** Of what was handed on in the turn before, the items that have to be handed on again. */
  unreached(items: readonly T[]): readonly T[];
}

interface Queued<T> {
  readonly item: T;
  readonly bytes: number;
}

/** What is handed on in one turn of the event loop takes no longer, with what follows from it. */
const longestTurnMs = 8;
const largestBatch = 256;

/**
 * What was taken and still has to be handed on: first in, first out, some in each turn of the event loop. How many
 * depends on what the turn before has taken: a burst on an idle flow is gone at once, and a slow flow holds up neither
 * the answers to new posts nor other flows. While nobody takes the items, they wait.
 */
export class DeliveryQueue<T> {
  #waiting: Queued<T>[] = [];
  /** Handed on, and not at its place before the next turn. */
  #inFlight: readonly Queued<T>[] = [];
  #bytes = 0;
  #target: Target<T> | undefined;
  /** Of those that are in flight; another one may have taken its place. */
  #lastTarget: Target<T> | undefined;
  #turn: NodeJS.Immediate | undefined;
  #turnSince = 0;
  #batch = 1;
  #lastCount = 0;

  get size(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /** Whether one more may wait. */
  hasRoom(bytes: number, most: { readonly items: number; readonly bytes: number }): boolean {
    return this.size < most.items && this.#bytes + bytes <= most.bytes;
  }

  push(item: T, bytes: number): void {
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    this.#schedule();
  }

  /** From now on the items go there. */
  resume(target: Target<T>): void {
    this.#target = target;
    this.#schedule();
  }

  /** Hands on nothing until the next `resume`. */
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
        // Behind what the flow does with the items: when this turn comes, they have arrived.
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
      // A target may be taken away by what it does.
      if (this.#target !== target || performance.now() - since > longestTurnMs / 2) {
        break;
      }
    }
    this.#inFlight = this.#waiting.splice(0, count);
    this.#lastCount = count;
  }
}
