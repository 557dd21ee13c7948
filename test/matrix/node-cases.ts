import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FlowNode } from "../support/flow.ts";
import type { Opened } from "../support/opened.ts";
import type { ActionNode } from "./action-nodes.ts";
import { endingOf, type Row } from "./row.ts";
import { shortMs } from "./endings.ts";
import { openRowResources, openPeer } from "./open-peer.ts";
import type { Peer } from "./peer.ts";

/** As long as a device node waits if nothing is set. */
const longMs = 10_000;

/** One node under one row, with a peer, a folder and a config node of its own. */
export interface NodeCase {
  readonly node: ActionNode;
  readonly row: Row;
  readonly peer: Peer;
  readonly folder: string;
  /** Of the node in its flow; the config node's is `config-` and this. */
  readonly id: string;
}

export async function prepareNodeCases(
  row: Row,
  nodes: readonly ActionNode[],
  name: string,
  opened: Opened,
): Promise<NodeCase[]> {
  const resources = await openRowResources(row, opened);
  return Promise.all(
    nodes.map(async (node, index): Promise<NodeCase> => {
      const peer = await openPeer(row, node, resources, opened);
      const folder = await mkdtemp(join(tmpdir(), "matrix-"));
      opened({ close: () => rm(folder, { recursive: true }) });
      return { node, row, peer, folder, id: `${name}-${index}` };
    }),
  );
}

/** The config node that leads to the peer, and the node's own properties. */
export function nodesOf({ node, row, peer, folder, id }: NodeCase): { config: FlowNode; action: FlowNode } {
  const { origin } = peer.origins[node.surface];
  // A short deadline is for nodes that are to miss it; others must succeed on a busy computer.
  const isForOthers = row.timeoutMs === shortMs && endingOf(row, node)?.code === undefined;
  const timeout = (isForOthers ? longMs : (row.timeoutMs ?? longMs)) / 1000;
  const { type, surface, properties } = node;
  const isCloud = surface === "cloud";
  const where = isCloud ? { baseUrl: origin } : { address: origin, generation: surface };
  const saves = node.savesFile === true ? { output: "file", folder, wait: (row.waitMs ?? 0) / 1000 } : {};
  const uses = { [isCloud ? "cloud" : "device"]: `config-${id}` };
  return {
    config: {
      id: `config-${id}`,
      type: isCloud ? "dimensioner-cloud" : "dimensioner-device",
      timeout,
      ...where,
    },
    action: { id, z: "tab", type, ...uses, ...properties, ...saves },
  };
}
