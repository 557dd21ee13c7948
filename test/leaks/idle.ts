import { setTimeout as sleep } from "node:timers/promises";
import { countSockets } from "./instruments.ts";

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
