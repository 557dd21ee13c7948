import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import type { Database } from "../../src/database/database.ts";
import { diskAround, type DiskCall } from "../media/support.ts";
import type { MemoryDatabase } from "./memory-databases.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A step that waits for its turn. */
interface Waiting {
  readonly name: string;
  readonly go: () => void;
  readonly simulated: SimulatedProcess | undefined;
}

/** Chooses one of `count` steps. */
export type Choose = (count: number) => number;

/** A process that the test simulates: it must do nothing after its end. */
export interface SimulatedProcess {
  hasEnded: boolean;
  /** While it is suspended, or after it was killed, none of its steps runs. */
  isStopped?: boolean;
}

/** Turns of the event loop without any step, after which no further step is to be expected. */
const settledAfter = 4;
const stuckAfter = 2_000;

/**
 * Decides in which order concurrent steps happen: calls to the disk, transactions, responses of the cloud, timers, and
 * what the flow does. Only one step runs at a time, so that an order depends on the choices alone, and not on the speed
 * of the disk.
 */
export class Scheduler {
  /** The names of all steps in the order in which they ran. */
  readonly log: string[] = [];
  /** Steps that a process scheduled after its end. */
  readonly tooLate: string[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #choose: Choose;
  readonly #clock: VirtualClock;
  #underWay = 0;
  #onEnd: () => void = () => undefined;

  constructor(choose: Choose, clock: VirtualClock) {
    this.#choose = choose;
    this.#clock = clock;
  }

  /** Waits until the step is chosen, then runs it. */
  async schedule<T>(name: string, work: () => Promise<T> | T, simulated?: SimulatedProcess): Promise<T> {
    if (simulated?.hasEnded === true) {
      this.tooLate.push(name);
    }
    await new Promise<void>((resolve) => this.#waiting.push({ name, go: resolve, simulated }));
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#onEnd();
    }
  }

  /**
   * Runs one step after the other until the promise is settled and no step waits; then returns the promise's result.
   */
  async runUntil<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => void (state.isSettled = true);
    promise.then(settle, settle);
    for (let idle = 0; !state.isSettled || this.#runnable().length > 0 || this.#underWay > 0;) {
      if (this.#underWay > 0) {
        idle = 0;
        await new Promise<void>((resolve) => (this.#onEnd = resolve));
      }
      await new Promise<void>((resolve) => setImmediate(resolve));
      idle += 1;
      // The consequences of a step arrive by way of several promises and events.
      if (idle < settledAfter) {
        continue;
      }
      const timers = this.#clock.isDueSoon ? 1 : 0;
      const count = this.#runnable().length + timers;
      if (count > 0) {
        idle = 0;
        this.#next(this.#choose(count));
      } else if (idle > stuckAfter) {
        throw new Error(`nothing goes on any more, after:\n${this.log.join("\n")}`);
      }
    }
    return promise;
  }

  /** Drops all steps that wait, as the end of a process does. */
  dropWaiting(): void {
    this.#waiting.length = 0;
  }

  #runnable(): readonly Waiting[] {
    return this.#waiting.filter(({ simulated }) => simulated?.isStopped !== true);
  }

  #next(index: number): void {
    const next = this.#runnable()[index];
    if (next === undefined) {
      this.log.push("a timer");
      this.#clock.fireNext();
      return;
    }
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.log.push(next.name);
    this.#underWay += 1;
    next.go();
  }
}

/** The real file system, with each call as a step. */
export function scheduledDisk(scheduler: Scheduler, simulated?: SimulatedProcess): ArchiveDisk {
  return diskAround((call) => scheduler.schedule(callName(call), call.run, simulated));
}

/** Names a call by its function and the ends of its paths. */
export function callName({ name, args }: DiskCall): string {
  const paths = args.filter((one) => typeof one === "string");
  return [name, ...paths.map((path) => path.split("/").slice(-2).join("/"))].join(" ");
}

/** Each transaction as a step. They run in the order in which they were requested, as in the store's own thread. */
export function scheduledDatabase(
  memory: MemoryDatabase,
  scheduler: Scheduler,
  simulated: SimulatedProcess,
): Database {
  let last: Promise<unknown> = Promise.resolve();
  return {
    transaction(statements) {
      const name = `sql ${statements[0]?.sql.trim().replaceAll(/\s+/g, " ").slice(0, 40) ?? ""}`;
      const before = last;
      const done = before.then(() => scheduler.schedule(name, () => memory.run(statements), simulated));
      last = done.catch(() => undefined);
      return done;
    },
    close: async () => undefined,
  };
}
