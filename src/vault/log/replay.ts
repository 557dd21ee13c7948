/**
 * Replays the logs of an archive: whether each is whole and one with itself, what it says is there, and the roots of its tree. It takes no
 * more memory for more lines; they are in the temporary database of a verification.
 */
import { type Row, type Statement } from "../../database/database.ts";
import type { LogLine } from "../../database/log-table.ts";
import type { ToolDatabase } from "../../database/tool-database.ts";
import type { Finding } from "../../model/archive-reports.ts";
import { dayMs } from "../../time/clocks.ts";
import type { ReadDisk } from "../archive-disk.ts";
import { type EventOf, type LogEvent, readEvent } from "./events.ts";
import { LogFilesReader, logParts } from "./log-files.ts";
import { GrowingTree, leafHash } from "./tree.ts";

/** Tables of a temporary database. `logged`: the packages that logs name, with what has happened to them last. `named`: numbers added to them. */
export const replaySchema: readonly string[] = [
  "CREATE TABLE lines (store TEXT NOT NULL, n INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (store, n)) WITHOUT ROWID",
  `CREATE TABLE logged (
    store TEXT NOT NULL,
    package_id TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    family TEXT NOT NULL,
    archived TEXT NOT NULL,
    n INTEGER NOT NULL,
    pruned_n INTEGER,
    PRIMARY KEY (package_id, store)
  )`,
  `CREATE TABLE named (
    package_id TEXT NOT NULL,
    store TEXT NOT NULL,
    n INTEGER NOT NULL,
    path TEXT NOT NULL,
    number TEXT NOT NULL,
    PRIMARY KEY (package_id, store, n)
  ) WITHOUT ROWID`,
];

/** Created when the lines of a log are in the table, which takes less time. */
const replayIndexes: readonly Statement[] = [
  { sql: "CREATE INDEX IF NOT EXISTS logged_sha256 ON logged (sha256)" },
  { sql: "CREATE INDEX IF NOT EXISTS logged_path ON logged (path)" },
];

/** Numbers that were added to what had not been archived; these are so rare that they are not read in parts. */
const unknownNamed = `SELECT n, path FROM named WHERE store = ? AND NOT EXISTS (
  SELECT 1 FROM logged WHERE logged.package_id = named.package_id AND logged.store = named.store AND logged.n < named.n)
  ORDER BY n LIMIT 1000`;

const atOnce = 1_000;
/** So many findings of one kind are said one by one. */
const mostSaid = 20;

/** What a replay has found of one log. */
export interface ReplayedLog {
  readonly store: string;
  /** How many lines it has. */
  readonly size: number;
  /** The root of all lines; undefined if lines are missing. */
  readonly root: Buffer | undefined;
  /** The roots of the sizes that were asked for, as far as the log goes. */
  readonly roots: ReadonlyMap<number, Buffer>;
  readonly stamped: readonly EventOf<"stamped">[];
  /** Packages that are on hold, with who holds them and why; by their ID. */
  readonly held: ReadonlyMap<string, EventOf<"held">>;
  /** How many packages were pruned and are not kept. */
  readonly pruned: number;
}

/** A temporary database with the tables of `replaySchema`. */
type Tables = Pick<ToolDatabase, "select" | "transaction">;

export class LogReplay {
  readonly store: string;
  readonly #reader: LogFilesReader;
  readonly #tables: Tables;
  readonly #path: string;
  /** Lines that are there in two ways. */
  readonly conflicts = new Set<number>();

  constructor(root: string, store: string, disk: ReadDisk, tables: Tables) {
    this.store = store;
    this.#reader = new LogFilesReader(root, store, disk);
    this.#tables = tables;
    this.#path = [...logParts, store].join("/");
  }

  /** Reads what was added to the files since it was last called; returns whether there was anything. */
  async readOn(): Promise<boolean> {
    let hasMore = false;
    for await (const lines of this.#reader.read()) {
      hasMore ||= lines.length > 0;
      await this.#add(lines);
    }
    return hasMore;
  }

