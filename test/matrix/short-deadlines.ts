import { setImmediate as turn } from "node:timers/promises";
import type { Peer } from "./peer.ts";
import type { PlainEnding } from "./row.ts";

/** More often than once in a row, only a computer that stalls for seconds needs a whole short deadline for the connection. */
const mostAttempts = 20;

/**
 * Runs what is to end because no response comes within its deadline. On a busy computer a short deadline can pass before the
 * request is sent; then it is run again. Ends as the last one did.
 */
export async function untilSent<T>(
  { code }: Pick<PlainEnding, "code">,
  run: () => Promise<T>,
  codeOf: (running: Promise<T>) => Promise<string | null | undefined>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const running = run();
    const isAgain = code === "ERR_TIMEOUT" && (await codeOf(running)) === "ERR_UNREACHABLE";
    if (!isAgain || attempt === mostAttempts) {
      return await running;
    }
  }
}

/** Waits until the peer has read what was sent, and has acted: it may do so after the client has given up waiting. */
export async function untilArrived(
  { code, fewest, acts }: PlainEnding,
  peer: Peer,
  path: string,
): Promise<void> {
  if (code === "ERR_TIMEOUT") {
    while (peer.requestsTo(path) < fewest || (await peer.acts()) < acts) {
      await turn();
    }
  }
}
