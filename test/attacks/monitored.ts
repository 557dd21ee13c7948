import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

const monitor = pathToFileURL(join(import.meta.dirname, "monitor-child.ts")).href;

interface Sample {
  /** On the heap and in buffers. */
  readonly usedBytes: number;
  readonly p99Ms: number;
}

/** A Node-RED that tells of its memory and its event loop; with `collects` it collects the garbage before each sample. */
export function startMonitored(
  flows: readonly object[],
  { collects = false }: { readonly collects?: boolean } = {},
): Promise<NodeRed> {
  const options = `--import ${monitor}${collects ? " --expose-gc" : ""}`;
  return startNodeRed({ major: nodeRedMajor, flows, env: { NODE_OPTIONS: options } });
}

/** What was told while `act` ran and until the next sample after it. */
export async function watch(nodeRed: NodeRed, act: () => Promise<unknown>): Promise<Sample[]> {
  await nodeRed.nextLine(/^monitor /);
  const from = nodeRed.logs.length;
  await act();
  await nodeRed.nextLine(/^monitor /);
  return nodeRed.logs
    .slice(from)
    .filter((line) => line.startsWith("monitor "))
    .map((line) => JSON.parse(line.slice("monitor ".length)) as Sample);
}

/** The memory that is in use when `act` has ended. */
export async function usedAfter(nodeRed: NodeRed, act: () => Promise<unknown>): Promise<number> {
  const samples = await watch(nodeRed, act);
  return samples.at(-1)?.usedBytes ?? NaN;
}
