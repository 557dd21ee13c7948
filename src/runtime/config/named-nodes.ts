import type { Node, NodeAPI } from "node-red";
import { deployed } from "./deployed.ts";

/**
 * The config nodes of one type by name. They are kept here because finding one through Node-RED means to walk through
 * every node of every flow, for each message. Each of them has this object as `named`.
 */
export class NamedNodes {
  readonly #nodes = new Map<string, readonly Node[]>();

  /** Adds a node that was just created, until it is closed. */
  add(node: Node): void {
    // A config node inside a subflow can only be used in that subflow.
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

/** Returns the object that the config nodes of this type share; undefined while none is deployed. */
export function findNamed(RED: NodeAPI, type: string): NamedNodes | undefined {
  let found: NamedNodes | undefined;
  RED.nodes.eachNode(({ id, type: itsType }) => {
    if (found === undefined && itsType === type) {
      const node = deployed(RED, id);
      found = node !== null && "named" in node && node.named instanceof NamedNodes ? node.named : undefined;
    }
  });
  return found;
}
