/** Calls back what this process would do each hour. Other intervals stay as they are. */
export class Hours {
  readonly #real = globalThis.setInterval;
  readonly #each = new Set<() => void>();

  constructor() {
    const start = (fire: () => void, ms: number): NodeJS.Timeout => {
      const timer = this.#real(fire, ms);
      if (ms === 3_600_000) {
        this.#each.add(fire);
      }
      return timer;
    };
    Object.assign(globalThis, { setInterval: start });
  }

  pass(): void {
    this.#each.forEach((fire) => fire());
  }

  close(): void {
    Object.assign(globalThis, { setInterval: this.#real });
  }
}
