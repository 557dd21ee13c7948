/** The wall clock of this process, which can be put forward and back while timers run on, as a computer's can. */
export class WallClock {
  readonly #real = Date;
  #offsetMs = 0;

  constructor() {
    const now = (): number => this.#real.now() + this.#offsetMs;
    globalThis.Date = new Proxy(this.#real, {
      construct: (real, given: number[]) =>
        Reflect.construct(real, given.length === 0 ? [now()] : given) as object,
      apply: (real) => new real(now()).toString(),
      get: (real, key, receiver) => (key === "now" ? now : Reflect.get(real, key, receiver)),
    });
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Back to the true time. */
  reset(): void {
    this.#offsetMs = 0;
  }

  close(): void {
    globalThis.Date = this.#real;
  }
}
