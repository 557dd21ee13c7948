import type { Node, NodeAPI } from "node-red";
import type { Message } from "../messages.ts";

/** Lets Node-RED evaluate a typed value: JSONata, an environment variable, a value of the flow or global context. */
export function evaluateProperty(
  RED: NodeAPI,
  node: Node,
  msg: Message,
  value: string,
  type: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    RED.util.evaluateNodeProperty(value, type, node, msg, (error, found: unknown) => {
      if (error) {
        reject(error);
      } else {
        resolve(found);
      }
    });
  });
}
