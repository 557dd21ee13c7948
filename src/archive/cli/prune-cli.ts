#!/usr/bin/env node
import { parseArgs } from "node:util";
import type { PrunedPackage, PruneReport } from "../../model/archive-reports.ts";
import { timeBefore } from "../maintenance/age.ts";
import { pruneArchive } from "../maintenance/commands.ts";
import {
  print,
  printable,
  printableJson,
  runCommand,
  sayBytes,
  sayCount,
  withProgress,
} from "./cli-output.ts";
import { namedPlace, storeHelp } from "./named-place.ts";

const help = `Usage: dimensioner-prune <folder> --older-than <age> [--database <file>] [--dry-run] [--json]
       dimensioner-prune --store <file> --older-than <age> [--dry-run] [--json]

Deletes packages of the archive node that are older than an age, such as 90d, 12w, 2y or 36h. A package is kept if it
contains a file named hold (or hold.txt), or a file that its manifest does not list. Anything that is not a package is
left alone. Each deletion is logged in .dimensioner-archive/pruned.jsonl before it happens. You can run it while
Node-RED is writing, and stop it and run it again at any time.

Instead of a folder, it prunes a bucket: s3://bucket/prefix, as dimensioner-copy --help describes. There, it also
removes what belongs to no package and is older than a day: of interrupted uploads and deletions, and media for jobs
that have ended. Only the database shows what nobody needs: without it, this is listed and kept. Packages that the
object store protects (Object Lock) are kept.

${storeHelp}
  --older-than <age>  the age from which packages are deleted; required
  --database <file>   the store's database, the folder that contains it, or the address of an index in PostgreSQL:
                      the rows of all deleted packages are removed from it, also while Node-RED has it open. If the
                      database cannot be written, the rows are removed by the next run
  --dry-run           only print what would be deleted
  --json              print one JSON object per line, the last one with the totals
  -h, --help          print this text

Exit code: 0 done, 1 some packages could not be deleted, some rows could not be removed, or what belongs to no package
was not searched for to the end, 2 nothing could be done, 130 stopped with Ctrl+C.`;

const resultTexts = {
  deleted: "deleted",
  held: "kept: it is on hold",
  kept: "kept",
  failed: "could not be deleted",
  leftover: "removed",
} as const;

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      "older-than": { type: "string" },
      database: { type: "string" },
      "dry-run": { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const { place, database } = await namedPlace(positionals, values.store);
  const isJson = values.json === true;
  const isDryRun = values["dry-run"] === true;
  const before = timeAt(values["older-than"]);
  const report = await withProgress((line) =>
    pruneArchive(place, {
      before,
      dryRun: isDryRun,
      database: values.database ?? database,
      signal,
      onProgress: line.show,
      onPackage: line.apart((one) =>
        print(isJson ? printableJson({ ...one, isDryRun }) : printable(sayPackage(one, isDryRun))),
      ),
    }),
  );
  await (isJson
    ? print(printableJson({ what: "total", isDryRun, ...report }))
    : printTotal(report, isDryRun));
  if (report.failed > 0 || report.rowsKept !== null || report.leftoversKept !== null) {
    process.exitCode = 1;
  }
}

function timeAt(age: string | undefined): Date {
  if (age === undefined) {
    throw new Error("--older-than is missing, for example --older-than 90d. See --help.");
  }
  const before = timeBefore(new Date(), age);
  if (before === undefined) {
    throw new Error(`“${age}” is not an age. Use one such as 90d, 12w, 2y or 36h.`);
  }
  return before;
}

function sayPackage({ what, path, reason }: PrunedPackage, isDryRun: boolean): string {
  const wouldBe = { deleted: "would be deleted", leftover: "would be removed" } as const;
  const isOnlyTold = isDryRun && (what === "deleted" || what === "leftover");
  const said = isOnlyTold ? wouldBe[what] : resultTexts[what];
  return `${path}: ${said}${reason === undefined || what === "held" ? "" : `: ${reason}`}`;
}

async function printTotal(report: PruneReport, isDryRun: boolean): Promise<void> {
  const { deleted, bytes, held, kept, failed, leftovers, leftoversKept, rowsRemoved, rowsKept } = report;
  const verb = isDryRun ? "would be deleted" : "deleted";
  const rest = `${held} on hold, ${kept} kept, ${failed} failed`;
  await print(`${sayCount(deleted, "package")} ${verb} (${sayBytes(bytes)}); ${rest}`);
  if (leftovers > 0) {
    const removed = isDryRun ? "would be removed" : "removed";
    await print(`${sayCount(leftovers, "folder")} that belonged to no package ${removed}`);
  }
  if (leftoversKept !== null) {
    await print(printable(`what belongs to no package was not searched for to the end: ${leftoversKept}`));
  }
  if (rowsRemoved !== null) {
    await print(`${sayCount(rowsRemoved, "row")} removed from the index`);
  }
  if (rowsKept !== null) {
    await print(printable(`rows stay in the index until the next run: ${rowsKept}`));
  }
}

await runCommand("dimensioner-prune", main);
