import { isDimensionerError } from "../../errors/dimensioner-error.ts";

/** The start of a recording, as msg.video tells of it. */
export interface Start {
  readonly transactionReference: string | null;
  /** When the answer to it was there (ISO 8601, UTC). */
  readonly at: string;
}

/**
 * Whose the recording is that a measurement or a stop has ended: `own`, it was started for the same reference;
 * `overwritten`, `cancelled` or `taken` (by the measurement of another parcel), one was, and is lost; `other`, it was
 * started for another reference; `unknown`.
 */
export type Ownership = "own" | Lost["how"] | "other";

/** A start, and what has become of its recording. */
export interface Followed extends Start {
  readonly recording: Ownership;
  /** With `overwritten`: the start that replaced it. */
  readonly by?: Start;
}

interface Recording {
  readonly start: Start;
  /**
   * `waiting`: a failed measurement has ended it, and the next successful one gets it. `saved`: a stop has ended it, and it
   * has a transaction of its own; what the device keeps of it can be replaced without any loss in the cloud.
   */
  phase: "recording" | "waiting" | "saved";
  /** False from when a command came in between of which nobody knows what it did. */
  isCertain: boolean;
  /** Told once when it is no longer being recorded. */
  readonly onEnd: () => void;
}

/** What the recording of one reference has come to. */
interface Lost {
  readonly how: "overwritten" | "cancelled" | "taken" | "unknown";
  readonly start: Start;
  readonly by?: Start;
}

class Machine {
  recording: Recording | null = null;
  /** By reference, the oldest first. */
  readonly lost = new Map<string, Lost>();
}

/** Machines that are followed at most; each is one config node's, or one device reference of a cloud. */
const mostMachines = 1_000;
/** Lost recordings that are remembered for one machine. */
const mostLost = 100;

/**
 * Which parcel's recording each machine makes, as far as the commands of this process tell; machines are named as the
 * command queues name them. Deploys keep it, a restart does not. What is done at the machine itself, by another program
 * or, for a machine that is also commanded locally, through the cloud, is not known here.
 *
 * A device records one video at a time. A start replaces what is being recorded, and what failed measurements have left
 * waiting. In Video with Measurement mode the next successful measurement gets the video, whatever its reference is
 * (spec 3, and the table of operating modes). So evidence could hold another parcel's video unless somebody asks.
 */
export class Recordings {
  readonly #machines = new Map<string, Machine>();

  /** A start has succeeded. `onEnd` is called once, when it is no longer being recorded. */
  started(machine: string, start: Start, onEnd: () => void): void {
    const known = this.#known(machine);
    lose(known, "overwritten", start);
    leaveRecording(known.recording, "saved");
    known.recording = { start, phase: "recording", isCertain: true, onEnd };
  }

  /**
   * A stop has succeeded: the recording becomes a transaction of its own, with the references of its start. Returns whose
   * it is, null where nothing is known.
   */
  stopped(machine: string, reference: string | null): Followed | null {
    const known = this.#known(machine);
    leaveRecording(known.recording, "saved");
    return follow(known, reference ?? known.recording?.start.transactionReference ?? null);
  }

  /** A cancel has succeeded: it also clears what the device keeps. */
  cancelled(machine: string): void {
    const known = this.#known(machine);
    lose(known, "cancelled");
    leaveRecording(known.recording, "saved");
    known.recording = null;
  }

  /**
   * A measurement has ended the recording. A successful one gets the video: returned is whose it is, null where nothing
   * is known. A failed one leaves it on the device, for the next that succeeds.
   */
  measured(machine: string, reference: string | null, isSuccess: boolean): Followed | null {
    const known = this.#known(machine);
    leaveRecording(known.recording, "waiting");
    if (!isSuccess) {
      return null;
    }
    // What a stop has ended belongs to another transaction.
    const saved = known.recording?.phase === "saved" ? known.recording : null;
    const ended: Machine = { recording: saved === null ? known.recording : null, lost: known.lost };
    const about = follow(ended, reference);
    known.recording = saved;
    if (reference !== null) {
      known.lost.delete(reference);
    }
    if (ended.recording?.start.transactionReference !== reference) {
      // The cloud has it with this transaction now: the parcel that it was started for does not get it any more.
      lose(ended, reference === null ? "unknown" : "taken");
    }
    return about;
  }

  /** Whose the video is that the device keeps, for a message with this reference; null where nothing is known. */
  kept(machine: string, reference: string | null): Followed | null {
    const known = this.#machines.get(machine);
    return known === undefined ? null : follow(known, reference);
  }

  /**
   * Runs a command. Where its outcome stays unknown, so does whose the recording is; `startFor` is the reference of a
   * start, null where it has none.
   */
  async during<T>(machine: string, command: () => Promise<T>, startFor?: string | null): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (isDimensionerError(error) && error.details.outcome === "unknown") {
        this.#doubt(this.#known(machine), startFor);
      }
      throw error;
    }
  }

  #doubt(known: Machine, startFor: string | null | undefined): void {
    const { recording } = known;
    if (startFor !== undefined) {
      const start = { transactionReference: startFor, at: new Date().toISOString() };
      lose(known, "unknown", start);
      const onEnd = recording?.phase === "recording" ? recording.onEnd : () => undefined;
      known.recording = { start, phase: "recording", isCertain: false, onEnd };
    } else if (recording !== null) {
      recording.isCertain = false;
    }
  }

  #known(machine: string): Machine {
    const known = this.#machines.get(machine) ?? new Machine();
    this.#machines.delete(machine);
    this.#machines.set(machine, known);
    dropOldest(this.#machines, mostMachines);
    return known;
  }
}

function leaveRecording(recording: Recording | null, phase: "waiting" | "saved"): void {
  if (recording?.phase === "recording") {
    recording.phase = phase;
    recording.onEnd();
  }
}

/** What was recorded is gone for the parcel that it was for, unless it is started again for the same one. */
function lose({ recording, lost }: Machine, how: Lost["how"], by?: Start): void {
  const reference = recording?.start.transactionReference ?? null;
  if (recording === null || recording.phase === "saved" || reference === null) {
    return;
  }
  if (reference !== by?.transactionReference) {
    lost.delete(reference);
    lost.set(reference, { how, start: recording.start, ...(by === undefined ? {} : { by }) });
    dropOldest(lost, mostLost);
  }
}

function follow({ recording, lost }: Machine, reference: string | null): Followed | null {
  const start = recording?.start ?? null;
  if (recording !== null && start?.transactionReference === reference && reference !== null) {
    return { ...recording.start, recording: recording.isCertain ? "own" : "unknown" };
  }
  const own = reference === null ? undefined : lost.get(reference);
  if (own !== undefined) {
    const { how, by } = own;
    return { ...own.start, recording: how, ...(how === "overwritten" && by !== undefined ? { by } : {}) };
  }
  if (recording === null || start === null) {
    return null;
  }
  const isNamed = reference !== null && start.transactionReference !== null;
  return { ...start, recording: isNamed && recording.isCertain ? "other" : "unknown" };
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) {
    map.delete(oldest);
  }
}
