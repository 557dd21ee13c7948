#!/usr/bin/env node
import { parseArgs } from "node:util";
import { withPackages } from "../evidence/with-source.ts";
import { saveExport } from "../export/export-packages.ts";
import type { PackageLookup } from "../../model/archive-reports.ts";
import type { VerifyResult } from "../../model/shapes.ts";
import { languages } from "../../rules/languages.ts";
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

const help = `Usage: dimensioner-export <folder> --database <file> --by <what> --value <text> --to <folder> [--json]
       dimensioner-export --store <file> --by <what> --value <text> --to <folder> [--json]

Exports packages of the archive node as a ZIP to hand over: the packages, a report for people about each of them and
about all together, the result of their verification, and the SHA-256 of every file. The packages are only read, and
you can run it while Node-RED is writing. A package that is not as it was archived is exported, too: the reports say so
first. The ZIP gets its name only when it is complete, and nothing is overwritten. Instead of a folder, it exports from a
bucket: s3://bucket/prefix, as dimensioner-copy --help describes.

${storeHelp}
  --database <file>   the store's database, the folder that contains it, or the address of an index in PostgreSQL:
                      postgres://user@host:5432/name; required without --store
  --by <what>         reference, transactionId, barcode, packageId, text, size, period or all; reference by default
  --value <text>      what is looked up; of a size a text such as 33.5x21x12.5 cm, of a period 2026-11-22 or 7d
  --to <folder>       the folder in which the ZIP is saved, outside of the packages; required
  --filename <name>   the name of the ZIP; by default it is made of the reference
  --language <name>   the language of the reports: ${languages.join(", ")}
  --timestamp-roots <file>
                      a PEM file with the root certificates that you trust, to check who signed time stamps
  --limit <number>    how many packages at most; 100 by default
  --json              print one JSON object instead of text
  -h, --help          print this text

Exit code: 0 exported, and everything is as it was archived; 1 exported, and something is not as it was archived;
2 nothing was exported; 130 stopped with Ctrl+C.`;

const lookups = [
  "reference",
  "transactionId",
  "barcode",
  "packageId",
  "text",
  "size",
  "period",
  "all",
] as const satisfies readonly PackageLookup[];

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      database: { type: "string" },
      by: { type: "string", default: "reference" },
      value: { type: "string" },
      to: { type: "string" },
      filename: { type: "string" },
      language: { type: "string", default: "en-US" },
      "timestamp-roots": { type: "string" },
      limit: { type: "string", default: "100" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const { address: folder, ...named } = await namedPlace(positionals, values.store);
  const by = oneOf("--by", lookups, values.by);
  const language = oneOf("--language", languages, values.language);
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new Error("--limit must be a whole number, 1 or more.");
  }
  const place = {
    folder,
    database: demanded("--database", values.database ?? named.database),
    operation: "export",
  };
  const target = {
    folder: demanded("--to", values.to),
    filename: values.filename,
    ifExists: "rename",
  } as const;
  const { output, verification } = await withPackages(
    place,
    { by, value: values.value, limit },
    (files, packages) =>
      withProgress((line) =>
        saveExport(files, packages, {
          language,
          target,
          timestampRoots: values["timestamp-roots"],
          onProgress: line.show,
          signal,
        }),
      ),
    signal,
  );
  if (values.json === true) {
    await print(printableJson({ ...output, verification }));
  } else {
    await printFindings(verification);
    const all = `${sayCount(verification.packages, "package")}, ${sayBytes(output.bytes)}`;
    await print(printable(`${output.path}: ${all}: sha256 ${output.sha256}`));
  }
  process.exitCode = verification.verdict === "ok" ? 0 : 1;
}

async function printFindings({ findings, incomplete }: VerifyResult): Promise<void> {
  for (const { path, problem } of findings) {
    await print(printable(`${path}: ${problem}`));
  }
  if (incomplete > 0) {
    await print(`${sayCount(incomplete, "package")} incomplete: archived without all media`);
  }
}

function demanded(name: string, given: string | undefined): string {
  if (given === undefined) {
    throw new Error(`${name} is missing. See --help.`);
  }
  return given;
}

function oneOf<const T extends string>(name: string, choices: readonly T[], given: string): T {
  const found = choices.find((one) => one === given);
  if (found === undefined) {
    throw new Error(`${name} must be one of ${choices.join(", ")}.`);
  }
  return found;
}

await runCommand("dimensioner-export", main);
