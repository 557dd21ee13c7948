/** How many ids are remembered at most, whatever the window: some 30 MB. */
const mostIds = 100_000;

/** How many contents of one id are remembered; of more, the last. */
const mostContents = 4;

interface Seen<T> {
  readonly at: number;
  /** What came under the id, if that was said. */
  readonly contents: readonly string[];
  /** What is known of the last one. */
  readonly last: T | undefined;
}

/** The ids of recent records. Memory is limited: beyond `limit` the oldest ids are forgotten early. */
export class RecentIds<T = never> {
  readonly #limit: number;
  readonly #now: () => number;
  /** In the order of arrival, the oldest first. */
  readonly #seen = new Map<string, Seen<T>>();

  constructor(limit = mostIds, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** Whether one of a record's ids was first seen less than `windowMs` ago. */
  knows(ids: readonly string[], windowMs: number): boolean {
    this.#forgetOld(windowMs);
    return ids.some((id) => this.#seen.has(id));
  }

  /** Whether this content came under one of the ids, as long as they are known. */
  knowsContent(ids: readonly string[], content: string): boolean {
    return ids.some((id) => this.#seen.get(id)?.contents.includes(content));
  }

  /** What is known of the last record that came under one of these ids. */
  lastOf(ids: readonly string[]): T | undefined {
    return ids.map((id) => this.#seen.get(id)?.last).find((last) => last !== undefined);
  }

  remember(ids: readonly string[], windowMs: number, content?: string, last?: T): void {
    const now = this.#now();
    for (const id of ids) {
      const { at, contents } = this.#seen.get(id) ?? { at: now, contents: [] };
      const all = content === undefined ? contents : [...contents, content].slice(-mostContents);
      // The place in the order stays that of the first arrival.
      this.#seen.set(id, { at, contents: all, last });
    }
    this.#forgetOld(windowMs);
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }

  /** Forgets the ids that begin with this. */
  forgetAll(beginning: string): void {
    for (const id of this.#seen.keys()) {
      if (id.startsWith(beginning)) {
        this.#seen.delete(id);
      }
    }
  }

  #forgetOld(windowMs: number): void {
    const oldest = this.#now() - windowMs;
    for (const [id, { at }] of this.#seen) {
      if (at > oldest && this.#seen.size <= this.#limit) {
        return;
      }
      this.#seen.delete(id);
    }
  }
}
