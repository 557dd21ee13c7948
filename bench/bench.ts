/** Measures the package against the alternatives: npm run bench (--help says more) */
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMachine } from "./machine.ts";
import { readOptions, usage, type Options } from "./options.ts";
import { printedProgress } from "./progress.ts";
import { drawChart } from "./report/chart.ts";
import { writeReport } from "./report/report.ts";
import { merge, readResults, writeResults, type Parts, type Results } from "./results.ts";
import { findRuntimes, repository } from "./runtimes.ts";
import { runPart } from "./run-parts.ts";
import { fullSizes, quickSizes } from "./sizes.ts";

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  if (options.report) {
    const results = await readResults();
    if (results === null) {
      throw new Error("There is no bench/results.json.");
    }
    await publish(results);
    return 0;
  }
  await measure(options);
  return 0;
}

async function measure({ only, long, quick, folder = tmpdir() }: Options): Promise<void> {
  const progress = printedProgress();
  const runtimes = findRuntimes();
  const sizes = quick ? quickSizes(folder) : fullSizes(folder, long);
  const machine = describeMachine();
  let parts: Parts = {};
  for (const name of only) {
    parts = { ...parts, ...(await runPart(name, runtimes, sizes, progress)) };
    // The results of each part are saved as soon as they are there.
    if (!quick) {
      await publish(merge(await readResults(), { machine, parts }));
    }
  }
  console.log(`\n${writeReport({ machine, parts })}`);
}

async function publish(results: Results): Promise<void> {
  const docs = join(repository, "docs");
  await mkdir(docs, { recursive: true });
  await writeResults(results);
  await writeFile(join(docs, "benchmarks.md"), writeReport(results));
  await writeFile(join(docs, "benchmarks.svg"), drawChart(results));
}
