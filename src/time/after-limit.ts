/**
 * Calls `passed` when `ms` have passed, unless the returned function is called before.
 *
 * Node.js runs timers before it looks at sockets, files and threads. When something has held up the process for a while, the
 * timer is due although what it waits for came in time. So the event loop makes a turn first, in which that is received.
 * `turns`: how many; with each wire of a flow, Node-RED needs one more.
 */
export function afterLimit(ms: number, passed: () => void, turns = 1): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const afterTurns = (left: number): void => {
    immediate = setImmediate(left > 1 ? () => afterTurns(left - 1) : passed);
  };
  const timer = setTimeout(() => afterTurns(turns), ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/** Waits for a promise, but no longer than this time. Resolves with whether the promise has settled, in either way. */
export async function settledWithin(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const stop = afterLimit(withinMs, () => late.resolve(false));
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late.promise]);
  } finally {
    stop();
  }
}
