/**
 * Texts of the database that may have tens of megabytes: what the messages of jobs have said, and what a webhook was sent. Whoever reads
 * many rows reads them without these, and then some of these at a time: an answer of PostgreSQL is limited, and so is memory.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Database, type Row, type SqlValue, oneOf } from "./database.ts";

/** A long text of a table, which has its SHA-256 in a column beside it. */
export interface LongText {
  readonly table: string;
  readonly key: string;
  readonly column: string;
}

export const intents: LongText = { table: "jobs", key: "job_id", column: "intent" };
export const records: LongText = { table: "records", key: "record_id", column: "record" };

/** How many bytes of such texts are read at once, unless one of them has more. */
const mostBytes = 16_000_000;
/** How many rows are read at once. */
const mostRows = 1_000;
/** After so long, what else the process has to do gets its turn: reading such a text takes up to a millisecond, and there may be thousands. */
const turnEveryMs = 20;

/** A column with the length of a text, which `withTexts` needs in its rows, beside their key. */
export function lengthOf({ column }: LongText): string {
  return `octet_length(${column}) AS long_bytes`;
}

/**
 * Adds the text and its hash to each row, in their order. A row that is gone meanwhile is left out. Rejects with ERR_STORE.
 */
export async function* withTexts(
  database: Pick<Database, "transaction">,
  { table, key, column }: LongText,
  rows: readonly Row[],
): AsyncGenerator<Row> {
  for (const some of bySize(rows)) {
    const these = oneOf(
      key,
      some.map((row) => row[key] ?? null),
    );
    const [found = []] = await database.transaction([
      {
        sql: `SELECT ${key}, ${column}, ${column}_sha256 FROM ${table} WHERE ${these.sql}`,
        values: these.values,
      },
    ]);
    const texts = new Map<SqlValue | undefined, Row>(found.map((row) => [row[key], row]));
    let turnedAt = performance.now();
    for (const row of some) {
      if (performance.now() - turnedAt > turnEveryMs) {
        await nextTurn();
        turnedAt = performance.now();
      }
      const text = texts.get(row[key]);
      if (text !== undefined) {
        yield { ...row, ...text };
      }
    }
  }
}

function bySize(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    const length = Number(row["long_bytes"]);
    const group = groups.at(-1);
    if (group === undefined || bytes + length > mostBytes || group.length === mostRows) {
      groups.push([row]);
      bytes = length;
    } else {
      group.push(row);
      bytes += length;
    }
  }
  return groups;
}
