/**
 * When the packages of a store were last verified, and which of them are next. It orders the work of verifications and is shown to people;
 * no verification trusts it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { tooFarMs } from "../time/clocks.ts";
import { type Database, type Row, type Statement, databaseTime, marksFor, skipLocked } from "./database.ts";

/** How much of a store was verified, and when. */
export interface VerificationState {
  /** When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was. */
  readonly oldestAt: string | null;
  /** How many packages were never verified; no more than `mostCounted` are counted. */
  readonly never: number;
  /** How many were not as they were archived when they were last verified; no more than `mostCounted` are counted. */
  readonly damaged: number;
}

/** What became of a package when it was verified. */
export interface VerifiedPackage {
  /** `indexed_order` of its row. */
  readonly order: number;
  /** The kind of the first finding; null if it was as it was archived. */
  readonly finding: string | null;
}

/** The last verification of a package. */
export interface LastVerification {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly finding: string | null;
}

/** A count that is shown every few seconds must not grow with the archive. */
export const mostCounted = 10_000;
/** A statement has at most so many values. */
const valuesAtOnce = 500;
/** Whoever has taken packages and was killed does not keep them from others for longer than this. */
const takenFor = "120 seconds";
/** In PostgreSQL, a row may become visible after rows with higher numbers. */
const lateRows = 1_000;
/** How many rows are changed with one statement, in whose time nothing can be archived. */
const windowRows = 500;
/** Each step is followed by a pause of so many times its own duration, and of at least so many milliseconds. */
const [pauseTimes, shortestPauseMs] = [2, 10];

export class VerificationTable {
  readonly #database: Pick<Database, "transaction">;

  constructor(database: Pick<Database, "transaction">) {
    this.#database = database;
  }

  /**
   * Forgets verifications of the future, some at a time: they would come last for years. Damaged packages that a clock has verified that was
   * put back since are as if they had been verified just before now, or nobody would be told of them.
   */
  async forgetFuture(nowMs: number): Promise<void> {
    const at = (ms: number): string => new Date(ms).toISOString();
    await this.#setBack("verified_at > ?", "", at(nowMs + tooFarMs));
    await this.#setBack("finding IS NOT NULL AND verified_at >= ?", at(nowMs - 1), at(nowMs));
  }

