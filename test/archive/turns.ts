import * as fsPromises from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { ArchiveDisk } from "../../src/archive/archive-disk.ts";
import type { Database, Row, Statement } from "../../src/store/database.ts";
import { migrations } from "../../src/store/schema.ts";
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
    }
  }

  /** Lets one after the other go on until the promise is settled and nothing waits. */
  async until(promise: Promise<unknown>): Promise<void> {
    const state = { isSettled: false };
    const settle = (): void => void (state.isSettled = true);
    promise.then(settle, settle);
    for (let idle = 0; !state.isSettled || this.#waiting.length > 0 || this.#underWay > 0;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      idle = this.#underWay > 0 ? 0 : idle + 1;
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
export function diskInTurns(turns: Turns, life: Life): ArchiveDisk {
  return inTurns(fsPromises, "", turns, life);
}

function inTurns<T extends object>(target: T, prefix: string, turns: Turns, life: Life): T {
  return new Proxy(target, {
    get(real, key) {
      const member: unknown = Reflect.get(real, key, real);
      if (typeof member !== "function" || typeof key !== "string") {
        return member;
      }
      return async (...args: unknown[]) => {
        const names = args.filter((one) => typeof one === "string");
        const places = names.map((path) => path.split("/").slice(-2).join("/"));
        const call = [prefix + key, ...places].join(" ");
        const result: unknown = await turns.take(
          call,
          () => Reflect.apply(member, real, args) as unknown,
          life,
        );
        const isFile = prefix === "" && key === "open" && typeof result === "object" && result !== null;
        return isFile ? inTurns(result, "file.", turns, life) : result;
      };
    },
  });
}

/** The store's schema in SQLite. */
export function newDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec("PRAGMA foreign_keys = ON");
  migrations.flat().forEach((statement) => database.exec(statement));
  return database;
}

/** Each transaction in its turn; as in the store's own thread, they are done in the order in which they were asked for. */
export function databaseInTurns(sqlite: DatabaseSync, turns: Turns, life: Life): Database {
  let last: Promise<unknown> = Promise.resolve();
  const run = (statements: readonly Statement[]): Row[][] => {
    sqlite.exec("BEGIN");
    try {
      const rows = statements.map(({ sql, values = [] }) => sqlite.prepare(sql).all(...values));
      sqlite.exec("COMMIT");
      return rows as Row[][];
    } catch (error) {
      sqlite.exec("ROLLBACK");
      throw error;
    }
  };
  return {
    transaction(statements) {
      const name = `sql ${statements[0]?.sql.trim().replaceAll(/\s+/g, " ").slice(0, 40) ?? ""}`;
      const before = last;
      const done = before.then(() => turns.take(name, () => run(statements), life));
      last = done.catch(() => undefined);
      return done;
    },
    close: async () => undefined,
  };
}
