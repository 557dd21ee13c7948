import type { ArchiveDisk } from "../../src/archive/archive-disk.ts";
import type { Database } from "../../src/store/database.ts";
import { diskAround, type DiskCall } from "../media/support.ts";
import type { MemoryDatabase } from "./memory-databases.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Something that waits to be let go on. */
interface Waiting {
  readonly name: string;
  readonly go: () => void;
}

/** Chooses one of so many. */
export type Choose = (count: number) => number;

/** A process life: what it asks for once it is over should not be there. */
export interface Life {
  isOver: boolean;
}

/** Turns of the event loop without anything to do, after which nothing more will come by itself. */
const settledAfter = 4;
const stuckAfter = 2_000;

/**
 * Decides in which order things happen that could happen at once: calls to the disk, transactions, answers of the cloud, timers, and
 * what the flow does. Each waits for its turn, and only one is under way at a time, so that an order depends on the choices
 * alone, however fast the disk is.
 */
export class Turns {
  /** What happened, in its order. */
  readonly log: string[] = [];
  /** What a life asked for after its end. */
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

  /** Waits for its turn and then does the work, which ends the turn. */
  async take<T>(name: string, work: () => Promise<T> | T, life?: Life): Promise<T> {
    if (life?.isOver === true) {
      this.tooLate.push(name);
    }
    await new Promise<void>((resolve) => this.#waiting.push({ name, go: resolve }));
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#onEnd();
    }
  }

  /** Lets one after the other go on until the promise is settled and nothing waits; then it has the promise's result. */
  async until<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => void (state.isSettled = true);
    promise.then(settle, settle);
    for (let idle = 0; !state.isSettled || this.#waiting.length > 0 || this.#underWay > 0;) {
      if (this.#underWay > 0) {
        idle = 0;
        await new Promise<void>((resolve) => (this.#onEnd = resolve));
      }
      await new Promise<void>((resolve) => setImmediate(resolve));
      idle += 1;
      // What a turn has led to comes by way of several promises and events.
      if (idle < settledAfter) {
        continue;
      }
      const timers = this.#clock.isDueSoon ? 1 : 0;
      const count = this.#waiting.length + timers;
      if (count > 0) {
        idle = 0;
        this.#next(this.#choose(count));
      } else if (idle > stuckAfter) {
        throw new Error(`nothing goes on any more, after:\n${this.log.join("\n")}`);
      }
    }
    return promise;
  }

  /** Drops what waits, as the end of the process does. */
  forget(): void {
    this.#waiting.length = 0;
  }

  #next(index: number): void {
    const [next] = this.#waiting.splice(index, 1);
    if (next === undefined) {
      this.log.push("a timer");
      this.#clock.fireNext();
      return;
    }
    this.log.push(next.name);
    this.#underWay += 1;
    next.go();
  }
}

/** The real file system, each call in its turn. */
export function diskInTurns(turns: Turns, life?: Life): ArchiveDisk {
  return diskAround((call) => turns.take(nameOf(call), call.run, life));
}

/** A call with the ends of its paths. */
export function nameOf({ name, args }: DiskCall): string {
  const paths = args.filter((one) => typeof one === "string");
  return [name, ...paths.map((path) => path.split("/").slice(-2).join("/"))].join(" ");
}

/** Each transaction in its turn; as in the store's own thread, they are done in the order in which they were asked for. */
export function databaseInTurns(memory: MemoryDatabase, turns: Turns, life: Life): Database {
  let last: Promise<unknown> = Promise.resolve();
  return {
    transaction(statements) {
      const name = `sql ${statements[0]?.sql.trim().replaceAll(/\s+/g, " ").slice(0, 40) ?? ""}`;
      const before = last;
      const done = before.then(() => turns.take(name, () => memory.run(statements), life));
      last = done.catch(() => undefined);
      return done;
    },
    close: async () => undefined,
  };
}
