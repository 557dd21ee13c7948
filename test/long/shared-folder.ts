/**
 * Two Node-REDs that archive the same transactions into one folder:  node test/long/shared-folder.ts [transactions]
 *
 * Two of each major, and one of each: 200 transactions, each of which has one whole package in the end.
 */
import { archiveTogether } from "../nodes/shared-folder.ts";

const transactions = Number(process.argv[2] ?? 200);
for (const majors of [
  [4, 4],
  [5, 5],
  [4, 5],
] as const) {
  await archiveTogether(majors, transactions);
  console.log(`Node-RED ${majors.join(" and ")}: ${transactions} transactions, each in one whole package`);
}
