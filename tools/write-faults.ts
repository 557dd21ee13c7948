/**
 * Writes docs/faults.md from the tables of the fault matrix, if the results of a run agree with them. A test checks
 * that the page agrees with the tables.
 *
 *   npm run test:unit -- 'test/matrix/*.test.ts'
 *   npm run write:faults
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chosen, titleOf } from "../test/matrix/chosen-rows.ts";
import { renderFaults } from "../test/matrix/document.ts";
import { checkCount } from "../test/matrix/expected.ts";
import { readResults } from "../test/matrix/results.ts";
import { operations } from "../test/matrix/sources.ts";
import { nothing } from "../test/matrix/count.ts";

const [sources, nodes] = [await readResults("sources"), await readResults("nodes")];
for (const one of chosen) {
  const title = titleOf(one);
  checkCount(sources[title] ?? nothing, one.row, operations);
  if (one.nodes.length > 0) {
    checkCount(nodes[title] ?? nothing, one.row, one.nodes);
  }
}
await writeFile(join(import.meta.dirname, "../docs/faults.md"), renderFaults());
