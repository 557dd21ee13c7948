import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

const monitor = pathToFileURL(join(import.meta.dirname, "monitor-child.ts")).href;
const said = /^monitor (\d+)$/;

/** A Node-RED that reports its memory. */
export function startMonitored(flows: readonly object[]): Promise<NodeRed> {
  const env = { NODE_OPTIONS: `--import ${monitor} --expose-gc` };
  return startNodeRed({ major: nodeRedMajor, flows, env });
}

/** The bytes that are in use when `act` has ended. */
export async function usedAfter(nodeRed: NodeRed, act: () => Promise<unknown>): Promise<number> {
  await act();
  // The memory in the first report may have been read before the end.
  await nodeRed.nextLine(said);
  return Number(said.exec(await nodeRed.nextLine(said))?.[1]);
}
