#!/usr/bin/env node
import { parseArgs } from "node:util";
import type { Finding, Verdict, VerifyReport } from "../../model/archive-reports.ts";
import { verifyArchive } from "../maintenance/commands.ts";
import { print, printable, printObject, runCommand, sayBytes, sayCount, withProgress } from "./cli-output.ts";
import { namedPlace, storeHelp } from "./named-place.ts";

const help = `Usage: dimensioner-verify <folder> [--database <file>]… [--timestamp-roots <file>] [--json] [--allow-incomplete]
       dimensioner-verify --store <file> [--timestamp-roots <file>] [--json] [--allow-incomplete]

Verifies the packages of the archive node in a folder, one of its subfolders, a single package or the folder of an
extracted export: each file against its manifest, each manifest against the next one, and that the folders contain
nothing else. In an export, it checks the reports and the time stamps, too. With the store's database, it
also finds packages that are missing, compares each row of the index with its package, and checks the database itself.
It lists everything that it could not check. It only reads, and you can run it while Node-RED is writing. Instead of a
folder, it verifies packages in a bucket: s3://bucket/prefix, as dimensioner-copy --help describes.

${storeHelp}
  --database <file>   the store's database, in the folder dimensioner of Node-RED's user directory; or that folder, for
                      all databases in it whose store has this folder of packages; or the address of an index in
                      PostgreSQL: postgres://user@host:5432/name. Can be given more than once
  --timestamp-roots <file>
                      a PEM file with the root certificates that you trust, to check who signed time stamps
  --json              print one JSON object instead of text
  --allow-incomplete  do not report packages that were kept without all of their media
  -h, --help          print this text

Exit code: 0 everything was checked and is as it was archived, 1 something is not as it was archived,
2 something could not be checked, or this is not an archive, 130 stopped with Ctrl+C.`;

const exitCodes: Readonly<Record<Verdict, number>> = { ok: 0, wrong: 1, unchecked: 2 };

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      database: { type: "string", multiple: true },
      "timestamp-roots": { type: "string" },
      json: { type: "boolean" },
      "allow-incomplete": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const { place, name, database } = await namedPlace(positionals, values.store);
  const verify: Verify = (onFinding) =>
    withProgress((line) =>
      verifyArchive(place, {
        database: values.database ?? database,
        timestampRoots: values["timestamp-roots"],
        allowIncomplete: values["allow-incomplete"],
        signal,
        onProgress: line.show,
        onFinding: line.apart(onFinding),
      }),
    );
  const report = values.json === true ? await reportJson(name, verify) : await reportText(name, verify);
  process.exitCode = exitCodes[report.verdict];
}

type Verify = (onFinding: (finding: Finding) => Promise<void>) => Promise<VerifyReport>;

async function reportText(folder: string, verify: Verify): Promise<VerifyReport> {
  const report = await verify(({ path, problem }) => print(printable(`${path}: ${problem}`)));
  const { unchecked, notes, packages, files, bytes, incomplete } = report;
  for (const { path, problem } of unchecked) {
    await print(printable(`${path === "" ? folder : path}: not checked: ${problem}`));
  }
  for (const { path, text } of notes) {
    await print(printable(`${path}: note: ${text}`));
  }
  const all = `${sayCount(packages, "package")}, ${sayCount(files, "file")}, ${sayBytes(bytes)}`;
  const kept = incomplete > 0 ? `; ${incomplete} incomplete` : "";
  await print(`${printable(folder)}: ${all}${kept}: ${sayVerdict(report)}`);
  return report;
}

function sayVerdict({ verdict, findings, unchecked, packages }: VerifyReport): string {
  const open = unchecked.length > 0 ? `; not checked: ${sayCount(unchecked.length, "thing")}, see above` : "";
  switch (verdict) {
    case "ok":
      return "everything is as it was archived";
    case "wrong":
      return `${sayCount(findings, "finding")}${open}`;
    case "unchecked":
      return packages === 0 ? "nothing was verified" : `what could be checked is as it was archived${open}`;
  }
}

function reportJson(folder: string, verify: Verify): Promise<VerifyReport> {
  const totals = ({ findings: _count, ...rest }: VerifyReport): object => ({
    ...rest,
    ok: rest.verdict === "ok",
  });
  return printObject({ head: { folder }, list: "findings", totals }, verify);
}

await runCommand("dimensioner-verify", main);
