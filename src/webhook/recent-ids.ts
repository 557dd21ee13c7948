/** How many ids are remembered at most, whatever the window: some 20 MB. */
const mostIds = 100_000;

/** The ids of recent records. Memory is limited: beyond `limit` the oldest ids are forgotten early. */
export class RecentIds {
  readonly #limit: number;
  readonly #now: () => number;
  /** In the order of arrival, the oldest first. */
  readonly #seenAt = new Map<string, number>();

  constructor(limit = mostIds, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  get size(): number {
    return this.#seenAt.size;
  }

  /** Whether one of a record's ids was first seen less than `windowMs` ago. */
  knows(ids: readonly string[], windowMs: number): boolean {
    this.#forgetOld(windowMs);
    return ids.some((id) => this.#seenAt.has(id));
  }

  remember(ids: readonly string[], windowMs: number): void {
    const now = this.#now();
    for (const id of ids) {
      if (!this.#seenAt.has(id)) {
        this.#seenAt.set(id, now);
      }
    }
    this.#forgetOld(windowMs);
  }

  forget(id: string): void {
    this.#seenAt.delete(id);
  }

  /** Forgets the ids that begin with this. */
  forgetAll(beginning: string): void {
    for (const id of this.#seenAt.keys()) {
      if (id.startsWith(beginning)) {
        this.#seenAt.delete(id);
      }
    }
  }

  #forgetOld(windowMs: number): void {
    const oldest = this.#now() - windowMs;
    for (const [id, seenAt] of this.#seenAt) {
      if (seenAt > oldest && this.#seenAt.size <= this.#limit) {
        return;
      }
      this.#seenAt.delete(id);
    }
  }
}
