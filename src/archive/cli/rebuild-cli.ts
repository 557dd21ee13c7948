#!/usr/bin/env node
import { parseArgs } from "node:util";
import type { NotIndexed, RebuildReport } from "../../model/archive-reports.ts";
import { rebuildIndex } from "../maintenance/commands.ts";
import { print, printable, printObject, runCommand, sayBytes, sayCount, withProgress } from "./cli-output.ts";
import { namedPlace, storeHelp } from "./named-place.ts";

const help = `Usage: dimensioner-rebuild <folder> --database <file> [--json]
       dimensioner-rebuild --store <file> [--json]

Rebuilds the index of a store's database from the manifests of all packages in a folder. If the database is missing or
damaged, it creates a new one; a damaged one is renamed to <file>.damaged-<time>, and nothing is deleted. If the
database is intact, it adds what is missing from the index and changes nothing else. Packages are only read. Stop
Node-RED first: the command fails while another process has the database open. You can stop it and run it again at any
time: a new database gets its name only when it is complete. Instead of a folder, the packages may be in a bucket:
s3://bucket/prefix, as dimensioner-copy --help describes.

In PostgreSQL, Node-RED need not be stopped. The tables are created in the schema dimensioner, and each run adds what is
missing. The password comes from the environment variable PGPASSWORD or from a password file (PGPASSFILE).

${storeHelp}
  --database <file>   the database, in the folder dimensioner of Node-RED's user directory; required without --store. Or
                      the address of a PostgreSQL database for an index that other programs can query:
                      postgres://user@host:5432/name
  --json              print one JSON object instead of text
  -h, --help          print this text

Exit code: 0 done, 1 some packages could not be indexed, 2 nothing could be done, 130 stopped with Ctrl+C.`;

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      database: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    await print(help);
    return;
  }
  const { place, name, ...named } = await namedPlace(positionals, values.store);
  const database = values.database ?? named.database;
  if (database === undefined) {
    throw new Error("--database is missing. See --help.");
  }
  const rebuild: Build = (onNotIndexed) =>
    withProgress((line) =>
      rebuildIndex(place, {
        database,
        signal,
        onProgress: line.show,
        onNotIndexed: line.apart(onNotIndexed),
      }),
    );
  const report = await (values.json === true ? reportJson : reportText)(name, database, rebuild);
  process.exitCode = report.notIndexed > 0 ? 1 : 0;
}

type Build = (onNotIndexed: (one: NotIndexed) => Promise<void>) => Promise<RebuildReport>;

async function reportText(folder: string, file: string, rebuild: Build): Promise<RebuildReport> {
  const report = await rebuild(({ path, problem }) => print(printable(`${path}: not indexed: ${problem}`)));
  const { database, movedTo, packages, bytes, notIndexed, notes } = report;
  if (movedTo !== null) {
    await print(printable(`${file}: was damaged, and is now ${movedTo}`));
  }
  for (const { path, text } of notes) {
    await print(printable(`${path}: note: ${text}`));
  }
  const said = database === "made" ? "a new database lists" : "the database lists";
  const rest = notIndexed > 0 ? `; ${notIndexed} not indexed, see above` : "";
  const all = `${sayCount(packages, "package")} (${sayBytes(bytes)})`;
  await print(printable(`${file}: ${said} ${all} of ${folder}${rest}`));
  return report;
}

function reportJson(folder: string, file: string, rebuild: Build): Promise<RebuildReport> {
  const totals = ({ notIndexed: _count, ...rest }: RebuildReport): object => rest;
  return printObject({ head: { folder, file }, list: "notIndexed", totals }, rebuild);
}

await runCommand("dimensioner-rebuild", main);
