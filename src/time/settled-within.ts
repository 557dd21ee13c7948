import { afterLimit } from "./after-limit.ts";

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
