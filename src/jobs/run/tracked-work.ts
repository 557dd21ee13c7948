/** Work that goes on after the caller who began it has left. */
export class TrackedWork {
  readonly #running = new Set<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    const settled = Promise.allSettled([work]);
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
  }

  /** Resolves when all has settled, also what was added meanwhile. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all(this.#running);
    }
  }
}
