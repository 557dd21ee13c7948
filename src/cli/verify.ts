import { mostCounted } from "../database/verification-table.ts";
import type { CheckedLog, Unchecked, Verdict, VerifiedPart, VerifyReport } from "../model/archive-reports.ts";
import { verifyArchive } from "../vault/upkeep/upkeep.ts";
import {
  databaseOption,
  defineVerb,
  duration,
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
  usage: [
    "STORE [--database <file>]… [--timestamp-roots <file>] [--checkpoint <file>]…",
    "STORE --for <duration> [--database <file>]…",
  ],
  description: `Verifies the packages of a store, of a subfolder of its packages, a single package, or the folder of an extracted
export: each file against its manifest, each manifest against the log, the log against its time stamps, and that the folders contain nothing
else. In an export, it checks the reports, too. With the store's database, it also compares each row of the index with its package, and checks
the database itself. It lists everything that it could not check. It only reads packages, and notes in the database when each was
verified. You can run it while Node-RED is writing.

With --for, it verifies the packages of a whole store for a limited time: first those that were not as they were archived when they were last
verified, then those whose last verification is the oldest. The next run goes on there. The log is always checked as a whole.

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
    for: {
      type: "string",
      value: "<duration>",
      help: "verify for this time, such as 10m or 2h, and go on there the next time; needs the database",
    },
    "allow-incomplete": {
      type: "boolean",
      help: "do not report packages that were kept without all of their media",
    },
  },
  examples: [
    "verify store.json",
    "verify store.json --for 10m",
    "verify /srv/packages --database ~/.node-red/dimensioner --json",
  ],
  exitCodes: `0 everything was checked and is as it was archived, 1 something is not as it was archived, 2 something could not be
checked, or this is not an archive, 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const { place, name, database } = await namedStore(positionals);
    const forMs = values.for === undefined ? undefined : duration("for", values.for);
    const { verdict } = await withFindings(
      { verb: "verify", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const report = await verifyArchive(place, {
          database: values.database ?? database,
          timestampRoots: values["timestamp-roots"],
          checkpoints: values.checkpoint,
          allowIncomplete: values["allow-incomplete"],
          forMs,
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
  const { unchecked, notes, logs, packages, files, bytes, incomplete, expected, part } = report;
  const of = part === null || expected === null ? "" : ` of ${expected.toLocaleString("en-US")}`;
  const all = `${sayCount(packages, "package")}${of}, ${sayCount(files, "file")}, ${sayBytes(bytes)}`;
  const kept = incomplete > 0 ? `; ${incomplete} incomplete` : "";
  return [
    ...unchecked.map(({ path, problem }) => `${path === "" ? store : path}: not checked: ${problem}`),
    ...notes.map(({ path, text }) => `${path}: note: ${text}`),
    ...logs.map((log) => `${store}: the log: ${sayCheckedLog(log)}`),
    `${store}: ${all}${kept}: ${sayVerdict(report)}`,
    ...(part === null || of === "" ? [] : [`${store}: ${sayLog(unchecked)}${sayPart(part)}`]),
  ];
}

function sayCheckedLog({ packages, pruned, held, covered, uncovered, timestamp }: CheckedLog): string {
  const counts = `${sayCount(packages, "package")}, ${pruned} pruned, ${held} on hold`;
  if (timestamp === null) {
    return `${counts}; no time stamp covers any of them`;
  }
  const { atUtc, signer, root } = timestamp;
  const checked = root === null ? "not checked against a root certificate" : `root certificate: “${root}”`;
  return `${counts}; ${covered} covered by the newest time stamp (${atUtc}, by “${signer}”, ${checked}), ${uncovered} not yet`;
}

function sayLog(unchecked: readonly Unchecked[]): string {
  return unchecked.some(({ kind }) => kind === "no-log") ? "" : "the log was checked as a whole; ";
}

/** What a verification of a limited time, and those before it, have checked. */
function sayPart({ oldestAtUtc, never }: VerifiedPart): string {
  const oldest = oldestAtUtc === null ? "" : `; the oldest last verification of a package: ${oldestAtUtc}`;
  const count = `${never === mostCounted ? "more than " : ""}${sayCount(never, "package")}`;
  const left = never === 0 ? "every package was verified at least once" : `${count} never verified`;
  return `${left}${oldest}`;
}

function sayVerdict({ verdict, findings, unchecked, packages, part }: VerifyReport): string {
  const open = unchecked.length > 0 ? `; not checked: ${sayCount(unchecked.length, "thing")}, see above` : "";
  switch (verdict) {
    case "ok":
      return part === null ? "everything is as it was archived" : "what was checked is as it was archived";
    case "wrong":
      return `${sayCount(findings, "finding")}${open}`;
    case "unchecked":
      return packages === 0 ? "nothing was verified" : `what could be checked is as it was archived${open}`;
  }
}
