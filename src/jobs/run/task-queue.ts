/** A task that waits for its turn. */
export interface Task {
  /** Never rejects. */
  run(): Promise<void>;
}

/**
 * Runs a limited number of tasks at a time, in the order in which they were added, but urgent ones first. A waiting
 * task is only an entry of a set, so thousands can wait.
 */
export class TaskQueue {
  readonly #paceMs: number;
  readonly #first = new Set<Task>();
  readonly #others = new Set<Task>();
  readonly #underWay = new Set<Promise<void>>();
  #free: number;

  /** `paceMs`: how long each task, except urgent ones, keeps its place. */
  constructor(concurrency: number, paceMs = 0) {
    this.#free = concurrency;
    this.#paceMs = paceMs;
  }

  /** Runs a task at once or in its turn; returns whether it has started. */
  add(task: Task, goesFirst = false): boolean {
    if (this.#free === 0) {
      (goesFirst ? this.#first : this.#others).add(task);
      return false;
    }
    this.#free -= 1;
    this.#begin(task, goesFirst ? 0 : this.#paceMs);
    return true;
  }

  /** Removes a task that was not started. */
  delete(task: Task): void {
    this.#first.delete(task);
    this.#others.delete(task);
  }

  /** Resolves when the running tasks have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #begin(task: Task, paceMs: number): void {
    const done = this.#run(task, paceMs);
    this.#underWay.add(done);
    void done.finally(() => this.#underWay.delete(done));
  }

  async #run(task: Task, paceMs: number): Promise<void> {
    const startedMs = performance.now();
    await task.run();
    const leftMs = startedMs + paceMs - performance.now();
    if (paceMs > 0 && leftMs > 0) {
      setTimeout(() => this.#leave(), leftMs).unref();
    } else {
      this.#leave();
    }
  }

  #leave(): void {
    const isFirst = this.#first.size > 0;
    const waiting = isFirst ? this.#first : this.#others;
    const [next] = waiting;
    if (next === undefined) {
      this.#free += 1;
    } else {
      waiting.delete(next);
      this.#begin(next, isFirst ? 0 : this.#paceMs);
    }
  }
}
