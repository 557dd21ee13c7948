import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

const monitor = pathToFileURL(join(import.meta.dirname, "monitor-child.ts")).href;

interface Sample {
  readonly rss: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** A Node-RED that tells of its memory and its event loop. */
export function startMonitored(flows: readonly object[], major: 4 | 5 = nodeRedMajor): Promise<NodeRed> {
  return startNodeRed({ major, flows, env: { NODE_OPTIONS: `--import ${monitor}` } });
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

export function peakRss(samples: readonly Sample[]): number {
  return Math.max(...samples.map(({ rss }) => rss));
}
