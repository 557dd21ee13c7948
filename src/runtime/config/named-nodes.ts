import type { Node, NodeAPI } from "node-red";

/**
 * The config nodes of one type by name, kept by themselves: to ask Node-RED means to go through every node of every
 * flow, for each message. Each of them has this as `named`.
 */
export class NamedNodes {
  readonly #nodes = new Map<string, readonly Node[]>();

  /** Takes in a node that has just been made, until it is closed. */
  add(node: Node): void {
    // A subflow's own config node belongs to that subflow alone.
    if ("_alias" in node) {
      return;
    }
    const { name = "" } = node;
    this.#nodes.set(name, [...this.find(name), node]);
    node.on("close", () => {
      const left = this.find(name).filter((other) => other !== node);
      if (left.length > 0) {
        this.#nodes.set(name, left);
      } else {
        this.#nodes.delete(name);
      }
    });
  }

  find(name: string): readonly Node[] {
    return this.#nodes.get(name) ?? [];
  }
}

/** What the config nodes of this type share; undefined while none is deployed. */
export function findNamed(RED: NodeAPI, type: string): NamedNodes | undefined {
  let found: NamedNodes | undefined;
  RED.nodes.eachNode(({ id, type: itsType }) => {
    if (found === undefined && itsType === type) {
      const node = RED.nodes.getNode(id);
      found = node !== null && "named" in node && node.named instanceof NamedNodes ? node.named : undefined;
    }
  });
  return found;
}
