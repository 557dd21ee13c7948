import type { RunningJob } from "./running-job.ts";
import { placeOf } from "./slots.ts";
import { namesInUse } from "./store-item.ts";
import type { Submission } from "./submission.ts";

/** Messages that are parts of one job. */
export interface Sequence {
  /** Id of the job. */
  readonly id: string;
  /** Places whose media are stored or on their way. */
  readonly places: Set<string>;
  /** Names of files that are taken. */
  readonly used: Set<string>;
  readonly running: Promise<RunningJob>;
  /** Of the part that came last: its message speaks for all. */
  last: Submission | undefined;
}

/** The sequences of one node that are being gathered, by the id that their messages have. */
export class Sequences {
  readonly #open = new Map<string, Sequence>();

  get(name: string): Sequence | undefined {
    return this.#open.get(name);
  }

  /** Begins one with the first part that has come. */
  begin(
    name: string,
    first: { id: string; place: number; used: Set<string>; running: Promise<RunningJob> },
  ): Sequence {
    const { id, place, used, running } = first;
    return this.#add(name, {
      id,
      places: new Set([String(place)]),
      used,
      running,
      last: undefined,
    });
  }

  /** Parts that still come after a restart join those that came before it. */
  resume(name: string, running: RunningJob, last: Submission): void {
    const { id, items } = running.job;
    this.#add(name, {
      id,
      places: new Set([...items.keys()].map(placeOf).filter((place) => place !== null)),
      used: namesInUse(items.values()),
      running: Promise.resolve(running),
      last,
    });
  }

  #add(name: string, sequence: Sequence): Sequence {
    this.#open.set(name, sequence);
    const forget = (): void => void this.#open.delete(name);
    sequence.running.then(({ end }) => end.whenCome(forget), forget);
    return sequence;
  }
}
