import { setTimeout as sleep } from "node:timers/promises";
import { parseFields, recordLimits } from "../model/parse-json.ts";
import { knownInstantOf } from "../rules/instants.ts";
import { type SteadyTime, hourMs, tooFarMs } from "../time/clocks.ts";
import type { Condition, Database } from "./database.ts";

/** How many of the newest packages and records are asked for the time of their devices. */
const mostAsked = 50;

/**
 * The time by which rows of a database may be old enough to be removed. This computer's clock alone does not decide, since it may be years
 * ahead: it is the newest time that a device has told, if that is earlier. Where devices have told none, it is this computer's. Rejects with
 * ERR_STORE.
 */
export async function timeToRemove(database: Pick<Database, "transaction">, now: Date): Promise<Date> {
  const [packages = [], records = []] = await database.transaction([
    {
      sql: `SELECT measured_at FROM packages
        WHERE indexed_order > (SELECT max(indexed_order) - ? FROM packages)`,
      values: [mostAsked],
    },
    {
      sql: "SELECT record FROM records WHERE record_id > (SELECT max(record_id) - ? FROM records)",
      values: [mostAsked],
    },
  ]);
  const told = [
    ...packages.map((row) => row["measured_at"]),
    ...records.map(({ record }) => parseFields(String(record), recordLimits)?.["dateTimeUtc"]),
  ];
  const known = told
    .map((time) => (typeof time === "string" ? knownInstantOf(time) : NaN))
    .filter((ms) => ms <= now.getTime() + tooFarMs);
  return known.length === 0 ? now : new Date(Math.min(now.getTime(), Math.max(...known)));
}

/**
 * The condition for rows that came longer ago than `ms` also by the clock that nobody sets, where that is known: that of the day may have
 * been behind when they came. `column` has the time by that clock.
 */
export function isOldBySteady(column: string, ms: number, now: SteadyTime | null): Condition {
  return {
    sql: `NOT (coalesce(steady_clock, '-') = ? AND coalesce(${column}, 0) > ?)`,
    values: [now?.clock ?? "", Math.floor((now?.ms ?? 0) - ms)],
  };
}

/** Each step is followed by a pause of so many times its own duration, and of at least so many milliseconds, for those who wait. */
const [pauseTimes, shortestPauseMs] = [4, 20];

/**
 * Removes what is old from a database: each hour, because a process may run for months. `remove` removes some rows, so that
 * nothing waits long for the database, and returns whether there may be more.
 */
export class HourlyRemoval {
  readonly #remove: () => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #running: Promise<void>;

  /** `hasMore`: whether it has to go on at once, with what the caller has left. */
  constructor(remove: () => Promise<boolean>, hasMore: boolean) {
    this.#remove = remove;
    this.#running = hasMore ? this.#run() : Promise.resolve();
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#run());
    }, hourMs).unref();
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  /** What cannot be removed now is removed by a later run: while the database fails, those who use it say so. */
  async #run(): Promise<void> {
    try {
      const { signal } = this.#stopping;
      for (;;) {
        const begunMs = performance.now();
        if (signal.aborted || !(await this.#remove())) {
          return;
        }
        const pauseMs = Math.max(shortestPauseMs, pauseTimes * (performance.now() - begunMs));
        await sleep(pauseMs, undefined, { signal, ref: false });
      }
    } catch {
      // Nothing was lost.
    }
  }
}
