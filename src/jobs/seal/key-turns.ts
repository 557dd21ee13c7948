/** Runs work with a common key one after the other. */
export class KeyTurns {
  /** The last work of each key. */
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(keys: readonly string[], act: () => Promise<T>): Promise<T> {
    const before = keys.map(async (key) => this.#last.get(key));
    const done = Promise.all(before).then(act);
    const ended = done.then(
      () => undefined,
      () => undefined,
    );
    keys.forEach((key) => this.#last.set(key, ended));
    try {
      return await done;
    } finally {
      for (const key of keys) {
        if (this.#last.get(key) === ended) {
          this.#last.delete(key);
        }
      }
    }
  }
}
