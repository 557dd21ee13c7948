import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { median } from "../median.ts";
import type { Progress } from "../progress.ts";
import type { Runtime } from "../runtimes.ts";
import { startServer } from "../server-process.ts";
import type { Contender, DownloadSize, RoundResult } from "./contender.ts";
import { commandContenders } from "./download-commands.ts";
import { flowContenders } from "./download-flows.ts";

/** One row of the table: a size, the number of simultaneous downloads, and a contender. */
export interface DownloadRow {
  readonly bytes: number;
  readonly atOnce: number;
  readonly contender: string;
  /** Null for a contender outside Node-RED. */
  readonly runtime: string | null;
  /** The median of the seconds from the start until all files are there; null if it failed. */
  readonly seconds: number | null;
  /** The highest resident memory above that of an idle Node-RED. */
  readonly memoryBytes: number | null;
  /** Why there is no result. */
  readonly problem: string | null;
}

export interface DownloadSizes {
  readonly sizes: readonly DownloadSize[];
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

/** Downloads from the cloud into files by each contender in turn, each size in rounds. */
export async function measureDownloads(
  runtimes: readonly Runtime[],
  { sizes, folder }: DownloadSizes,
  progress: Progress,
): Promise<DownloadRow[]> {
  const server = await startServer();
  const own = await mkdtemp(join(folder, "bench-downloads-"));
  const files = join(own, "files");
  try {
    const rows: DownloadRow[] = [];
    for (const size of sizes) {
      const { bytes, atOnce } = size;
      const problem = await lackOfSpace(own, size);
      if (problem !== null) {
        const nothing = { seconds: null, memoryBytes: null, problem };
        rows.push({ bytes, atOnce, contender: "all", runtime: null, ...nothing });
        continue;
      }
      // New ones for each size, because their memory counts from an idle Node-RED that has not downloaded anything.
      const contenders = [
        ...commandContenders(files),
        ...flowContenders(runtimes, { cloud: server.cloud, files }),
      ];
      rows.push(...(await measureSize(contenders, size, { cloud: server.cloud, files, progress })));
    }
    return rows;
  } finally {
    await server.stop();
    await rm(own, { recursive: true, force: true });
  }
}

interface DemoEnvironment {
  readonly cloud: string;
  readonly files: string;
  readonly progress: Progress;
}

/** A contender that fails is left out from then on. */
async function measureSize(
  contenders: readonly Contender[],
  size: DownloadSize,
  { cloud, files, progress }: DemoEnvironment,
): Promise<DownloadRow[]> {
  const { bytes, atOnce } = size;
  const url = `${cloud}/api/transactionmedia/905865/${bytes}`;
  const results = new Map(contenders.map((contender) => [contender, [] as RoundResult[]]));
  const problems = new Map<Contender, string>();
  try {
    for (let round = 1; round <= size.rounds; round++) {
      for (const [contender, rounds] of results) {
        if (problems.has(contender)) {
          continue;
        }
        const { name, runtime } = contender;
        progress([`${bytes / 1e6} MB × ${atOnce}, round ${round}`, name, runtime ?? "alone"].join(", "));
        await evenDisk(dirname(files), bytes);
        await mkdir(files);
        try {
          rounds.push(await contender.run(size, url));
        } catch (error) {
          problems.set(contender, firstLine(error));
        } finally {
          await rm(files, { recursive: true, force: true });
        }
      }
    }
  } finally {
    for (const contender of contenders) {
      await contender.stop();
    }
  }
  return [...results].map(([contender, rounds]) => {
    const problem = problems.get(contender) ?? null;
    const memories = rounds.flatMap(({ memoryBytes }) => memoryBytes ?? []);
    return {
      bytes,
      atOnce,
      contender: contender.name,
      runtime: contender.runtime,
      seconds: problem === null ? median(rounds.map(({ seconds }) => seconds)) : null,
      memoryBytes: problem === null && memories.length > 0 ? Math.max(...memories) : null,
      problem,
    };
  });
}

/**
 * Leaves the disk in the same state for each contender, as far as one file of this size can. Otherwise a contender that
 * syncs would also pay for what earlier ones left in the system's cache, and a virtual disk takes several times as long
 * for blocks that it has not used before.
 */
export async function evenDisk(folder: string, bytes: number): Promise<void> {
  const path = join(folder, "even");
  const block = Buffer.alloc(4e6, "0123456789abcdef");
  const file = await open(path, "w");
  try {
    for (let left = bytes; left > 0; left -= block.length) {
      await file.write(block, 0, Math.min(left, block.length));
    }
    await file.sync();
  } finally {
    await file.close();
    await rm(path);
  }
  spawnSync("sync");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

/** Why the disk has not enough space for these files; null if it has. */
async function lackOfSpace(folder: string, { bytes, atOnce }: DownloadSize): Promise<string | null> {
  const { bavail, bsize } = await statfs(folder);
  const neededBytes = bytes * atOnce;
  const reserveBytes = 5e9;
  return bavail * bsize > neededBytes + reserveBytes
    ? null
    : `this needs ${neededBytes / 1e9} GB of free disk, which the machine did not have`;
}
