import type { Verdict, VerifyReport } from "../model/archive-reports.ts";
import { verifyArchive } from "../vault/commands.ts";
import {
  databaseOption,
  defineVerb,
  namedStore,
  rootsOption,
  sayBytes,
  sayCount,
  storeText,
  withFindings,
} from "./command-line.ts";

const exitCodes: Readonly<Record<Verdict, number>> = { ok: 0, wrong: 1, unchecked: 2 };

export const verify = defineVerb({
  name: "verify",
  usage: ["STORE [--database <file>]… [--timestamp-roots <file>] [--checkpoint <file>]…"],
  description: `Verifies the packages of a store, of a subfolder of its packages, a single package, or the folder of an extracted
export: each file against its manifest, each manifest against the log, the log against its time stamps, and that the folders contain nothing
else. In an export, it checks the reports, too. With the store's database, it also compares each row of the index with its package, and checks
the database itself. It lists everything that it could not check. It only reads, and you can run it
while Node-RED is writing.

${storeText}`,
  options: {
    database: { ...databaseOption, multiple: true },
    "timestamp-roots": rootsOption,
    checkpoint: {
      type: "string",
      value: "<file>",
      multiple: true,
      help: "a checkpoint that was kept elsewhere: what it is of must not have changed since",
    },
    "allow-incomplete": {
      type: "boolean",
      help: "do not report packages that were kept without all of their media",
    },
  },
  examples: ["verify store.json", "verify /srv/packages --database ~/.node-red/dimensioner --json"],
  exitCodes: `0 everything was checked and is as it was archived, 1 something is not as it was archived, 2 something could not be
checked, or this is not an archive, 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const { place, name, database } = await namedStore(positionals);
    const { verdict } = await withFindings(
      { verb: "verify", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const report = await verifyArchive(place, {
          database: values.database ?? database,
          timestampRoots: values["timestamp-roots"],
          checkpoints: values.checkpoint,
          allowIncomplete: values["allow-incomplete"],
          mayBlock: true,
          signal,
          onProgress,
          onFinding,
        });
        return { ...report, ok: report.verdict === "ok" };
      },
      (report) => sayReport(name, report),
    );
    return exitCodes[verdict];
  },
});

function sayReport(store: string, report: VerifyReport): string[] {
  const { unchecked, notes, packages, files, bytes, incomplete } = report;
  const all = `${sayCount(packages, "package")}, ${sayCount(files, "file")}, ${sayBytes(bytes)}`;
  const kept = incomplete > 0 ? `; ${incomplete} incomplete` : "";
  return [
    ...unchecked.map(({ path, problem }) => `${path === "" ? store : path}: not checked: ${problem}`),
    ...notes.map(({ path, text }) => `${path}: note: ${text}`),
    `${store}: ${all}${kept}: ${sayVerdict(report)}`,
  ];
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
