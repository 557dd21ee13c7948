import type { Node, NodeAPI } from "node-red";

/**
 * Returns the deployed node with this id; null if there is none. While a deploy replaces some nodes, Node-RED returns undefined for
 * those that are stopped.
 */
export function deployed(RED: NodeAPI, id: string): Node | null {
  const node: Node | null | undefined = RED.nodes.getNode(id);
  return node ?? null;
}
