import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { forkAndHear } from "../fork.ts";
import type { JobCost, JobRun } from "../job-process.ts";
import { mediansOf } from "../median.ts";
import type { Progress } from "../progress.ts";
import { startServer } from "../server-process.ts";

/** What a job costs, and what a bare script needs for the same media, in turn. */
export interface BareRow {
  readonly atOnce: number;
  readonly archive: JobCost;
  readonly bare: JobCost;
}

export interface BareSizes {
  readonly jobs: number;
  readonly rounds: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

/** The evidence of a job has 211 kB: two media and the measurement. */
const mediaBytes = 105_000;

/** Archives transactions with two media in turn with the bare script, one after the other and sixteen at a time. */
export async function measureJob(
  { jobs, rounds, folder }: BareSizes,
  progress: Progress,
): Promise<BareRow[]> {
  const server = await startServer(0);
  try {
    const rows: BareRow[] = [];
    for (const atOnce of [1, 16]) {
      const costs = { archive: [] as JobCost[], bare: [] as JobCost[] };
      for (let round = 0; round < rounds; round += 1) {
        for (const contender of ["bare", "archive"] as const) {
          progress(`${contender}, ${atOnce} at a time, round ${round + 1} of ${rounds}`);
          const root = await mkdtemp(join(folder, "bench-job-"));
          try {
            const run = { contender, root, cloud: server.cloud, from: 0, warm: 20, count: jobs, atOnce };
            costs[contender].push(await costOf({ ...run, mediaBytes }));
          } finally {
            await rm(root, { recursive: true, force: true });
          }
        }
      }
      rows.push({ atOnce, archive: mediansOf(costs.archive), bare: mediansOf(costs.bare) });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

/** Does one run in a process of its own. */
export async function costOf(run: JobRun): Promise<JobCost> {
  const { heard, stop } = await forkAndHear<JobCost>("job-process.ts", [JSON.stringify(run)]);
  await stop();
  return heard;
}
