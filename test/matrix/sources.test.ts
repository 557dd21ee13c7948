import { manyAtOnce } from "../support/opened.ts";
import { chosen, titleOf } from "./chosen-rows.ts";
import { shortMs } from "./endings.ts";
import { checkCount } from "./expected.ts";
import { keepResults } from "./results.ts";
import type { Row, Rows } from "./row.ts";
import { runRow, operations } from "./sources.ts";
import type { Count } from "./count.ts";

describe("every operation under every fault", () => {
  const results: Record<string, Count> = {};
  after(() => keepResults("sources", results));

  for (const group of ["of most kinds", "whose deadline passes", "that leaves a port free"] as const) {
    const rows: Rows = Object.fromEntries(
      chosen.filter(({ row }) => groupOf(row) === group).map((one): [string, Row] => [titleOf(one), one.row]),
    );
    describe(group, () =>
      manyAtOnce(rows, async (row, opened, title) => {
        const count = await runRow(row, opened);
        checkCount(count, row, operations);
        results[title] = count;
      }),
    );
  }
});

/**
 * Rows whose deadline is to pass run among themselves, since others would leave them little of the machine; and so do
 * those that free a port, which the servers of others would take.
 */
function groupOf({ timeoutMs, faults = [], given = [] }: Row): string {
  const freesPort = faults.some(({ kind }) => kind === "refuse") || given.some((one) => "power" in one);
  if (freesPort) {
    return "that leaves a port free";
  }
  return timeoutMs === shortMs ? "whose deadline passes" : "of most kinds";
}
