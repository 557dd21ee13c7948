#!/usr/bin/env node
import { parseArgs } from "node:util";
import type { PrunedPackage, PruneReport } from "../../model/archive-reports.ts";
import { readAgeMs } from "../maintenance/age.ts";
import { pruneArchive } from "../maintenance/commands.ts";
import {
  folderOf,
  print,
  printable,
  printableJson,
  runCommand,
  sayBytes,
  sayCount,
  withProgress,
} from "./cli-output.ts";

const help = `Usage: dimensioner-prune <folder> --older-than <age> [--database <file>] [--dry-run] [--json]

Deletes packages that dimensioner-archive wrote longer ago than the age: 90d, 12w, 2y or 36h. A package is kept when
it holds a file called hold (or hold.txt), or anything that its manifest does not name. What is no package is never
touched. Each deletion is written to .dimensioner-archive/pruned.jsonl before it happens. May run while Node-RED is
writing, and be stopped and run again at any time.

  --older-than <age>  how old a package must be; nothing is deleted without it
  --database <file>   the store's database, or the folder that holds it: the rows of all deleted packages are removed
                      from its index, also while Node-RED has it open. Where it cannot be written they stay, and the
                      next run removes them
  --dry-run           only says what would be deleted
  --json              prints one JSON object a line, the last one with the totals
  --help              prints this

Exit code: 0 done, 1 some packages could not be deleted, or rows could not be removed, 2 nothing could be done,
130 stopped with Ctrl+C.`;

const sayings = {
  deleted: "deleted",
  held: "kept: it is on hold",
  kept: "kept",
  failed: "could not be deleted",
} as const;

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
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
  const folder = folderOf(positionals);
  const isJson = values.json === true;
  const isDryRun = values["dry-run"] === true;
  const before = new Date(Date.now() - readAge(values["older-than"]));
  const report = await withProgress((line) =>
    pruneArchive(folder, {
      before,
      dryRun: isDryRun,
      database: values.database,
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
  if (report.failed > 0 || report.rowsKept !== null) {
    process.exitCode = 1;
  }
}

function readAge(age: string | undefined): number {
  if (age === undefined) {
    throw new Error("say how old a package must be, such as --older-than 90d.");
  }
  const ageMs = readAgeMs(age);
  if (ageMs === undefined) {
    throw new Error(`“${age}” is no age. Write it as 90d, 12w, 2y or 36h.`);
  }
  return ageMs;
}

function sayPackage({ what, path, reason }: PrunedPackage, isDryRun: boolean): string {
  const said = what === "deleted" && isDryRun ? "would be deleted" : sayings[what];
  return `${path}: ${said}${reason === undefined || what === "held" ? "" : `: ${reason}`}`;
}

async function printTotal(report: PruneReport, isDryRun: boolean): Promise<void> {
  const { deleted, bytes, held, kept, failed, rowsRemoved, rowsKept } = report;
  const verb = isDryRun ? "would be deleted" : "deleted";
  const rest = `${held} on hold, ${kept} kept, ${failed} failed`;
  await print(`${sayCount(deleted, "package")} ${verb} (${sayBytes(bytes)}); ${rest}`);
  if (rowsRemoved !== null) {
    await print(`${sayCount(rowsRemoved, "row")} removed from the index`);
  }
  if (rowsKept !== null) {
    await print(printable(`rows stay in the index until the next run: ${rowsKept}`));
  }
}

await runCommand("dimensioner-prune", main);