  /** How many lines there are, if none is missing. */
  async size(): Promise<number> {
    const [row] = await this.#tables.select(
      "SELECT coalesce(max(n) + 1, 0) AS size FROM lines WHERE store = ?",
      [this.store],
    );
    return Number(row?.["size"]);
  }

  /** Which of these lines are not there. */
  async lacking(numbers: readonly number[]): Promise<readonly number[]> {
    const rows = await this.#tables.select(
      `SELECT value AS n FROM json_each(?) WHERE NOT EXISTS (
        SELECT 1 FROM lines WHERE store = ? AND n = value) ORDER BY value`,
      [JSON.stringify(numbers), this.store],
    );
    return rows.map(({ n }) => Number(n));
  }

  /** Whether a line is there in two ways, or is not the one that somebody else has. Lines that are not there are left out. */
  async differing(lines: readonly LogLine[]): Promise<readonly number[]> {
    const rows = await this.#tables.select(
      `SELECT n FROM json_each(?) AS given CROSS JOIN lines ON store = ? AND n = given.value ->> 0
        WHERE line <> given.value ->> 1 ORDER BY n`,
      [JSON.stringify(lines.map(({ n, line }) => [n, line])), this.store],
    );
    return rows.map(({ n }) => Number(n));
  }

  /**
   * Goes through all lines in their order. `sizes`: whose roots are wanted. Yields what is wrong with the log itself, and prunings that it
   * does not allow.
   */
  async *run(sizes: Iterable<number>): AsyncGenerator<Finding, ReplayedLog> {
    await this.#tables.transaction(
      ["logged", "named"].map((table) => ({
        sql: `DELETE FROM ${table} WHERE store = ?`,
        values: [this.store],
      })),
    );
    const stamped = await this.#eventsOf("stamped");
    const wanted = new Set([...sizes, ...stamped.map(({ size }) => size)]);
    const roots = new Map<number, Buffer>();
    const tree = new GrowingTree();
    const state = new State(this.store, this.#tables);
    const problems = new Problems(this.#path);
    const noteRoot = (): void => {
      if (wanted.has(tree.size)) {
        roots.set(tree.size, tree.root());
      }
    };
    noteRoot();
    let next = 0;
    let isWhole = true;
    for await (const { n, line } of this.lines()) {
      if (n !== next) {
        isWhole = false;
        yield* problems.say("gone", sayLines(next, n - 1, "missing"));
      }
      next = n + 1;
      const event = readEvent(line);
      if (isWhole) {
        tree.add(leafHash(line));
        noteRoot();
      }
      if (event === undefined) {
        yield* problems.say(
          "unread",
          `the line ${n} cannot be read: it was changed, or is from a later version`,
        );
      } else {
        for (const problem of await state.apply(n, event)) {
          yield* problems.say("rule", problem);
        }
      }
    }
    await state.write();
    await this.#tables.transaction(replayIndexes);
    for (const { n, path } of await this.#tables.select(unknownNamed, [this.store])) {
      yield* problems.say("rule", sayUnknown(Number(n), String(path)));
    }
    for (const n of this.conflicts) {
      yield* problems.say("two", `the line ${n} is there twice, and not with the same content`);
    }
    yield* problems.end();
    for (const path of this.#reader.strays) {
      yield { kind: "log", path, problem: "this is a link, or no file of a log: it was not read" };
    }
    const [count] = await this.#tables.select(
      "SELECT count(*) AS pruned FROM logged WHERE store = ? AND pruned_n IS NOT NULL",
      [this.store],
    );
    const root = isWhole && this.conflicts.size === 0 ? tree.root() : undefined;
    const { held } = state;
    return { store: this.store, size: next, root, roots, stamped, held, pruned: Number(count?.["pruned"]) };
  }

  /** When the log was begun anew because it had been lost, each time. */
  async lost(): Promise<readonly EventOf<"lost">[]> {
    return this.#eventsOf("lost");
  }

  /** All events of a kind. The fields of a line are in the order of their names, and none of these has one after `what`. */
  async #eventsOf<What extends "lost" | "stamped">(what: What): Promise<readonly EventOf<What>[]> {
    const rows = await this.#tables.select(
      "SELECT line FROM lines WHERE store = ? AND line LIKE ? ORDER BY n",
      [this.store, `%"what":"${what}"}`],
    );
    return rows
      .map(({ line }) => readEvent(String(line)))
      .filter((event): event is EventOf<What> => event?.what === what);
  }

  /** The lines that were read, in their order. */
  async *lines(from = 0): AsyncGenerator<LogLine> {
    for (let after = from - 1; ;) {
      const rows: readonly Row[] = await this.#tables.select(
        "SELECT n, line FROM lines WHERE store = ? AND n > ? ORDER BY n LIMIT ?",
        [this.store, after, atOnce],
      );
      for (const row of rows) {
        yield { n: Number(row["n"]), line: String(row["line"]) };
      }
      if (rows.length < atOnce) {
        return;
      }
      after = Number(rows.at(-1)?.["n"]);
    }
  }

  async #add(lines: readonly LogLine[]): Promise<void> {
    for (let from = 0; from < lines.length; from += atOnce) {
      const some = lines.slice(from, from + atOnce);
      // In the database first: two of these may have the same number.
      await this.#tables.transaction([
        {
          sql: "INSERT OR IGNORE INTO lines SELECT ?, value ->> 0, value ->> 1 FROM json_each(?)",
          values: [this.store, JSON.stringify(some.map(({ n, line }) => [n, line]))],
        },
      ]);
      (await this.differing(some)).forEach((n) => this.conflicts.add(n));
    }
  }
}

