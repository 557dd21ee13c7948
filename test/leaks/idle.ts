import { setTimeout as sleep } from "node:timers/promises";
import { countPassing } from "./instruments.ts";

/** Longer than any connection is kept alive. */
const patienceMs = 15_000;

/** Waits until no connection is kept alive and no timer waits any more. */
export async function untilIdle(): Promise<void> {
  const until = performance.now() + patienceMs;
  while (countPassing() > 0 && performance.now() < until) {
    await sleep(50);
  }
}
