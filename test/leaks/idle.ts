import { setTimeout as sleep } from "node:timers/promises";
import { countSockets } from "./instruments.ts";

/** Rounds and no time, so that a process that was held up looks again. Together shorter than an unused connection is kept alive. */
const rounds = 400;
const pauseMs = 5;

/** The connections that still exist when their users are gone. */
export async function socketsLeft(): Promise<number> {
  for (let round = 0; round < rounds && countSockets() > 0; round += 1) {
    await sleep(pauseMs);
  }
  return countSockets();
}
