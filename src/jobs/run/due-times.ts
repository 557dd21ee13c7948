interface Entry<T> {
  readonly item: T;
  readonly atMs: number;
}

/** The longest time of a timer. */
const longestMs = 2 ** 31 - 1;
/** A timer may fire slightly early. */
const earlyMs = 1;
const mostForgotten = 32;

/** Calls back at the time of each item, with one timer for all of them. Times are those of `performance.now()`. */
export class DueTimes<T> {
  readonly #onDue: (item: T) => void;
  readonly #entries = new Map<T, Entry<T>>();
  /**
   * A binary heap with the earliest entry first. An entry that was replaced or deleted stays in it until it reaches the
   * top.
   */
  #heap: Entry<T>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(onDue: (item: T) => void) {
    this.#onDue = onDue;
  }

  has(item: T): boolean {
    return this.#entries.has(item);
  }

  /** Sets the time of an item, which replaces an earlier one. */
  set(item: T, atMs: number): void {
    const entry = { item, atMs };
    this.#entries.set(item, entry);
    this.#push(entry);
    this.#setTimer();
  }

  delete(item: T): void {
    if (this.#entries.delete(item)) {
      this.#forget();
      this.#setTimer();
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#forget();
    this.#setTimer();
  }

  /** Deleted entries must not stay in memory until their time. */
  #forget(): void {
    if (this.#heap.length > 2 * this.#entries.size + mostForgotten) {
      // A sorted list is a heap as well.
      this.#heap = [...this.#entries.values()].sort((one, other) => one.atMs - other.atMs);
    }
  }

  #setTimer(): void {
    const first = this.#earliest();
    if (first?.atMs === this.#timerAtMs) {
      return;
    }
    clearTimeout(this.#timer);
    this.#timerAtMs = first?.atMs ?? Number.POSITIVE_INFINITY;
    if (first !== undefined) {
      const leftMs = Math.max(0, first.atMs - performance.now());
      this.#timer = setTimeout(() => this.#fire(), Math.min(leftMs, longestMs));
    }
  }

  #fire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now() + earlyMs;
    for (let first; (first = this.#earliest()) !== undefined && first.atMs <= nowMs;) {
      this.#entries.delete(first.item);
      this.#onDue(first.item);
    }
    this.#setTimer();
  }

  #earliest(): Entry<T> | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || this.#entries.get(first.item) === first) {
        return first;
      }
      this.#removeFirst();
    }
  }

  #push(entry: Entry<T>): void {
    const heap = this.#heap;
    let at = heap.length;
    for (let up = parentOf(at); at > 0; at = up, up = parentOf(at)) {
      const parent = heap[up];
      if (parent === undefined || parent.atMs <= entry.atMs) {
        break;
      }
      heap[at] = parent;
    }
    heap[at] = entry;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) {
      return;
    }
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const isRight = right !== undefined && left !== undefined && right.atMs < left.atMs;
      const child = isRight ? right : left;
      if (child === undefined || child.atMs >= last.atMs) {
        break;
      }
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function parentOf(at: number): number {
  return (at - 1) >> 1;
}