/** What a log says of its packages, line by line. */
class State {
  /** By the ID of the package. */
  readonly held = new Map<string, EventOf<"held">>();
  readonly #families = new HeldFamilies();
  readonly #store: string;
  readonly #tables: Tables;
  /** Rows of packages, and after them what other lines say of packages. */
  #archived: (readonly (number | string)[])[] = [];
  #waiting: Statement[] = [];
  #named: (readonly (number | string)[])[] = [];

  constructor(store: string, tables: Tables) {
    this.#store = store;
    this.#tables = tables;
  }

  /** Returns what the line says that cannot be so. */
  async apply(n: number, event: LogEvent): Promise<readonly string[]> {
    switch (event.what) {
      case "begun":
        if (event.store !== this.#store) {
          return [`the line ${n} begins the log of the store ${event.store}: it is not of this log`];
        }
        return n === 0 ? [] : [`the line ${n} begins the log once more`];
      case "archived": {
        const family = event.supplements ?? event.sha256;
        if (this.held.has(event.package)) {
          this.#families.hold(event.package, family);
        }
        await this.#addPackage([event.package, event.path, event.sha256, family, event.archived, n]);
        return [];
      }
      case "held": {
        this.held.set(event.package, event);
        const found = await this.#find(event.package);
        if (found === undefined) {
          return [sayUnknown(n, event.path)];
        }
        this.#families.hold(event.package, String(found["family"]));
        return [];
      }
      case "released":
        this.held.delete(event.package);
        this.#families.release(event.package);
        return await this.#unknown(n, event);
      case "named":
        if (this.#named.push([event.package, n, event.path, event.number]) >= atOnce) {
          await this.write();
        }
        return [];
      case "pruned":
        return await this.#prune(n, event);
      case "kept":
        await this.#add({
          sql: "UPDATE logged SET pruned_n = NULL WHERE store = ? AND package_id = ?",
          values: [this.#store, event.package],
        });
        return [];
      default:
        return [];
    }
  }

  async write(): Promise<void> {
    const [archived, waiting, named] = [this.#archived, this.#waiting, this.#named];
    this.#archived = [];
    this.#waiting = [];
    this.#named = [];
    const numbers: Statement = {
      sql: "INSERT OR IGNORE INTO named SELECT value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
      values: [this.#store, JSON.stringify(named)],
    };
    const packages: Statement = {
      sql: `INSERT OR IGNORE INTO logged SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, NULL
        FROM json_each(?)`,
      values: [this.#store, JSON.stringify(archived)],
    };
    if (archived.length + waiting.length + named.length > 0) {
      await this.#tables.transaction([
        ...(archived.length > 0 ? [packages] : []),
        ...waiting,
        ...(named.length > 0 ? [numbers] : []),
      ]);
    }
  }

  async #prune(n: number, event: EventOf<"pruned">): Promise<readonly string[]> {
    const found = await this.#find(event.package);
    if (found === undefined) {
      return [
        `the line ${n} says that ${event.path} was deleted, and no line before says that it was archived`,
      ];
    }
    const problems: string[] = [];
    const archived = String(found["archived"]);
    if (archived >= event.before || event.before > event.at) {
      problems.push(
        `the line ${n} says that ${event.path} was deleted at ${event.at} as older than ${event.before}, and it was archived at ${archived}`,
      );
    }
    if (event.path !== found["path"] || event.sha256 !== found["sha256"]) {
      problems.push(
        `the line ${n} says that ${event.path} was deleted, and names another folder or manifest than the line that archived it`,
      );
    }
    if (Date.parse(event.before) > Date.now() + dayMs) {
      problems.push(
        `the line ${n} says that ${event.path} was deleted as older than ${event.before}, which is in the future by the clock of this computer`,
      );
    }
    // A hold on one of the packages of a transaction keeps all of them.
    if (this.held.has(event.package) || this.#families.isHeld(String(found["family"]))) {
      problems.push(`the line ${n} says that ${event.path} was deleted while it was on hold`);
    }
    await this.#add({
      sql: "UPDATE logged SET pruned_n = ? WHERE store = ? AND package_id = ?",
      values: [n, this.#store, event.package],
    });
    return problems;
  }

  async #unknown(
    n: number,
    event: LogEvent & { readonly path: string; readonly package: string },
  ): Promise<readonly string[]> {
    return (await this.#find(event.package)) === undefined ? [sayUnknown(n, event.path)] : [];
  }

  async #find(id: string): Promise<Row | undefined> {
    await this.write();
    const [found] = await this.#tables.select("SELECT * FROM logged WHERE store = ? AND package_id = ?", [
      this.#store,
      id,
    ]);
    return found;
  }

  async #addPackage(row: readonly (number | string)[]): Promise<void> {
    if (this.#waiting.length > 0 || this.#archived.length >= atOnce) {
      await this.write();
    }
    this.#archived.push(row);
  }

  async #add(statement: Statement): Promise<void> {
    this.#waiting.push(statement);
    if (this.#waiting.length >= atOnce) {
      await this.write();
    }
  }
}

