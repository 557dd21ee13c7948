import type { PruneReport, PrunedPackage, PrunedSpace } from "../model/archive-reports.ts";
import { timeBefore } from "../rules/periods.ts";
import { pruneArchive } from "../vault/upkeep/upkeep.ts";
import {
  UsageError,
  databaseOption,
  defineVerb,
  namedStore,
  required,
  sayBytes,
  sayCount,
  size,
  storeText,
  withFindings,
} from "./command-line.ts";

export const prune = defineVerb({
  name: "prune",
  usage: [
    "STORE --older-than <age> [--database <file>] [--dry-run] [--json]",
    "STORE --keep-free <size> [--older-than <age>] [--database <file>] [--dry-run]",
    "STORE --use-at-most <size> [--older-than <age>] [--database <file>] [--dry-run]",
  ],
  description: `Deletes packages of a store that are older than an age, or the oldest ones until there is enough space: those that its
database lists. A package is kept while it is on hold, or if it contains a file that its manifest does not list. Anything that is not a package is left alone. Each deletion is in the store's log before
it happens. You can run it while Node-RED is writing, and stop it and run it again at any time.

Because of their age, nothing is deleted where the clock of this computer may be wrong: the newest package is more than a month old, or nearly
all are due at once. Age counts from when a package was archived or, if that is later, measured by the clock of the device.

For space, one run deletes at most a tenth of the packages, and with --older-than none that is younger. If the disk and the database
contradict each other, or the disk does not gain what is deleted, nothing more is deleted. What is still missing is said, with exit code 1.

In a bucket, it also removes what belongs to no package and is older than a day: of interrupted uploads and deletions, and media for jobs
that have ended. Packages that the object store protects (Object Lock) are kept.

${storeText}`,
  options: {
    "older-than": {
      type: "string",
      value: "<age>",
      help: "the age from which packages are deleted, such as 90d, 12w, 2y or 36h; required, unless space is asked for",
    },
    "keep-free": {
      type: "string",
      value: "<size>",
      help: "how much stays free on the disk of the packages, such as 50GB; not for a bucket",
    },
    "use-at-most": {
      type: "string",
      value: "<size>",
      help: "how much all packages may have, such as 500GB, as the database has it: without manifests",
    },
    database: databaseOption,
    "despite-clock": {
      type: "boolean",
      help: "delete although the newest package is a month old, or nearly all packages are due: the clock may be wrong",
    },
    "dry-run": { type: "boolean", help: "only print what would be deleted" },
  },
  examples: [
    "prune store.json --older-than 2y --dry-run",
    "prune store.json --older-than 2y",
    "prune store.json --keep-free 50GB --older-than 90d",
  ],
  exitCodes: `0 done, 1 some packages could not be deleted, or there is still too little space, or what belongs to no package was not searched for to the end, 2 nothing could be done, 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const { place, name, database } = await namedStore(positionals);
    const isDryRun = values["dry-run"] === true;
    const [keepFree, useAtMost] = (["keep-free", "use-at-most"] as const).map((option) => {
      const given = values[option];
      return given === undefined ? undefined : size(option, given);
    });
    const isForSpace = keepFree !== undefined || useAtMost !== undefined;
    const age = values["older-than"];
    const before = isForSpace && age === undefined ? undefined : timeAt(required("older-than", age));
    const report = await withFindings(
      { verb: "prune", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const pruned = await pruneArchive(place, {
          before,
          keepFree,
          useAtMost,
          despiteClock: values["despite-clock"] === true,
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
    const isDone =
      report.failed === 0 && report.leftoversKept === null && (report.space?.problem ?? null) === null;
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
  const { isDryRun, deleted, bytes, held, kept, failed, leftovers, leftoversKept, space } = report;
  const lines = [
    `${sayCount(deleted, "package")} ${isDryRun ? "would be deleted" : "deleted"} (${sayBytes(bytes)}); ` +
      `${held} on hold, ${kept} kept, ${failed} failed`,
  ];
  if (leftovers > 0) {
    const removed = isDryRun ? "would be removed" : "removed";
    lines.push(`${sayCount(leftovers, "folder")} that belonged to no package ${removed}`);
  }
  if (space !== null) {
    lines.push(saySpace(space));
  }
  if (leftoversKept !== null) {
    lines.push(`what belongs to no package was not searched for to the end: ${leftoversKept}`);
  }
  return lines;
}

function saySpace({ usedBytes, freeBytes, problem, daysLeft }: PrunedSpace): string {
  if (problem !== null) {
    return problem;
  }
  const free = freeBytes === null ? "" : `, ${sayBytes(freeBytes)} were free`;
  const left =
    daysLeft === null ? "" : `; at the pace of the last seven days, for ${sayCount(daysLeft, "more day")}`;
  return `there is enough space now: the packages had ${sayBytes(usedBytes)}${free}${left}`;
}
