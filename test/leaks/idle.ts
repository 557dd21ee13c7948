import { setTimeout as sleep } from "node:timers/promises";
import { countSockets } from "./instruments.ts";

/** Shorter than the time for which an unused connection is kept alive. */
const closingMs = 2_000;

/** The connections that still exist when their users are gone. */
export async function socketsLeft(): Promise<number> {
  const until = performance.now() + closingMs;
  while (countSockets() > 0 && performance.now() < until) {
    await sleep(5);
  }
  return countSockets();
}
