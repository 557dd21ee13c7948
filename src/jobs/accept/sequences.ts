import type { IntentFacts } from "../../vault/packages/intent.ts";
import type { RunningJob } from "../run/running-job.ts";
import { positionOf } from "../table/item-slots.ts";
import { namesInUse } from "../steps/store-item.ts";
import type { Submission } from "./submission.ts";

/** What a message says about its parcel. */
type Parcel = Pick<IntentFacts, "transactionId" | "references" | "measuredBy">;

/** The messages of a sequence, which share one job. */
export interface Sequence {
  /** The id of the job. */
  readonly id: string;
  /** What identifies its parcel, see `identify`. */
  readonly parcel: readonly (string | null)[];
  /** The positions whose media are stored or being stored. */
  readonly positions: Set<string>;
  /** The names of files that are used. */
  readonly used: Set<string>;
  readonly running: Promise<RunningJob>;
  /** The submission of the last part, which carries the message of the job. */
  last: Submission | undefined;
  /** Whether a message of another parcel has the id of this sequence too: then nothing is added any more. */
  isDivided: boolean;
}

/** Enough for those of which messages are still on their way. */
const mostDivided = 1_000;

/** The sequences of one node that are being collected, by the id on their messages. */
export class Sequences {
  readonly #open = new Map<string, Sequence>();
  /** The ids that messages of several parcels had, the latest last. */
  readonly #divided = new Set<string>();

  get(name: string): Sequence | undefined {
    return this.#open.get(name);
  }

  /** Begins a sequence with the first part that has arrived. */
  begin(
    name: string,
    first: {
      id: string;
      parcel: Parcel;
      position: number;
      used: Set<string>;
      running: Promise<RunningJob>;
    },
  ): Sequence {
    const { id, parcel, position, used, running } = first;
    return this.#add(name, {
      id,
      parcel: identify(parcel),
      positions: new Set([String(position)]),
      used,
      running,
      last: undefined,
      isDivided: false,
    });
  }

  /**
   * Whether the messages with this id are of several parcels, as those of a list of parcels are, and no parts of one
   * package. It is noted when the first one of another parcel arrives. `parcel`: that of the message that has arrived.
   */
  isOfParcels(name: string, parcel: Parcel): boolean {
    const open = this.#open.get(name);
    if (open !== undefined && isOther(open.parcel, identify(parcel))) {
      open.isDivided = true;
      this.#divided.add(name);
      const [oldest = name] = this.#divided;
      if (this.#divided.size > mostDivided) {
        this.#divided.delete(oldest);
      }
    }
    return this.#divided.has(name);
  }

  /** Resumes a sequence, so that later parts join the earlier ones after a restart. */
  resume(name: string, running: RunningJob, last: Submission): void {
    const { id, intent, items, lost } = running.job;
    this.#add(name, {
      id,
      parcel: identify(intent),
      positions: new Set([...items.keys()].map(positionOf).filter((position) => position !== null)),
      used: namesInUse([...items.values(), ...lost.values()]),
      running: Promise.resolve(running),
      last,
      isDivided: false,
    });
  }

  #add(name: string, sequence: Sequence): Sequence {
    this.#open.set(name, sequence);
    const forget = (): void => void this.#open.delete(name);
    sequence.running.then(({ end }) => end.whenSettled(forget), forget);
    return sequence;
  }
}

/** What identifies the parcel of a message, the surest first; null for what it does not say. */
function identify({ transactionId, measuredBy, references }: Parcel): readonly (string | null)[] {
  const { id = "", imageIdentifier = null } = measuredBy ?? {};
  const measurement = imageIdentifier === null ? null : JSON.stringify([id, imageIdentifier]);
  return [transactionId, measurement, references.transactionReference];
}

/** Whether two messages are of different parcels. The first fact decides that both of them have. */
function isOther(one: Sequence["parcel"], other: Sequence["parcel"]): boolean {
  const known = one.findIndex((fact, index) => fact !== null && other[index] !== null);
  return known >= 0 && one[known] !== other[known];
}
