import { AnswerReceiver, type Answer } from "./answer.ts";
import type { Read } from "./call.ts";
import { callFailure } from "./failures.ts";
import { delayMs, isTransient, readPolicy, wait } from "./retry.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Reads, again where that can help, within one deadline. */
export async function readAnswer(
  transport: Transport,
  read: Read,
  { signal }: CallOptions = {},
): Promise<Answer> {
  const { peer, timeoutMs } = transport;
  const since = performance.now();
  for (let failures = 1; ; failures++) {
    const receiver = new AnswerReceiver(peer, read);
    try {
      await transport.ask(read, receiver, { limit: { kind: "deadline", ms: timeoutMs, since }, signal });
      return receiver.answer();
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
