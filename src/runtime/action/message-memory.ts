import { phrase } from "../../errors/interpolation.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";

/** Of the messages that one node is processing; a single one may have more. */
const mostBytes = 1_000_000_000;

interface Holder {
  readonly msg: Message;
}

/** What the messages that a node is processing keep in memory beside small values. */
export class MessageMemory {
  /** By job, because a flow may send the same message twice. */
  readonly #bytes = new Map<Holder, number>();
  #sum = 0;

  /** Throws ERR_QUEUE_FULL if there is no room beside the others. */
  add(job: Holder, call: Operation): void {
    const bytes = bytesOf(job.msg);
    if (this.#sum > 0 && this.#sum + bytes > mostBytes) {
      throw errorBeforeSending(call, "messagesLarge", {
        limit: phrase("megabytes", { count: mostBytes / 1e6 }),
      });
    }
    this.#bytes.set(job, bytes);
    this.#sum += bytes;
  }

  /** Does nothing for a job that was not added. */
  delete(job: Holder): void {
    this.#sum -= this.#bytes.get(job) ?? 0;
    this.#bytes.delete(job);
  }
}

/** The Buffers and texts of the payload, and an exact answer. */
function bytesOf({ payload, rawResponse }: Message): number {
  const values: readonly unknown[] = Array.isArray(payload) ? payload : [payload];
  return values.reduce<number>((sum, value) => sum + sizeOf(value), sizeOf(rawResponse));
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") {
    return value.length;
  }
  return value instanceof Uint8Array ? value.byteLength : 0;
}
