#!/usr/bin/env node
import { parseArgs } from "node:util";
import { endWithReader, giveUp, print, printable, ProgressLine, sayBytes, sayCount } from "./cli-output.ts";
import { Verification, type Checked, type Finding } from "../packages/verify.ts";

const help = `Usage: dimensioner-verify <folder> [--json] [--allow-incomplete]

Checks an archive that dimensioner-archive has written, a folder in it, or one package: each file against its
manifest, each manifest against the next one, and the folders for what is missing or does not belong there.
It only reads, and may run while Node-RED is writing.

  --json              prints one JSON object instead of sentences
  --allow-incomplete  packages that were kept without all their media are no finding
  --help              prints this

Exit code: 0 everything is as it was archived, 1 something is not, 2 it could not be checked.`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      "allow-incomplete": { type: "boolean" },
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
  const verification = new Verification(folder);
  const allowIncomplete = values["allow-incomplete"] === true;
  const count = values.json === true ? reportJson : reportText;
  if ((await count(verification, folder, allowIncomplete)) > 0) {
    process.exitCode = 1;
  }
}

/** What counts as a finding, with a line of progress beside it. */
async function* findingsOf(verification: Verification, allowIncomplete: boolean): AsyncGenerator<Finding> {
  const line = new ProgressLine();
  const { checked } = verification;
  const timer = setInterval(() => line.show(partOf(checked), progressOf(checked)), 200);
  try {
    for await (const finding of verification.run()) {
      if (allowIncomplete && finding.kind === "incomplete") {
        continue;
      }
      line.clear();
      yield finding;
    }
  } finally {
    clearInterval(timer);
    line.clear();
  }
}

async function reportText(
  verification: Verification,
  folder: string,
  allowIncomplete: boolean,
): Promise<number> {
  let found = 0;
  for await (const { path, problem } of findingsOf(verification, allowIncomplete)) {
    found += 1;
    await print(printable(`${path}: ${problem}`));
  }
  const { checked } = verification;
  const all = progressOf(checked);
  const kept = checked.incomplete > 0 ? `; ${checked.incomplete} incomplete` : "";
  const verdict = found === 0 ? "everything is as it was archived" : sayCount(found, "finding");
  await print(`${printable(folder)}: ${all}${kept}: ${verdict}`);
  return found;
}

/** One object, printed as it is found out, so that a million findings need no memory. */
async function reportJson(
  verification: Verification,
  folder: string,
  allowIncomplete: boolean,
): Promise<number> {
  let found = 0;
  let head = `{"folder":${JSON.stringify(folder)},"findings":[`;
  for await (const finding of findingsOf(verification, allowIncomplete)) {
    await print(head + JSON.stringify(finding));
    head = ",";
    found += 1;
  }
  const { packages, files, bytes, incomplete } = verification.checked;
  const totals = JSON.stringify({ packages, files, bytes, incomplete, ok: found === 0 });
  await print(`${found === 0 ? head : ""}],${totals.slice(1)}`);
  return found;
}

function partOf({ expected, packages }: Checked): number | null {
  return expected === null || expected === 0 ? null : packages / expected;
}

function progressOf({ packages, files, bytes }: Checked): string {
  return `${sayCount(packages, "package")}, ${sayCount(files, "file")}, ${sayBytes(bytes)}`;
}

endWithReader();
try {
  await main();
} catch (error) {
  giveUp("dimensioner-verify", error);
}