  async #setBack(condition: string, to: string, after: string): Promise<void> {
    for (let left = windowRows; left === windowRows;) {
      const [rows = []] = await this.#write([
        {
          sql: `UPDATE verifications SET verified_at = ? WHERE indexed_order IN
            (SELECT indexed_order FROM verifications WHERE ${condition} LIMIT ${windowRows}) RETURNING indexed_order`,
          values: [to, after],
        },
      ]);
      left = rows.length;
    }
  }

  /**
   * Takes the packages that were not verified for the longest time, or never, and not since `before` (ISO 8601, UTC): nobody else takes them
   * in the next minutes. Returns their rows in the index, in the order in which they are to be verified: of those that never were, the one
   * that was archived first comes first. `addNew` has to be called before.
   */
  async takeOldest(before: string, most: number): Promise<readonly Row[]> {
    return await this.#take("oldest", before, most);
  }

  /** Takes packages that were not as they were archived when they were last verified, before `before`. */
  async takeDamaged(before: string, most: number): Promise<readonly Row[]> {
    return await this.#take("damaged", before, most);
  }

  /** Where the first package that would be taken is in the order of all; undefined if none would be. */
  async headOf(which: Taken, before: string): Promise<string | undefined> {
    const { condition, order } = choices[which];
    const [[row] = []] = await this.#database.transaction([
      {
        sql: `SELECT verified_at, archived_at FROM verifications WHERE ${condition} AND taken_until < ${databaseTime}
          ORDER BY ${order} LIMIT 1`,
        values: [before, "0 seconds"],
      },
    ]);
    return row && `${String(row["verified_at"])} ${String(row["archived_at"])}`;
  }

  /** Packages that were not as they were archived when they were last verified, before `before`: their rows with `finding`, `verified_at`. */
  async damaged(before: string, most: number): Promise<readonly Row[]> {
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT location, verified_at, finding FROM verifications JOIN packages USING (indexed_order)
          WHERE finding IS NOT NULL AND verified_at < ? ORDER BY ${inOrderOfDamaged} LIMIT ?`,
        values: [before, most],
      },
    ]);
    return rows;
  }

  /** Notes what became of packages at a time (ISO 8601, UTC). Those that are not in the index any more are left out. */
  async note(packages: readonly VerifiedPackage[], at: string): Promise<void> {
    const ordersOf = (finding: string | null): number[] =>
      packages.filter((one) => one.finding === finding).map(({ order }) => order);
    const findings = new Set(packages.map(({ finding }) => finding));
    const statements = [...findings].flatMap((finding) =>
      slicesOf(ordersOf(finding)).map((orders): Statement => ({
        sql: `INSERT INTO verifications (indexed_order, verified_at, archived_at, finding, taken_until)
          SELECT indexed_order, CAST(? AS TEXT), '', CAST(? AS TEXT), '' FROM packages WHERE indexed_order IN (${marksFor(orders)})
          ON CONFLICT (indexed_order) DO UPDATE
            SET verified_at = excluded.verified_at, archived_at = '', finding = excluded.finding, taken_until = ''`,
        values: [at, finding, ...orders],
      })),
    );
    await this.#write(statements);
  }

  /**
   * Notes what was found of packages that are named by their IDs or locations, some of which may name none. `findings`: the kind of the first
   * finding, by the name; null if a package was as it was archived.
   */
  async noteBy(
    column: "location" | "package_id",
    findings: ReadonlyMap<string, string | null>,
    at: string,
  ): Promise<void> {
    for (const names of slicesOf([...findings.keys()])) {
      const [rows = []] = await this.#database.transaction([
        {
          sql: `SELECT indexed_order, ${column} AS name FROM packages WHERE ${column} IN (${marksFor(names)})`,
          values: names,
        },
      ]);
      const packages = rows.map((row) => ({
        order: orderOf(row),
        finding: findings.get(String(row["name"])) ?? null,
      }));
      await this.note(packages, at);
    }
  }

  /** Lets others take packages that were taken and not verified. */
  async release(orders: readonly number[]): Promise<void> {
    const statements = slicesOf(orders).map((some) => ({
      sql: `UPDATE verifications SET taken_until = '' WHERE indexed_order IN (${marksFor(some)})`,
      values: some,
    }));
    await this.#write(statements);
  }

  /** The last verifications of packages by their IDs; those that were never verified are left out. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, LastVerification>> {
    const found = new Map<string, LastVerification>();
    for (const some of slicesOf(ids)) {
      const [rows = []] = await this.#database.transaction([
        {
          sql: `SELECT package_id, verified_at, finding FROM packages JOIN verifications USING (indexed_order)
            WHERE package_id IN (${marksFor(some)}) AND verified_at <> ''`,
          values: some,
        },
      ]);
      for (const { package_id: id, verified_at: at, finding } of rows) {
        found.set(String(id), {
          at: String(at),
          finding: typeof finding === "string" ? finding : null,
        });
      }
    }
    return found;
  }

  async state(): Promise<VerificationState> {
    const counted = (sql: string): Statement => ({
      sql: `SELECT count(*) AS count FROM (SELECT 1 ${sql} LIMIT ${mostCounted}) AS counted`,
    });
    const [[oldest] = [], [begun] = [], [added] = [], [damaged] = []] = await this.#database.transaction([
      { sql: "SELECT min(verified_at) AS at FROM verifications WHERE verified_at > ''" },
      counted("FROM verifications WHERE verified_at = ''"),
      counted(`FROM packages WHERE ${isNew}`),
      counted("FROM verifications WHERE finding IS NOT NULL"),
    ]);
    const at = oldest?.["at"];
    return {
      oldestAt: typeof at === "string" ? at : null,
      never: Math.min(mostCounted, Number(begun?.["count"]) + Number(added?.["count"])),
      damaged: Number(damaged?.["count"]),
    };
  }

  /** Adds the packages that have come into the index since it was last called, some at a time. */
  async addNew(): Promise<void> {
    for (;;) {
      const [[head] = []] = await this.#write([
        {
          sql: "SELECT added_to, (SELECT max(indexed_order) FROM packages) AS last FROM verifications_head",
        },
        {
          sql: `INSERT INTO verifications (indexed_order, verified_at, archived_at, taken_until)
            SELECT indexed_order, '', archived_at, '' FROM packages
              WHERE ${isNew} AND packages.indexed_order <= (SELECT added_to FROM verifications_head) + ${windowRows}
            ON CONFLICT (indexed_order) DO NOTHING`,
        },
      ]);
      const [addedTo, last] = [Number(head?.["added_to"]), Number(head?.["last"] ?? 0)];
      const to = Math.min(last, addedTo + windowRows);
      await this.#database.transaction([
        { sql: "UPDATE verifications_head SET added_to = ? WHERE added_to < ?", values: [to, to] },
      ]);
      if (to >= last) {
        return;
      }
    }
  }

  /**
   * Runs one of many steps that write, and leaves the database to others for a while: those that wait for it ask only now and then, and would
   * come too late each time.
   */
  async #write(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (statements.length === 0) {
      return [];
    }
    const begunMs = performance.now();
    const rows = await this.#database.transaction(statements);
    await sleep(Math.max(shortestPauseMs, pauseTimes * (performance.now() - begunMs)));
    return rows;
  }

  async #take(which: Taken, before: string, most: number): Promise<readonly Row[]> {
    const { condition, order } = choices[which];
    const [taken = []] = await this.#database.transaction([
      {
        sql: `UPDATE verifications SET taken_until = ${databaseTime} WHERE indexed_order IN
          (SELECT indexed_order FROM verifications WHERE ${condition} AND taken_until < ${databaseTime}
            ORDER BY ${order} LIMIT ? ${skipLocked})
          RETURNING indexed_order`,
        values: [takenFor, before, "0 seconds", most],
      },
    ]);
    const orders = taken.map(orderOf);
    const rows: Row[] = [];
    for (const some of slicesOf(orders)) {
      const [found = []] = await this.#database.transaction([
        {
          sql: `SELECT packages.* FROM verifications JOIN packages USING (indexed_order)
            WHERE verifications.indexed_order IN (${marksFor(some)}) ORDER BY ${inOrder}`,
          values: some,
        },
      ]);
      rows.push(...found);
    }
    return rows;
  }
}

/** The order in which packages are verified. */
const inOrder = "verifications.verified_at, verifications.archived_at, verifications.indexed_order";
/** Damaged ones have an index of their own in this order. */
const inOrderOfDamaged = "verifications.verified_at, verifications.indexed_order";

/** Which packages are taken. */
type Taken = "damaged" | "oldest";

const choices: Readonly<Record<Taken, { readonly condition: string; readonly order: string }>> = {
  oldest: { condition: "verified_at < ?", order: inOrder },
  damaged: { condition: "finding IS NOT NULL AND verified_at < ?", order: inOrderOfDamaged },
};

/** A package that was not added. All up to a number were, but for those that came late. */
const isNew = `packages.indexed_order > (SELECT added_to FROM verifications_head) - ${lateRows}
  AND NOT EXISTS (SELECT 1 FROM verifications AS known WHERE known.indexed_order = packages.indexed_order)`;

function orderOf(row: Row): number {
  return Number(row["indexed_order"]);
}

function slicesOf<T>(values: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(values.length / valuesAtOnce) }, (_, index) =>
    values.slice(index * valuesAtOnce, (index + 1) * valuesAtOnce),
  );
}
