import { RecentIds } from "../../webhook/recent-ids.ts";
import type { Outputs } from "../messages.ts";
import type { StatusBoard } from "../status/status-board.ts";

/** References that one node remembers at most. */
const mostRemembered = 1_000;

/** What one message wants to have done. */
interface Wanted {
  /** Undefined: never a repeat, since nothing says of which parcel. */
  readonly reference: string | undefined;
  /** What else has to be the same: the machine and the action. */
  readonly scope: string;
  /** From its first message on, a reference is ignored for so long; 0: never. */
  readonly windowMs: number;
  readonly status: StatusBoard;
}

/** The references that one node has served of late, so that a scanner that reads a code twice does not act twice. */
export class Repeats {
  readonly #recent = new RecentIds(mostRemembered);
  readonly #atWork = new Set<string>();
  #ignored = 0;

  /**
   * Does the work, unless the same was begun less than `windowMs` ago or is still at work; then nothing is sent. What fails
   * is forgotten: who scans again after a failure means it. That is also so where the first output stays empty.
   */
  async unlessRepeated(
    { reference, scope, windowMs, status }: Wanted,
    work: () => Promise<Outputs>,
  ): Promise<Outputs> {
    if (reference === undefined || windowMs === 0) {
      return work();
    }
    const key = `${scope} ${reference}`;
    const isAtWork = this.#atWork.has(key);
    if (isAtWork || this.#recent.knows([key], windowMs)) {
      this.#ignored++;
      status.say(isAtWork ? "working" : "done", "repeatsIgnored", { count: this.#ignored });
      return [];
    }
    this.#recent.remember([key], windowMs);
    this.#atWork.add(key);
    let isDone = false;
    try {
      const outputs = await work();
      isDone = outputs[0] !== null;
      return outputs;
    } finally {
      this.#atWork.delete(key);
      if (!isDone) {
        this.#recent.forget(key);
      }
    }
  }

  /** What is done next for any reference is no repeat. */
  clear(): void {
    this.#recent.clear();
  }
}
