/**
 * Works on several entries at the same time, and yields the results as they come, in any order. After an error nothing
 * new is begun; it is thrown when what runs has ended. Nothing runs when the generator has returned.
 */
export async function* inParallel<T, R>(
  entries: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (entry: T) => Promise<R>,
): AsyncGenerator<R> {
  const running = new Set<Promise<void>>();
  const results: R[] = [];
  const failures: unknown[] = [];
  try {
    for await (const entry of entries) {
      const run = work(entry)
        .then(
          (result) => void results.push(result),
          (error: unknown) => void failures.push(error),
        )
        .finally(() => running.delete(run));
      running.add(run);
      if (running.size >= most) {
        await Promise.race(running);
      }
      yield* results.splice(0);
      if (failures.length > 0) {
        break;
      }
    }
  } finally {
    await Promise.all(running);
  }
  yield* results.splice(0);
  if (failures.length > 0) {
    throw failures[0];
  }
}
