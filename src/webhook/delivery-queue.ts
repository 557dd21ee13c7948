/**
 * What was taken and still has to be handed on: first in, first out, one a turn of the event loop, so that a burst holds
 * up neither the answers to it nor anything else.
 */
export class DeliveryQueue<T extends object> {
  readonly #limit: number;
  readonly #deliver: (item: T, waiting: number) => void;
  readonly #items: T[];
  #turn: NodeJS.Immediate | undefined;

  /** `items` are what an earlier queue had left; they count, but are not refused. */
  constructor(limit: number, deliver: (item: T, waiting: number) => void, items: readonly T[] = []) {
    this.#limit = limit;
    this.#deliver = deliver;
    this.#items = [...items];
    this.#schedule();
  }

  get size(): number {
    return this.#items.length;
  }

  get isFull(): boolean {
    return this.#items.length >= this.#limit;
  }

  /** Takes it, unless as many wait as may wait; says whether it did. */
  push(item: T): boolean {
    if (this.isFull) {
      return false;
    }
    this.#items.push(item);
    this.#schedule();
    return true;
  }

  /** Ends the delivery; returns what was not handed on. */
  close(): T[] {
    clearImmediate(this.#turn);
    return this.#items.splice(0);
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#deliverNext();
    });
  }

  #deliverNext(): void {
    const item = this.#items.shift();
    if (item === undefined) {
      return;
    }
    // First, so that what the delivery throws does not end the queue.
    if (this.#items.length > 0) {
      this.#schedule();
    }
    this.#deliver(item, this.#items.length);
  }
}
