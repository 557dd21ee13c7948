/** Texts that are remembered at once; a scanner that sends more within the time is no scanner. */
const mostRemembered = 10_000;

/** What has been scanned a moment ago, to drop what comes twice. */
export class RecentScans {
  readonly #windowMs: number;
  /** When each text last came, the oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Whether the same came less than the window ago. That also counts if it was dropped itself: a scanner that goes on reading
   * one label yields one scan.
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
