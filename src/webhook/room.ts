/** Counts what is kept in memory for senders, so that they cannot fill it. */
export class Room {
  #items = 0;
  #bytes = 0;

  get items(): number {
    return this.#items;
  }

  /** Whether one more item with so many bytes fits. */
  has(bytes: number, most: { readonly items: number; readonly bytes: number }): boolean {
    return this.#items < most.items && this.#bytes + bytes <= most.bytes;
  }

  /** `items`: 0 if it is more of an item that has its place. */
  take(bytes: number, items: 0 | 1 = 1): void {
    this.#items += items;
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#items--;
    this.#bytes -= bytes;
  }
}
