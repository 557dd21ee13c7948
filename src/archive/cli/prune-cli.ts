#!/usr/bin/env node
import { parseArgs } from "node:util";
import { endWithReader, giveUp, print, printable, sayBytes, sayCount } from "./cli-output.ts";
import { prune, readAgeMs } from "../packages/prune.ts";

const help = `Usage: dimensioner-prune <folder> --older-than <age> [--dry-run] [--json]

Deletes packages that dimensioner-archive wrote longer ago than the age: 90d, 12w, 2y or 36h. A package is kept when
it holds a file called hold (or hold.txt), or anything that its manifest does not name. What is no package is never
touched. Each deletion is written to .dimensioner-archive/pruned.jsonl before it happens.

  --older-than  how old a package must be; nothing is deleted without it
  --dry-run     only says what would be deleted
  --json        prints one JSON object a line
  --help        prints this

Exit code: 0 done, 1 some packages could not be deleted, 2 nothing could be done.`;

const sayings = {
  deleted: "deleted",
  held: "kept: it is on hold",
  kept: "kept",
  failed: "could not be deleted",
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "older-than": { type: "string" },
      "dry-run": { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const [folder, more] = positionals;
  if (folder === undefined || more !== undefined) {
    throw new Error("name one folder. See --help.");
  }
  const age = values["older-than"];
  if (age === undefined) {
    throw new Error("say how old a package must be, such as --older-than 90d.");
  }
  const ageMs = readAgeMs(age);
  if (ageMs === undefined) {
    throw new Error(`“${age}” is no age. Write it as 90d, 12w, 2y or 36h.`);
  }

  const isDryRun = values["dry-run"] === true;
  const total = { deleted: 0, held: 0, kept: 0, failed: 0, bytes: 0 };
  for await (const one of prune(folder, { before: new Date(Date.now() - ageMs), isDryRun })) {
    total[one.what] += 1;
    if (one.what === "deleted") {
      total.bytes += one.bytes;
    }
    const said = one.what === "deleted" && isDryRun ? "would be deleted" : sayings[one.what];
    const why = one.reason === undefined || one.what === "held" ? "" : `: ${one.reason}`;
    await print(
      values.json === true ? JSON.stringify({ ...one, isDryRun }) : printable(`${one.path}: ${said}${why}`),
    );
  }
  if (values.json !== true) {
    const verb = isDryRun ? "would be deleted" : "deleted";
    const rest = `${total.held} on hold, ${total.kept} kept, ${total.failed} failed`;
    await print(`${sayCount(total.deleted, "package")} ${verb} (${sayBytes(total.bytes)}); ${rest}`);
  }
  if (total.failed > 0) {
    process.exitCode = 1;
  }
}

endWithReader();
try {
  await main();
} catch (error) {
  giveUp("dimensioner-prune", error);
}
