import { RecentIds } from "../../webhook/recent-ids.ts";
import type { Outputs } from "../messages.ts";
import type { NodeStatus } from "../status/node-status.ts";

/** How many references one node remembers at most. */
const mostRemembered = 1_000;

/** What identifies the work of one message. */
interface Wanted {
  /** Undefined: never a repeat, because it is not known which parcel it is. */
  readonly reference: string | undefined;
  /** What else has to be the same for a repeat: the key of the device, and behind a space the action. */
  readonly scope: string;
  /** How long a reference is ignored after its first message; 0: never. */
  readonly windowMs: number;
  readonly status: NodeStatus;
}

/** The references of a node's recent messages, so that a scanner that reads a code twice does not act twice. */
export class Repeats {
  readonly #recent = new RecentIds(mostRemembered);
  readonly #atWork = new Set<string>();
  #ignored = 0;

  /**
   * Does the work unless the same was started less than `windowMs` ago or is still running; then nothing is sent. Work
   * that fails or leaves the first output empty is forgotten: whoever scans again after that means it.
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

  /** Forgets the references of one device, so that its next message is never a repeat; those of others stay. */
  forgetDevice(deviceKey: string): void {
    this.#recent.forgetAll(`${deviceKey} `);
  }
}
