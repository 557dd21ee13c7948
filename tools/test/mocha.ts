import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome } from "./outcome.ts";
import { typeScriptOptions, type NodeBinary } from "./node-binaries.ts";
import type { Run } from "./run.ts";

export interface MochaSuite {
  readonly name: string;
  readonly node: NodeBinary;
  readonly files: readonly string[];
  readonly ignore: readonly string[];
  /** With c8, which leaves its report in coverage/. */
  readonly coverage: boolean;
  readonly timeoutMs: number;
}

const longestTestMs = 20_000;

/**
 * Runs a suite on a Node of its own and counts what came of its tests. All files run in one process: it ends only when no
 * test has left anything open, and mocha's parallel workers are killed before they write their coverage.
 */
export async function runMocha(root: string, suite: MochaSuite, run: Run): Promise<Outcome> {
  const { name, node, coverage } = suite;
  const reports = join(root, ".build", "test-reports");
  const report = join(reports, `${name.replace(/[^a-z0-9]+/gi, "-")}.json`);
  await mkdir(reports, { recursive: true });
  await rm(report, { force: true });

  const bin = (path: string) => join(root, "node_modules", path);
  const mocha = [
    ...typeScriptOptions(node),
    bin("mocha/bin/mocha.js"),
    ...suite.files,
    ...suite.ignore.flatMap((pattern) => ["--ignore", pattern]),
    "--fail-zero",
    "--forbid-only",
    `--timeout=${longestTestMs}`,
    "--reporter=json",
    `--reporter-option=output=${report}`,
  ];
  const args = coverage ? [bin("c8/bin/c8.js"), node.path, ...mocha] : mocha;
  const { exitCode, output } = await run(node.path, args, { cwd: root, timeoutMs: suite.timeoutMs });

  const counted = readReport(await readFile(report, "utf8").catch(() => "null"));
  if (counted === undefined) {
    return { passed: 0, failed: 1, skipped: 0, details: [`There is no report of the tests.\n${output}`] };
  }
  if (exitCode === 0 || counted.failed > 0) return counted;
  const details = [`The tests have ended with exit code ${String(exitCode)}.\n${output}`];
  return { ...counted, failed: 1, details };
}

function readReport(text: string): Outcome | undefined {
  const report: unknown = JSON.parse(text);
  if (!isRecord(report) || !isRecord(report["stats"]) || !Array.isArray(report["failures"])) return undefined;
  const { passes, failures, pending } = report["stats"];
  return {
    passed: Number(passes),
    failed: Number(failures),
    skipped: Number(pending),
    details: report["failures"].map(explain),
  };
}

function explain(failure: unknown): string {
  if (!isRecord(failure)) return String(failure);
  const error = isRecord(failure["err"]) ? failure["err"] : {};
  return `${String(failure["fullTitle"])}\n${String(error["stack"] ?? error["message"])}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
