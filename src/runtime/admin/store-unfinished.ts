import type { StoreSummary } from "../../database/summary.ts";
import { line, type TestLine } from "./connection-test.ts";

/** What the nodes of a store have left unfinished in its database. */
export function unfinishedLines({
  openJobs,
  oldestJobAt,
  unhandledRecords,
}: StoreSummary): readonly TestLine[] {
  return [
    oldestJobAt === null
      ? line("good", "jobsNone")
      : line("good", "jobs", { count: openJobs, time: { time: oldestJobAt } }),
    unhandledRecords === 0
      ? line("good", "recordsNone")
      : line("good", "records", { count: unhandledRecords }),
  ];
}
