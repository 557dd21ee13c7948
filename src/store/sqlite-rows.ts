import type { StatementSync } from "node:sqlite";
import type { Row, SqlValue } from "./database.ts";

/**
 * The rows of a statement. A changed bit on the disk can make a whole number larger than JavaScript's; node:sqlite would throw
 * for it, and one such row would keep all others from being read. It comes as text: no column of a store holds such numbers.
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
