/**
 * The log of a store in its database. A line gets its number in the transaction that makes it true, so any number of workers write one
 * log without gaps. Each writer then puts its own lines beside the packages, where they outlive the database.
 */
import {
  type Condition,
  type Database,
  type Row,
  type Statement,
  always,
  databaseTime,
  marksFor,
} from "./database.ts";

/** A line of the log. */
export interface LogLine {
  /** Its place in the log; 0 is the first one. */
  readonly n: number;
  readonly line: string;
}

/** A line as it is in the database, with the columns by which it is found there: those of `NewLine`. */
export interface FoundLine extends LogLine {
  readonly columns: Row;
}

/** The statement that reads such lines from a number on, as many as its second value says. */
export const selectFound = `SELECT n, line, what, package_id AS "packageId", sha256, transaction_id AS "transactionId"
  FROM log WHERE n >= ? ORDER BY n LIMIT ?`;

export function foundLineOf(columns: Row): FoundLine {
  return { ...lineOf(columns), columns };
}

/** A line before it has its number. */
export interface NewLine {
  readonly what: string;
  /** The ID of the package that it is about; null if it is about none. */
  readonly packageId: string | null;
  /** Of a package that was deleted: the SHA-256 of its manifest, and its transaction in small letters. Null in all other lines. */
  readonly sha256: string | null;
  readonly transactionId: string | null;
  readonly line: string;
}

/** Puts lines beside the packages; resolves when they are durable. */
export type WritesLines = (writer: string, lines: readonly LogLine[]) => Promise<void>;

const linesAtOnce = 1_000;
/** How many lines are put beside the packages again after a kill, at most. */
const notedEvery = 64;

/** The log of one database, shared by all that write to it in this process. */
export class LogTable {
  /** Whose log it is. */
  readonly store: string;
  readonly #database: Pick<Database, "transaction">;
  readonly #writer: string;
  #ready: Promise<void> | undefined;
  /** Who comes later waits for who came before. */
  #last: Promise<unknown> = Promise.resolve();
  /** How often it was asked to publish, and up to which of these calls all is published. */
  #asked = 0;
  #done = 0;
  /** All own lines with smaller numbers are beside the packages, and the database knows it of those below `noted`. */
  #published: number | undefined;
  #noted = 0;
  /** What runs behind the publishing, and how many lines there were when it last began. */
  #tidying: Promise<void> | undefined;
  #tidiedAt = 0;

  /** `store`: the ID of the database. `writer`: nothing else writes lines by this name at the same time. */
  constructor(database: Pick<Database, "transaction">, store: string, writer: string) {
    this.#database = database;
    this.store = store;
    this.#writer = writer;
  }

