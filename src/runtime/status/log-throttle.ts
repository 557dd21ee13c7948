const pauseMs = 60_000;

/** Allows one line of each kind per minute, so that a lasting problem does not fill the log. */
export class LogThrottle {
  readonly #saidAt = new Map<string, number>();

  isDue(kind: string): boolean {
    const now = performance.now();
    const saidAt = this.#saidAt.get(kind);
    if (saidAt !== undefined && now - saidAt < pauseMs) {
      return false;
    }
    this.#saidAt.set(kind, now);
    return true;
  }
}
