/** How many texts are remembered; a real scanner cannot send more within the time. */
const mostRemembered = 10_000;

/** The recent scans, to drop those that come twice. */
export class RecentScans {
  readonly #windowMs: number;
  /** When each text last arrived, the oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Whether the same text arrived within the window before. A dropped duplicate counts as well: a scanner that reads
   * one label all the time yields one scan.
   */
  isDuplicate(key: string, now: number): boolean {
    const before = this.#seen.get(key);
    this.#seen.delete(key);
    this.#forget(now);
    this.#seen.set(key, now);
    return before !== undefined && now - before < this.#windowMs;
  }

  #forget(now: number): void {
    for (const [key, at] of this.#seen) {
      if (now - at < this.#windowMs && this.#seen.size < mostRemembered) {
        return;
      }
      this.#seen.delete(key);
    }
  }
}