  /**
   * Runs what has to be done once before this process adds its first line. If it fails, the next caller tries it again.
   */
  async ready(prepare: () => Promise<void>): Promise<void> {
    const preparing = (this.#ready ??= prepare());
    try {
      await preparing;
    } catch (error) {
      if (this.#ready === preparing) {
        this.#ready = undefined;
      }
      throw error;
    }
  }

  /** The statements that add a line if the condition holds. They may follow each other, behind `lockLog`. */
  append(
    { what, packageId, sha256, transactionId, line }: NewLine,
    condition: Condition = always,
  ): readonly Statement[] {
    // From the first line that was put beside the packages on, the writer is known.
    const begin: Statement = {
      sql: `INSERT INTO log_writers (writer, published) SELECT ?, size FROM log_head WHERE ${condition.sql}
        ON CONFLICT (writer) DO NOTHING`,
      values: [this.#writer, ...condition.values],
    };
    return [
      ...(this.#published === undefined ? [begin] : []),
      {
        sql: `INSERT INTO log (n, what, package_id, sha256, transaction_id, writer, line)
          SELECT size, ?, ?, ?, ?, ?, ? FROM log_head WHERE ${condition.sql}`,
        values: [what, packageId, sha256, transactionId, this.#writer, line, ...condition.values],
      },
      { sql: "UPDATE log_head SET size = size + 1 WHERE EXISTS (SELECT 1 FROM log WHERE n = size)" },
    ];
  }

  /**
   * Puts all lines that this writer has added so far beside the packages. Several calls at the same time share the work. Rejects with
   * ERR_STORE, and as `write` does; then the next call tries it again.
   */
  async publish(write: WritesLines): Promise<void> {
    this.#asked += 1;
    const own = this.#asked;
    await this.#inTurn(async () => {
      if (this.#done < own) {
        const asked = this.#asked;
        await this.#publish(write);
        this.#done = asked;
      }
    });
  }

  /** One writes after the other: lines that are added to one file at the same time could divide each other. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    await turn;
  }

  /**
   * Puts the lines that say of some packages that they were archived beside the packages, whoever has added them: their writer may be about
   * to do it, or have been killed. Rejects as `publish` does.
   */
  async publishArchived(packageIds: readonly string[], write: WritesLines): Promise<void> {
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT n, line, log.writer AS writer, published FROM log LEFT JOIN log_writers ON log_writers.writer = log.writer
          WHERE package_id IN (${marksFor(packageIds)}) AND what = 'archived' ORDER BY n`,
        values: packageIds,
      },
    ]);
    if (rows.some(({ n, writer }) => writer === this.#writer && Number(n) >= (this.#published ?? 0))) {
      await this.publish(write);
    }
    // A line without a writer was read from beside the packages.
    const others = rows.filter(
      ({ n, writer, published }) =>
        writer !== this.#writer && published !== null && Number(n) >= Number(published),
    );
    if (others.length > 0) {
      await this.#inTurn(() => write(this.#writer, others.map(lineOf)));
    }
  }

  /**
   * Does the same for what others have left: tools that were killed, and workers whose lease has ended. Lines that are there
   * already may come twice.
   */
  async publishLeft(write: WritesLines): Promise<void> {
    await this.#inTurn(() => this.#publishLeft(write));
  }

  /** Each tool and each start of a worker is a writer of its own: the cost is that of the lines since the last time, not that of all writers. */
  async #publishLeft(write: WritesLines): Promise<void> {
    const hasEnded = `log_writers.writer <> ? AND published < (SELECT size FROM log_head)
      AND NOT EXISTS (SELECT 1 FROM workers WHERE worker_id = log_writers.writer AND lease_until > ${databaseTime})`;
    const since = `n >= (SELECT min(published) FROM log_writers WHERE ${hasEnded})`;
    const values = [this.#writer, "0 seconds"];
    const [, left = []] = await this.#database.transaction([
      {
        sql: `UPDATE log_writers SET published = (SELECT size FROM log_head)
          WHERE published <= (SELECT size FROM log_head) - ${linesAtOnce} AND ${hasEnded}
            AND writer NOT IN (SELECT writer FROM log WHERE ${since})`,
        values: [...values, ...values],
      },
      {
        sql: `SELECT DISTINCT log_writers.writer AS writer, published FROM log
          JOIN log_writers ON log_writers.writer = log.writer AND n >= published WHERE ${since} AND ${hasEnded}`,
        values: [...values, ...values],
      },
    ]);
    for (const row of left) {
      const writer = String(row["writer"]);
      const to = await this.#writeFrom(Number(row["published"]), writer, write);
      await this.#note(writer, to);
    }
  }

  /**
   * Begins some work on what is beside the packages, when so many lines were published since it last began; nothing waits for it but
   * `close`. It may fail, and says whether it is worth being tried again later.
   */
  tidyAfter(lines: number, work: (published: number) => Promise<boolean>): void {
    const published = this.#published ?? 0;
    if (this.#tidying === undefined && published - this.#tidiedAt >= lines) {
      this.#tidiedAt = published;
      this.#tidying = this.#tidy(published, work);
    }
  }

  async #tidy(published: number, work: (published: number) => Promise<boolean>): Promise<void> {
    try {
      const isUseful = await work(published);
      this.#tidiedAt = isUseful ? published : Infinity;
    } catch {
      // The lines are beside the packages as they are.
    } finally {
      this.#tidying = undefined;
    }
  }

  /** The lines from a number up to another one, which is not included. */
  lines(first: number, end: number): Promise<LogLine[]> {
    return linesBetween(this.#database, first, end);
  }

  /** To be called before the database is closed: fewer lines are put beside the packages again by the next process then. */
  async close(): Promise<void> {
    await this.#last;
    await this.#tidying;
    if (this.#published !== undefined && this.#published > this.#noted) {
      await this.#note(this.#writer, this.#published).catch(() => undefined);
    }
  }

  async #publish(write: WritesLines): Promise<void> {
    if (this.#published === undefined) {
      const [[row] = []] = await this.#database.transaction([
        { sql: "SELECT published FROM log_writers WHERE writer = ?", values: [this.#writer] },
      ]);
      if (row === undefined) {
        return;
      }
      this.#published = this.#noted = Number(row["published"]);
    }
    this.#published = await this.#writeFrom(this.#published, this.#writer, write);
    if (this.#published - this.#noted >= notedEvery) {
      await this.#note(this.#writer, this.#published);
      this.#noted = this.#published;
    }
  }

  /** Returns the number up to which all lines of the writer are beside the packages. */
  async #writeFrom(from: number, writer: string, write: WritesLines): Promise<number> {
    for (let at = from; ;) {
      const [head = [], rows = []] = await this.#database.transaction([
        { sql: "SELECT size FROM log_head" },
        {
          sql: "SELECT n, line FROM log WHERE n >= ? AND writer = ? ORDER BY n LIMIT ?",
          values: [at, writer, linesAtOnce],
        },
      ]);
      if (rows.length > 0) {
        await write(this.#writer, rows.map(lineOf));
      }
      if (rows.length < linesAtOnce) {
        return Math.max(at, Number(head[0]?.["size"]));
      }
      at = Number(rows.at(-1)?.["n"]) + 1;
    }
  }

  async #note(writer: string, published: number): Promise<void> {
    await this.#database.transaction([
      {
        sql: "UPDATE log_writers SET published = ? WHERE writer = ? AND published < ?",
        values: [published, writer, published],
      },
    ]);
  }
}

/** Lines that a tool has left are looked for among so many: whoever puts lines beside the packages soon after an error finds them. */
const recentLines = 10_000;

/** Whether a tool, and no worker, has left lines not long ago that are not beside the packages. */
export async function hasLeftLines(database: Pick<Database, "transaction">): Promise<boolean> {
  const isTool = `published < (SELECT size FROM log_head) AND published >= (SELECT size FROM log_head) - ${recentLines}
    AND log_writers.writer <> (SELECT store_id FROM store)
    AND NOT EXISTS (SELECT 1 FROM workers WHERE worker_id = log_writers.writer)`;
  const [rows = []] = await database.transaction([
    {
      sql: `SELECT 1 FROM log JOIN log_writers ON log_writers.writer = log.writer AND n >= published
        WHERE n >= (SELECT min(published) FROM log_writers WHERE ${isTool}) AND ${isTool} LIMIT 1`,
    },
  ]);
  return rows.length > 0;
}

/**
 * The statements that add lines in one go, behind `lockLog`. They are the writer's, and have still to be put beside the packages:
 * `publishLeft` does it.
 */
export function appendLines(writer: string, lines: readonly NewLine[]): Statement[] {
  const rows = lines.map((_, index) => `((SELECT size FROM log_head) + ${index}, ?, ?, ?, ?, ?, ?)`);
  return [
    {
      sql: "INSERT INTO log_writers (writer, published) SELECT ?, size FROM log_head WHERE 1 = 1 ON CONFLICT (writer) DO NOTHING",
      values: [writer],
    },
    {
      sql: `INSERT INTO log (n, what, package_id, sha256, transaction_id, writer, line) VALUES ${rows.join(", ")}`,
      values: lines.flatMap(({ what, packageId, sha256, transactionId, line }) => [
        what,
        packageId,
        sha256,
        transactionId,
        writer,
        line,
      ]),
    },
    { sql: "UPDATE log_head SET size = size + ?", values: [lines.length] },
  ];
}

/** Reads a row of the log. */
export function lineOf(row: Row): LogLine {
  return { n: Number(row["n"]), line: String(row["line"]) };
}

/** The lines of a log in a database from a number up to another one, which is not included. */
export async function linesBetween(
  database: Pick<Database, "transaction">,
  first: number,
  end: number,
): Promise<LogLine[]> {
  const [rows = []] = await database.transaction([
    { sql: "SELECT n, line FROM log WHERE n >= ? AND n < ? ORDER BY n", values: [first, end] },
  ]);
  return rows.map(lineOf);
}
