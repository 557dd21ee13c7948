import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { cloudNode, credentials, driverOf, ring, tab } from "../flows.ts";
import { startNodeRed, type NodeRed } from "../node-red.ts";
import type { Progress } from "../progress.ts";
import type { Runtime } from "../runtimes.ts";
import { startServer, type BenchServer } from "../server-process.ts";

/** Many transactions that are given to one archive node at once. */
export interface JobRow {
  readonly runtime: string;
  readonly jobs: number;
  readonly msPerJob: number;
  readonly cpuMsPerJob: number;
  /** The highest memory above idle while all jobs were running. */
  readonly memoryBytes: number;
  /** The memory above idle while all jobs wait for media that the cloud does not have yet. */
  readonly waitingBytes: number;
}

export interface JobSizes {
  readonly jobs: readonly number[];
  /** How long the jobs wait before their memory is read, so that each has sent its request. */
  readonly waitMs: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

/**
 * Gives an archive node all jobs at once and waits until the last package is complete; then once more without media.
 */
export async function measureJobs(
  runtime: Runtime,
  { jobs, waitMs, folder }: JobSizes,
  progress: Progress,
): Promise<JobRow[]> {
  const server = await startServer();
  try {
    const rows: JobRow[] = [];
    for (const count of jobs) {
      progress(`${runtime.title}: ${count} archive jobs`);
      const done = await withArchive(runtime, server, folder, (nodeRed) => runJobs(nodeRed, count));
      progress(`${runtime.title}: ${count} archive jobs that wait`);
      const waitingBytes = await withArchive(runtime, server, folder, (nodeRed) =>
        holdJobs(nodeRed, count, waitMs),
      );
      rows.push({ runtime: runtime.title, ...done, waitingBytes });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

/** A Node-RED with one archive node and a folder of its own. */
async function withArchive<T>(
  runtime: Runtime,
  server: BenchServer,
  folder: string,
  measure: (nodeRed: NodeRed) => Promise<T>,
): Promise<T> {
  const archive = await mkdtemp(join(folder, "bench-jobs-"));
  try {
    const nodeRed = await startNodeRed({
      runtime,
      credentials,
      flows: tab([
        cloudNode(server.cloud),
        { id: "store", type: "dimensioner-store", name: "", folder: archive, folderType: "str" },
        ...ring("archive", [
          // Settled at once, because the server lists all media at first.
          { type: "dimensioner-archive", name: "", cloud: "cloud", store: "store", settle: 0 },
        ]),
      ]),
    });
    try {
      return await measure(nodeRed);
    } finally {
      await nodeRed.stop();
    }
  } finally {
    await rm(archive, { recursive: true, force: true });
  }
}

const archiveAll = (count: number, prefix: string) => ({
  node: driverOf("archive"),
  inFlight: count,
  count,
  messages: [{ transactionReference: "ORDER-1" }],
  unique: { property: "transactionId", prefix },
});

async function runJobs(nodeRed: NodeRed, count: number): Promise<Omit<JobRow, "runtime" | "waitingBytes">> {
  const { rssBytes } = await nodeRed.memory();
  const { calls, ms, cpuMs, peakRssBytes } = await nodeRed.loop(archiveAll(count, "job-"));
  return {
    jobs: calls,
    msPerJob: ms / calls,
    cpuMsPerJob: cpuMs / calls,
    memoryBytes: peakRssBytes - rssBytes,
  };
}

async function holdJobs(nodeRed: NodeRed, count: number, waitMs: number): Promise<number> {
  const { rssBytes } = await nodeRed.memory();
  // The jobs end with Node-RED.
  nodeRed.loop(archiveAll(count, "waiting-")).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return (await nodeRed.memory()).rssBytes - rssBytes;
}
