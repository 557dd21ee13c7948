#!/usr/bin/env node
import { parseArgs } from "node:util";
import type { CopyReport, NotCopied } from "../../model/archive-reports.ts";
import { copyArchive } from "../maintenance/commands.ts";
import { print, printable, printObject, runCommand, sayBytes, sayCount, withProgress } from "./cli-output.ts";

const help = `Usage: dimensioner-copy <folder> s3://<bucket>/<prefix> [--retain-days <days>] [--json]

Copies the packages of the archive node in a folder, with the logs and time stamps beside them, to a bucket of an
S3-compatible object store. Each file is compared with its manifest before it is sent. A package is in the bucket when its
manifest is, which is sent last. Nothing in the bucket is replaced by another package, and nothing is deleted there except
uploads that were interrupted more than a day ago. Run it again at any time to copy what is new, also while Node-RED is
writing. Afterwards, dimensioner-verify s3://<bucket>/<prefix> verifies the copy.

The address may end with options: ?endpoint=https://s3.example.com&region=eu-central-1&pathStyle=true. What is missing
comes from the environment, as for the programs of AWS: AWS_ENDPOINT_URL_S3, AWS_REGION, and for the credentials
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile with keys (AWS_PROFILE), or the role of a container or a virtual
machine at AWS.

  --retain-days <days>  protect the copies from being deleted for so long (Object Lock, governance mode)
  --json                print one JSON object instead of text
  -h, --help            print this text

Exit code: 0 all packages of the folder are in the bucket, 1 some could not be copied, 2 nothing could be copied, or not
everything, 130 stopped with Ctrl+C.`;

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "retain-days": { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const [folder, to, more] = positionals;
  if (folder === undefined || to === undefined || more !== undefined) {
    throw new Error("specify one folder and the address of one bucket. See --help.");
  }
  const retainDays = readDays(values["retain-days"]);
  const copy: Copy = (onNotCopied) =>
    withProgress((line) =>
      copyArchive(folder, to, {
        retainDays,
        signal,
        onProgress: line.show,
        onNotCopied: line.apart(onNotCopied),
      }),
    );
  const report = values.json === true ? await reportJson({ folder, to }, copy) : await reportText(to, copy);
  process.exitCode = report.failed > 0 ? 1 : 0;
}

type Copy = (onNotCopied: (one: NotCopied) => Promise<void>) => Promise<CopyReport>;

async function reportText(to: string, copy: Copy): Promise<CopyReport> {
  const report = await copy(({ path, problem }) => print(printable(`${path}: not copied: ${problem}`)));
  const { copied, alreadyThere, failed, bytes, endedUploads } = report;
  const said = [
    `${sayCount(copied, "package")} copied, ${sayBytes(bytes)}`,
    `${alreadyThere.toLocaleString("en-US")} already there`,
    ...(failed > 0 ? [`${failed.toLocaleString("en-US")} not copied, see above`] : []),
    ...(endedUploads === null || endedUploads === 0
      ? []
      : [`${sayCount(endedUploads, "interrupted upload")} removed`]),
  ];
  await print(`${printable(to.replace(/\?.*$/s, ""))}: ${said.join("; ")}`);
  return report;
}

function reportJson(head: object, copy: Copy): Promise<CopyReport> {
  return printObject({ head, list: "notCopied", totals: (report) => report }, copy);
}

function readDays(given: string | undefined): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const days = Number(given);
  if (!Number.isInteger(days) || days < 1 || days > 36_500) {
    throw new Error("--retain-days must be a whole number from 1 to 36500.");
  }
  return days;
}

await runCommand("dimensioner-copy", main);
