import type { Node } from "node-red";
import { isContainer } from "../../model/containers.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";

/**
 * Node-RED copies a message recursively, for each wire behind the first and for Catch and Complete nodes. From about
 * 1,900 levels on the copy fails, in the middle of a send that has reached some of the wires by then.
 */
const deepestCopied = 500;

/** Whether Node-RED may fail to copy a message. It walks in the same way as the copy, but without recursion. */
function isTooDeepToCopy(message: object): boolean {
  const seen = new Set<object>([message]);
  const open = [childrenOf(message)];
  for (let children = open.at(-1); children !== undefined; children = open.at(-1)) {
    const { done, value } = children.next();
    if (done === true) {
      open.pop();
    } else if (isContainer(value) && !seen.has(value)) {
      seen.add(value);
      open.push(childrenOf(value));
      if (open.length > deepestCopied) {
        return true;
      }
    }
  }
  return false;
}

/** Throws ERR_INPUT if Node-RED may fail to copy a message. */
export function refuseTooDeep(message: object, operation: Operation): void {
  if (isTooDeepToCopy(message)) {
    throw errorBeforeSending(operation, "messageTooDeep");
  }
}

/** Whether Node-RED has to copy what a node sends, because an output has several wires. */
export function hasSeveralWires(node: Node): boolean {
  const wires: unknown = Reflect.get(node, "wires");
  return Array.isArray(wires) && wires.some((output) => Array.isArray(output) && output.length > 1);
}

function childrenOf(container: object): Iterator<unknown, undefined> {
  return container instanceof Map || container instanceof Set
    ? container.values()
    : Object.values(container)[Symbol.iterator]();
}
