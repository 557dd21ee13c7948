import { manyAtOnce } from "../support/opened.ts";
import { shortMs } from "./endings.ts";
import { checkCount } from "./expected.ts";
import type { Row, Rows } from "./row.ts";
import { meetAll, operations } from "./sources.ts";
import { families } from "./tables/index.ts";

const all = families.flatMap(({ title, rows }) =>
  Object.entries(rows).map(([name, row]): [string, Row] => [`${title}: ${name}`, row]),
);

/** The rows whose deadline is to pass are run among themselves: others would leave them little of the machine. */
for (const isLate of [false, true]) {
  const rows: Rows = Object.fromEntries(all.filter(([, row]) => (row.timeoutMs === shortMs) === isLate));
  describe(`every operation under every fault${isLate ? ", at its deadline" : ""}`, function () {
    this.timeout(60_000);
    manyAtOnce(rows, async (row, opened) => checkCount(await meetAll(row, opened), row, operations));
  });
}
