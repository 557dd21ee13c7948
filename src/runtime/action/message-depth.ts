/**
 * Node-RED copies a message by recursion, for each wire behind the first and for Catch and Complete nodes; the copy fails
 * from about 1,900 levels on, in the middle of a send that has reached some of the wires by then.
 */
const deepestCopied = 500;

/** Whether Node-RED may fail to copy it. Walks as the copy does, without recursion. */
export function isTooDeepToCopy(message: object): boolean {
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

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

function childrenOf(container: object): Iterator<unknown, undefined> {
  return container instanceof Map || container instanceof Set
    ? container.values()
    : Object.values(container)[Symbol.iterator]();
}
