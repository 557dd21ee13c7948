/** Numbers that other computers have used again, after a package was deleted because of its age, are seen after this time. */
const knownMs = 24 * 60 * 60 * 1_000;
/** How many packages are known of all names together. */
const mostKnown = 100_000;

/** What has one name: the packages from the one without a number on, up to the next free number. */
export class KnownNumbers {
  readonly sinceMs: number;
  readonly #ofKey = new Map<string, number[]>();
  readonly #unreadable: number[] = [];
  #next = 0;

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  get next(): number {
    return this.#next;
  }

  /** The numbers before `next` that may have a package with this key. */
  candidates(key: string): readonly number[] {
    return [...this.#unreadable, ...(this.#ofKey.get(key) ?? [])];
  }

  /** Notes what has the next number: a package with this key, or nothing that could be read. */
  add(key: string | undefined): void {
    const numbers = key === undefined ? this.#unreadable : (this.#ofKey.get(key) ?? []);
    numbers.push(this.#next);
    if (key !== undefined) {
      this.#ofKey.set(key, numbers);
    }
    this.#next += 1;
  }
}

/**
 * Remembers which packages have the same name, so that the twenty-thousandth one does not read the manifests of all the
 * others again to find out that it is none of them.
 */
export class UsedNumbers {
  readonly #nowMs: () => number;
  /** The one that was used longest ago first. */
  readonly #names = new Map<string, KnownNumbers>();
  #known = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Takes out what is known of a name. */
  take(path: string): KnownNumbers {
    const nowMs = this.#nowMs();
    const found = this.#names.get(path);
    this.#names.delete(path);
    this.#known -= found?.next ?? 0;
    const isNew = found !== undefined && Math.abs(nowMs - found.sinceMs) < knownMs;
    return isNew ? found : new KnownNumbers(nowMs);
  }

  /** Keeps what is known of a name that several packages have. */
  keep(path: string, numbers: KnownNumbers): void {
    if (numbers.next < 2) {
      return;
    }
    this.#names.set(path, numbers);
    this.#known += numbers.next;
    for (const oldest of this.#names.keys()) {
      if (this.#known <= mostKnown || oldest === path) {
        return;
      }
      this.take(oldest);
    }
  }
}
