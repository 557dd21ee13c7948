import { phrase } from "../../errors/interpolation.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";
import type { Message } from "../messages.ts";

/** Of the messages that one node is processing; a single one may have more. */
const mostBytes = 1_000_000_000;

interface Holder {
  readonly msg: Message;
}

/** What the messages that a node is processing, and their downloads, keep in memory beside small values. */
export class MessageMemory {
  readonly #call: Operation;
  /** By job, because a flow may send the same message twice. */
  readonly #held = new Map<Holder, { readonly message: number; readonly all: number }>();
  #sum = 0;

  constructor(call: Operation) {
    this.#call = call;
  }

  /** Counts what a job's message has, and what it has downloaded so far. Throws ERR_QUEUE_FULL if there is no room beside the others. */
  hold(job: Holder, downloadedBytes = 0): void {
    const held = this.#held.get(job);
    const message = held?.message ?? bytesOf(job.msg);
    const all = message + downloadedBytes;
    const others = this.#sum - (held?.all ?? 0);
    if (all > 0 && others > 0 && others + all > mostBytes) {
      throw errorBeforeSending(this.#call, "messagesLarge", {
        limit: phrase("megabytes", { count: mostBytes / 1e6 }),
      });
    }
    this.#held.set(job, { message, all });
    this.#sum = others + all;
  }

  /** Does nothing for a job that was not counted. */
  delete(job: Holder): void {
    this.#sum -= this.#held.get(job)?.all ?? 0;
    this.#held.delete(job);
  }
}

/** The Buffers and texts of the payload, and an exact answer. */
function bytesOf({ payload, rawResponse }: Message): number {
  // Object.values reads what a list has, however many elements are between: a list of a few bytes can have a length of 4 billion.
  const values: readonly unknown[] = Array.isArray(payload) ? Object.values(payload) : [payload];
  return values.reduce<number>((sum, value) => sum + sizeOf(value), sizeOf(rawResponse));
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") {
    return value.length;
  }
  return value instanceof Uint8Array ? value.byteLength : 0;
}
