import type { PruneReport, PrunedPackage } from "../model/archive-reports.ts";
import { timeBefore } from "../rules/periods.ts";
import { pruneArchive } from "../vault/commands.ts";
import {
  UsageError,
  databaseOption,
  defineVerb,
  namedStore,
  required,
  sayBytes,
  sayCount,
  storeText,
  withFindings,
} from "./command-line.ts";

export const prune = defineVerb({
  name: "prune",
  usage: ["STORE --older-than <age> [--database <file>] [--dry-run] [--json]"],
  description: `Deletes packages of a store that are older than an age: those that its database lists. A package is kept while it is on hold, or if
it contains a file that its manifest does not list. Anything that is not a package is left alone. Each deletion is in the store's log before
it happens. You can run it while Node-RED is writing, and stop it and run it again at any time.

In a bucket, it also removes what belongs to no package and is older than a day: of interrupted uploads and deletions, and media for jobs
that have ended. Packages that the object store protects (Object Lock) are kept.

${storeText}`,
  options: {
    "older-than": {
      type: "string",
      value: "<age>",
      help: "the age from which packages are deleted, such as 90d, 12w, 2y or 36h; required",
    },
    database: databaseOption,
    "dry-run": { type: "boolean", help: "only print what would be deleted" },
  },
  examples: ["prune store.json --older-than 2y --dry-run", "prune store.json --older-than 2y"],
  exitCodes: `0 done, 1 some packages could not be deleted, or what belongs to no package was not searched for to the end, 2 nothing could be done, 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const { place, name, database } = await namedStore(positionals);
    const isDryRun = values["dry-run"] === true;
    const before = timeAt(required("older-than", values["older-than"]));
    const report = await withFindings(
      { verb: "prune", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const pruned = await pruneArchive(place, {
          before,
          dryRun: isDryRun,
          database: values.database ?? database,
          signal,
          onProgress,
          onPackage: ({ what, path, ...rest }) =>
            onFinding({ path, kind: what, problem: sayPackage({ what, path, ...rest }, isDryRun), ...rest }),
        });
        return { isDryRun, ...pruned };
      },
      sayReport,
    );
    const isDone = report.failed === 0 && report.leftoversKept === null;
    return isDone ? 0 : 1;
  },
});

function timeAt(age: string): Date {
  const before = timeBefore(new Date(), age);
  if (before === undefined) {
    throw new UsageError(`“${age}” is not an age. Use one such as 90d, 12w, 2y or 36h.`);
  }
  return before;
}

const resultTexts = {
  deleted: "deleted",
  held: "kept: it is on hold",
  kept: "kept",
  failed: "could not be deleted",
  leftover: "removed",
} as const;

function sayPackage({ what, reason }: PrunedPackage, isDryRun: boolean): string {
  const wouldBe = { deleted: "would be deleted", leftover: "would be removed" } as const;
  const isOnlyTold = isDryRun && (what === "deleted" || what === "leftover");
  const said = isOnlyTold ? wouldBe[what] : resultTexts[what];
  return `${said}${reason === undefined || what === "held" ? "" : `: ${reason}`}`;
}

function sayReport(report: PruneReport & { readonly isDryRun: boolean }): string[] {
  const { isDryRun, deleted, bytes, held, kept, failed, leftovers, leftoversKept } = report;
  const lines = [
    `${sayCount(deleted, "package")} ${isDryRun ? "would be deleted" : "deleted"} (${sayBytes(bytes)}); ` +
      `${held} on hold, ${kept} kept, ${failed} failed`,
  ];
  if (leftovers > 0) {
    const removed = isDryRun ? "would be removed" : "removed";
    lines.push(`${sayCount(leftovers, "folder")} that belonged to no package ${removed}`);
  }
  if (leftoversKept !== null) {
    lines.push(`what belongs to no package was not searched for to the end: ${leftoversKept}`);
  }
  return lines;
}
