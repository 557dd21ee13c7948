import { setTimeout as sleep } from "node:timers/promises";
import { countPassing, countSockets } from "./instruments.ts";

/** Longer than any connection is kept alive. */
const patienceMs = 15_000;

/** Waits until no connection is kept alive and no timer waits any more. */
export async function untilIdle(): Promise<void> {
  const until = performance.now() + patienceMs;
  while (countPassing() > 0 && performance.now() < until) {
    await sleep(50);
  }
}

/** Less than the time for which a connection is kept alive that nobody closes. */
const closingMs = 2_000;

/** The connections that are still there when what used them is gone. */
export async function socketsLeft(): Promise<number> {
  const until = performance.now() + closingMs;
  while (countSockets() > 0 && performance.now() < until) {
    await sleep(5);
  }
  return countSockets();
}
