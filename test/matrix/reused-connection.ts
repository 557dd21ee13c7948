import { setImmediate as turn } from "node:timers/promises";
import type { Peer } from "./peer.ts";

/** On a computer that stalls for seconds, the client closes the connection before the next request more than once. */
const mostAttempts = 20;

/**
 * Calls `first`, which must succeed, and then `second`, which is to meet the fault of the peer on the connection that `first` has
 * left. Clients close a connection that is idle for a few seconds, and `first` may sync a file after its last byte: if the
 * connection was gone, both are called again. Ends as the last `second` did.
 *
 * One turn after a response undici considers its connection free; before that, it would open another one.
 */
export async function onReusedConnection<T>(
  peer: Peer,
  first: () => Promise<unknown>,
  second: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    await peer.arm();
    await first();
    await turn();
    await peer.again();
    const running = second();
    await Promise.allSettled([running]);
    if (peer.metFault || attempt === mostAttempts) {
      return await running;
    }
    await turn();
    await peer.again();
  }
}
