/** Lets verifications run one after the other: several would only make the disk slower for all of them, and for the archive. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Begins the work when the work before has ended, however that was. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#count -= 1;
    }
  }
}
