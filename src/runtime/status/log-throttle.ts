const pauseMs = 60_000;

/** Lets a line of each kind through once a minute, so that what goes wrong all the time does not fill the log. */
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
