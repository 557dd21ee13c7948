import type { RunningJob } from "../run/running-job.ts";
import { positionOf } from "../steps/item-slots.ts";
import { namesInUse } from "../steps/store-item.ts";
import type { Submission } from "./submission.ts";

/** The messages of a sequence, which share one job. */
export interface Sequence {
  /** The id of the job. */
  readonly id: string;
  /** The positions whose media are stored or being stored. */
  readonly positions: Set<string>;
  /** The names of files that are used. */
  readonly used: Set<string>;
  readonly running: Promise<RunningJob>;
  /** The submission of the last part, which carries the message of the job. */
  last: Submission | undefined;
}

/** The sequences of one node that are being collected, by the id on their messages. */
export class Sequences {
  readonly #open = new Map<string, Sequence>();

  get(name: string): Sequence | undefined {
    return this.#open.get(name);
  }

  /** Begins a sequence with the first part that has arrived. */
  begin(
    name: string,
    first: { id: string; position: number; used: Set<string>; running: Promise<RunningJob> },
  ): Sequence {
    const { id, position, used, running } = first;
    return this.#add(name, {
      id,
      positions: new Set([String(position)]),
      used,
      running,
      last: undefined,
    });
  }

  /** Resumes a sequence, so that later parts join the earlier ones after a restart. */
  resume(name: string, running: RunningJob, last: Submission): void {
    const { id, items, lost } = running.job;
    this.#add(name, {
      id,
      positions: new Set([...items.keys()].map(positionOf).filter((position) => position !== null)),
      used: namesInUse([...items.values(), ...lost.values()]),
      running: Promise.resolve(running),
      last,
    });
  }

  #add(name: string, sequence: Sequence): Sequence {
    this.#open.set(name, sequence);
    const forget = (): void => void this.#open.delete(name);
    sequence.running.then(({ end }) => end.whenSettled(forget), forget);
    return sequence;
  }
}