/** The families of the packages that are on hold: looked up when the hold begins, as years have many holds and many more deletions. */
class HeldFamilies {
  /** By the ID of the package. */
  readonly #ofPackage = new Map<string, string>();
  /** How many packages of a family are on hold. */
  readonly #counts = new Map<string, number>();

  /** The first line that archives a package says its family. */
  hold(id: string, family: string): void {
    if (!this.#ofPackage.has(id)) {
      this.#ofPackage.set(id, family);
      this.#add(family, 1);
    }
  }

  release(id: string): void {
    const family = this.#ofPackage.get(id);
    if (family !== undefined) {
      this.#ofPackage.delete(id);
      this.#add(family, -1);
    }
  }

  isHeld(family: string): boolean {
    return (this.#counts.get(family) ?? 0) > 0;
  }

  #add(family: string, more: number): void {
    this.#counts.set(family, (this.#counts.get(family) ?? 0) + more);
  }
}

/** Findings of a log: thousands of the same kind are counted. */
class Problems {
  readonly #path: string;
  readonly #counts = new Map<string, number>();

  constructor(path: string) {
    this.#path = path;
  }

  *say(kind: string, problem: string): Generator<Finding> {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= mostSaid) {
      yield { kind: "log", path: this.#path, problem };
    }
  }

  *end(): Generator<Finding> {
    for (const count of this.#counts.values()) {
      if (count > mostSaid) {
        yield {
          kind: "log",
          path: this.#path,
          problem: `and ${count - mostSaid} more lines of the log like these`,
        };
      }
    }
  }
}

function sayUnknown(n: number, path: string): string {
  return `the line ${n} is about ${path}, and no line before says that it was archived`;
}

/** Says of lines, one or several, what they are. */
export function sayLines(first: number, last: number, what: string): string {
  return first === last
    ? `the line ${first} of the log is ${what}`
    : `the lines ${first} to ${last} of the log are ${what}`;
}
