import type { StatementSync } from "node:sqlite";
import type { Row, SqlValue } from "./database.ts";

/**
 * Returns the rows of a statement. A flipped bit on the disk can make an integer larger than JavaScript's; node:sqlite
 * would throw for it, so that one such row would prevent all others from being read. Such an integer is returned as
 * text: no column of a store holds any.
 */
export function allRows(statement: StatementSync, values: readonly SqlValue[]): readonly Row[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...values);
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "bigint") {
        const number = Number(value);
        row[name] = Number.isSafeInteger(number) ? number : String(value);
      }
    }
  }
  return rows as Row[];
}
