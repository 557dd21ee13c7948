import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "./outcome.ts";
import type { ReportLine } from "./reporter.ts";
import type { NodeBinary } from "./node-binaries.ts";
import type { Run } from "./run.ts";

export interface MochaSuite {
  readonly node: NodeBinary;
  readonly files: readonly string[];
  readonly ignore: readonly string[];
  /** With c8, which leaves its report in coverage/. */
  readonly coverage: boolean;
  /** Ends with the first test that fails, whatever that has left open. */
  readonly bail?: boolean;
  /** How long one test may take. */
  readonly longestTestMs?: number;
  readonly timeoutMs: number;
}

const longestTestMs = 20_000;

/**
 * Runs a suite on a Node of its own and counts what came of its tests. All files run in one process: it ends only when no
 * test has left anything open, and mocha's parallel workers are killed before they write their coverage.
 */
export async function runMocha(root: string, suite: MochaSuite, run: Run): Promise<Outcome> {
  const { node, coverage } = suite;
  const reports = await mkdtemp(join(tmpdir(), "test-report-"));
  const report = join(reports, "report.jsonl");
  const bin = (path: string) => join(root, "node_modules", path);
  const mocha = [
    bin("mocha/bin/mocha.js"),
    ...suite.files,
    ...suite.ignore.flatMap((pattern) => ["--ignore", pattern]),
    "--fail-zero",
    "--forbid-only",
    ...(suite.bail === true ? ["--bail", "--exit"] : []),
    `--timeout=${suite.longestTestMs ?? longestTestMs}`,
    `--reporter=${join(import.meta.dirname, "reporter.ts")}`,
    `--reporter-option=output=${report}`,
  ];
  const args = coverage ? [bin("c8/bin/c8.js"), node.path, ...mocha] : mocha;
  const { exitCode, output } = await run(node.path, args, { cwd: root, timeoutMs: suite.timeoutMs });

  const text = await readFile(report, "utf8").catch(() => "");
  await rm(reports, { recursive: true });
  const lines = text.split("\n").filter((line) => line !== "");
  return count(
    lines.map((line) => JSON.parse(line) as ReportLine),
    exitCode,
    output,
  );
}

/** Tests that passed and failed; one more failure when the run itself did not go as it should. */
function count(lines: readonly ReportLine[], exitCode: number | null, output: string): Outcome {
  const counted = (event: ReportLine["event"]) => lines.filter((line) => line.event === event).length;
  const details = lines.flatMap((line) => (line.event === "fail" ? [`${line.title}\n${line.error}`] : []));
  const outcome = {
    passed: counted("pass"),
    failed: details.length,
    skipped: counted("pending"),
    details,
  };
  const hasEnded = counted("end") > 0;
  if (hasEnded && exitCode !== null && (exitCode === 0 || details.length > 0)) {
    return outcome;
  }
  const last = lines.findLast((line) => line.event !== "end");
  const where = hasEnded
    ? "All tests have ended, but the process has not: something is left open."
    : `The last that was heard of: ${last === undefined ? "nothing" : `${last.event} of “${last.title}”`}.`;
  const problem = `The tests have ended with exit code ${String(exitCode)}. ${where}\n${output}`;
  return { ...outcome, failed: outcome.failed + 1, details: [...details, problem] };
}
