import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { findViolations, readSources } from "../checks/floors.ts";
import { findProblems, readPackage } from "../checks/scorecard.ts";
import { failedOnce, passedOnce, type Outcome, type Step } from "./outcome.ts";
import type { Run } from "./run.ts";

const longestGateMs = 120_000;
const leastCoverage = 95;

/** The build (`npm run build`), which is also the type check of everything. What comes after needs dist/. */
export function buildGates(root: string, run: Run): Step[] {
  return [
    command("types, modules (tsc)", root, run, [
      join(root, "node_modules", "typescript", "bin", "tsc"),
      "-b",
    ]),
    command("pages of editor and simulator", root, run, [join(root, "tools", "bundle.ts")]),
  ];
}

/** Everything about the sources and the package that can be checked without running it. */
export function staticGates(root: string, run: Run): Step[] {
  const tool = (name: string, path: string, ...args: string[]) =>
    command(name, root, run, [join(root, "node_modules", path), ...args]);
  return [
    tool("lint", "oxlint/bin/oxlint", "--type-aware", "--deny-warnings"),
    tool("format", "oxfmt/bin/oxfmt", "--check"),
    tool("dead code (knip)", "knip/bin/knip.js", "--no-progress"),
    tool("package (publint)", "publint/src/cli.js", "run", "--strict"),
    sentences("floors", async () => findViolations(await readSources(root))),
    sentences("scorecard", async () => findProblems(await readPackage(root))),
  ];
}

/** The share of statements that the suite with coverage has reached. */
export function coverageGate(root: string): Step {
  return {
    name: `coverage of src/ and nodes/ at least ${leastCoverage} %`,
    async run() {
      const text = await readFile(join(root, "coverage", "coverage-summary.json"), "utf8");
      const { total: _, ...summary } = JSON.parse(text) as Record<string, { statements: Share }>;
      const measured = await Promise.all(
        Object.entries(summary).map(async ([path, { statements }]) => {
          const name = relative(root, path);
          return (await hasCode(root, name)) ? [{ name, ...statements }] : [];
        }),
      );
      const files = measured.flat();
      const statements = files.reduce((sum, { total }) => sum + total, 0);
      const covered = files.reduce((sum, file) => sum + file.covered, 0);
      const percent = Math.floor((10_000 * covered) / Math.max(statements, 1)) / 100;
      console.log(`     ${percent} % of ${statements} statements`);
      if (percent >= leastCoverage) {
        return passedOnce;
      }
      const worst = files
        .toSorted((a, b) => missed(b) - missed(a))
        .slice(0, 20)
        .map((file) => `${file.pct} %  ${missed(file)} missed  ${file.name}`);
      return failedOnce(worst.join("\n"));
    },
  };
}

interface Share {
  readonly total: number;
  readonly covered: number;
  readonly pct: number;
}

/** False for files of types alone, which are never loaded and so never covered. */
async function hasCode(root: string, source: string): Promise<boolean> {
  const built = await readFile(join(root, "dist", source.replace(/\.ts$/, ".js")), "utf8").catch(() => "");
  const code = built.replace(/^\/\/# sourceMappingURL=.*$/m, "").replace(/\/\*[^]*?\*\//g, "");
  return !/^\s*export \{\};\s*$/.test(code);
}

function missed({ total, covered }: Share): number {
  return total - covered;
}

function command(name: string, root: string, run: Run, args: readonly string[]): Step {
  return {
    name,
    async run(): Promise<Outcome> {
      const { exitCode, output } = await run(process.execPath, args, { cwd: root, timeoutMs: longestGateMs });
      return exitCode === 0 ? passedOnce : failedOnce(output);
    },
  };
}

function sentences(name: string, find: () => Promise<readonly string[]>): Step {
  return {
    name,
    async run() {
      const problems = await find();
      return problems.length === 0 ? passedOnce : failedOnce(problems.join("\n"));
    },
  };
}
