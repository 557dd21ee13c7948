import { ResponseReceiver, type HttpResponse } from "./response.ts";
import type { Read } from "./call.ts";
import { callFailure } from "./failures.ts";
import { delayMs, isTransient, readPolicy, wait } from "./retry.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Sends a read, and repeats it within one deadline if that can help. */
export async function readResponse(
  transport: Transport,
  read: Read,
  { signal }: CallOptions = {},
): Promise<HttpResponse> {
  const { peer, timeoutMs } = transport;
  const since = performance.now();
  for (let failures = 1; ; failures++) {
    const receiver = new ResponseReceiver(peer, read);
    try {
      await transport.sendRead(read, receiver, { limit: { kind: "deadline", ms: timeoutMs, since }, signal });
      return receiver.response();
    } catch (error) {
      const waitMs = delayMs(readPolicy, failures, receiver.retryAfterMs);
      const isLate = performance.now() + waitMs >= since + timeoutMs;
      if (failures >= readPolicy.tries || isLate || !isTransient(error)) {
        throw error;
      }
      await wait(waitMs, transport.signals(signal), (sentence) => callFailure(peer, read, sentence, null));
    }
  }
}
