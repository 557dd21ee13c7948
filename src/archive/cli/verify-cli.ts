#!/usr/bin/env node
import { parseArgs } from "node:util";
import { endWithReader, giveUp, print, printable, ProgressLine, sayBytes, sayCount } from "./cli-output.ts";
import type { Checked, Finding, Verdict } from "../packages/finding.ts";
import { Verification } from "../packages/verify.ts";

const help = `Usage: dimensioner-verify <folder> [--json] [--allow-incomplete]

Checks an archive that dimensioner-archive has written, a folder in it, or one package: each file against its
manifest, each manifest against the next one, the folders for what does not belong there, and the archive's index
for packages that are missing. What nothing in the folder can show is named as not checked. It only reads, and may
run while Node-RED is writing.

  --json              prints one JSON object instead of sentences
  --allow-incomplete  packages that were kept without all their media are no finding
  --help              prints this

Exit code: 0 everything could be checked and is as it was archived, 1 something is not as it was archived,
2 something could not be checked, or this is not an archive.`;

const exitCodes: Readonly<Record<Verdict, number>> = { ok: 0, wrong: 1, unchecked: 2 };

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
  const report = values.json === true ? reportJson : reportText;
  process.exitCode = exitCodes[await report(verification, folder, allowIncomplete)];
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
): Promise<Verdict> {
  let found = 0;
  for await (const { path, problem } of findingsOf(verification, allowIncomplete)) {
    found += 1;
    await print(printable(`${path}: ${problem}`));
  }
  const { checked, unchecked } = verification;
  for (const { path, problem } of unchecked) {
    await print(printable(`${path === "" ? folder : path}: not checked: ${problem}`));
  }
  const all = progressOf(checked);
  const kept = checked.incomplete > 0 ? `; ${checked.incomplete} incomplete` : "";
  const open = unchecked.length > 0 ? `; not checked: ${sayCount(unchecked.length, "thing")}, see above` : "";
  const verdict = verification.verdict(found);
  const said = {
    ok: "everything is as it was archived",
    wrong: `${sayCount(found, "finding")}${open}`,
    unchecked:
      checked.packages === 0 ? "nothing was verified" : `what could be checked is as it was archived${open}`,
  };
  await print(`${printable(folder)}: ${all}${kept}: ${said[verdict]}`);
  return verdict;
}

/** One object, printed as it is found out, so that a million findings need no memory. */
async function reportJson(
  verification: Verification,
  folder: string,
  allowIncomplete: boolean,
): Promise<Verdict> {
  let found = 0;
  let head = `{"folder":${JSON.stringify(folder)},"findings":[`;
  for await (const finding of findingsOf(verification, allowIncomplete)) {
    await print(head + JSON.stringify(finding));
    head = ",";
    found += 1;
  }
  const { packages, files, bytes, incomplete, expected } = verification.checked;
  const verdict = verification.verdict(found);
  const { unchecked } = verification;
  const isOk = verdict === "ok";
  const totals = { unchecked, packages, files, bytes, incomplete, expected, verdict, ok: isOk };
  await print(`${found === 0 ? head : ""}],${JSON.stringify(totals).slice(1)}`);
  return verdict;
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
