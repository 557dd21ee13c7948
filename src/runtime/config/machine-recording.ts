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

/** Lost recordings that are remembered for one machine. */
const mostLost = 100;

/**
 * Whose recording one machine makes. A device records one video at a time. A start replaces what is being recorded, and
 * what failed measurements have left waiting. In Video with Measurement mode the next successful measurement gets the
 * video, whatever its reference is (spec 3, and the table of operating modes).
 */
export class MachineRecording {
  #recording: Recording | null = null;
  /** By reference, the oldest first. */
  readonly #lost = new Map<string, Lost>();

  started(start: Start, onEnd: () => void): void {
    this.#lose("overwritten", start);
    this.#leave("saved");
    this.#recording = { start, phase: "recording", isCertain: true, onEnd };
  }

  stopped(reference: string | null): Followed | null {
    this.#leave("saved");
    return this.follow(reference ?? this.#recording?.start.transactionReference ?? null);
  }

  cancelled(): void {
    this.#lose("cancelled");
    this.#leave("saved");
    this.#recording = null;
  }

  measured(reference: string | null, isSuccess: boolean): Followed | null {
    this.#leave("waiting");
    if (!isSuccess) {
      return null;
    }
    // What a stop has ended belongs to another transaction.
    const saved = this.#recording?.phase === "saved" ? this.#recording : null;
    if (saved !== null) {
      this.#recording = null;
    }
    const about = this.follow(reference);
    if (reference !== null) {
      this.#lost.delete(reference);
    }
    if (this.#recording?.start.transactionReference !== reference) {
      // The cloud has it with this transaction now: the parcel that it was started for does not get it any more.
      this.#lose(reference === null ? "unknown" : "taken");
    }
    this.#recording = saved;
    return about;
  }

  /** Nobody knows what the last command did; `startFor` is the reference if it was a start, null where it has none. */
  doubt(startFor: string | null | undefined): void {
    const recording = this.#recording;
    if (startFor !== undefined) {
      const start = { transactionReference: startFor, at: new Date().toISOString() };
      this.#lose("unknown", start);
      const onEnd = recording?.phase === "recording" ? recording.onEnd : () => undefined;
      this.#recording = { start, phase: "recording", isCertain: false, onEnd };
    } else if (recording !== null) {
      recording.isCertain = false;
    }
  }

  /** Whose the recording is, for a message with this reference; null where nothing is known. */
  follow(reference: string | null): Followed | null {
    const recording = this.#recording;
    if (recording !== null && recording.start.transactionReference === reference && reference !== null) {
      return { ...recording.start, recording: recording.isCertain ? "own" : "unknown" };
    }
    const own = reference === null ? undefined : this.#lost.get(reference);
    if (own !== undefined) {
      const { how, by } = own;
      return { ...own.start, recording: how, ...(how === "overwritten" && by !== undefined ? { by } : {}) };
    }
    if (recording === null) {
      return null;
    }
    const { start, isCertain } = recording;
    const isNamed = reference !== null && start.transactionReference !== null;
    return { ...start, recording: isNamed && isCertain ? "other" : "unknown" };
  }

  #leave(phase: "waiting" | "saved"): void {
    if (this.#recording?.phase === "recording") {
      this.#recording.phase = phase;
      this.#recording.onEnd();
    }
  }

  /** What was recorded is gone for the parcel that it was for, unless it is started again for the same one. */
  #lose(how: Lost["how"], by?: Start): void {
    const recording = this.#recording;
    const reference = recording?.start.transactionReference ?? null;
    if (recording === null || recording.phase === "saved" || reference === null) {
      return;
    }
    if (reference !== by?.transactionReference) {
      this.#lost.delete(reference);
      this.#lost.set(reference, { how, start: recording.start, ...(by === undefined ? {} : { by }) });
      dropOldest(this.#lost, mostLost);
    }
  }
}

/** Keeps a map from growing beyond so many entries: the one that was set first goes. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) {
    map.delete(oldest);
  }
}
