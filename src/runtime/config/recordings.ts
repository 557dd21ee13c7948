import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { MeasureResult } from "../../model/shapes.ts";

/** How many devices are remembered at most. */
const mostDevices = 1_000;

/**
 * Which parcel each device records, as far as it follows from the commands of this process; devices are identified by
 * the keys of the command queues. Deploys keep it, a restart does not. It does not include what is done at the device
 * itself, by another program, or through the cloud to a device that is also commanded locally. Without it, evidence
 * could contain another parcel's video.
 */
export class Recordings {
  readonly #devices = new Map<string, DeviceRecording>();

  /** To be called after a successful start. `onEnd` is called once, when it is no longer being recorded. */
  started(deviceKey: string, start: Start, onEnd: () => void): void {
    this.#of(deviceKey).started(start, onEnd);
  }

  /**
   * To be called after a successful stop: the recording becomes a transaction of its own, with the references of its
   * start. Returns what is known of the recording, or null.
   */
  stopped(deviceKey: string, reference: string | null): RecordingStatus | null {
    return this.#of(deviceKey).stopped(reference);
  }

  /** To be called after a successful cancel, which also deletes the video that the device keeps. */
  cancelled(deviceKey: string): void {
    this.#of(deviceKey).cancelled();
  }

  /**
   * To be called after a measurement, which ends the recording. A successful one gets the video: returns what is known
   * of it, or null. A failed one leaves it on the device for the next successful one.
   */
  measured(deviceKey: string, reference: string | null, result: MeasureOutcome): RecordingStatus | null {
    return this.#of(deviceKey).measured(reference, result);
  }

  /** What is known of the video that the device keeps, for a message with this reference; null if nothing is. */
  savedVideoOf(deviceKey: string, reference: string | null): RecordingStatus | null {
    return this.#devices.get(deviceKey)?.statusFor(reference) ?? null;
  }

  /**
   * Runs a command. If its outcome is unknown, it is also unknown which parcel the recording belongs to. `startFor` is
   * the reference of a start, null if it has none.
   */
  async track<T>(deviceKey: string, command: () => Promise<T>, startFor?: string | null): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (isDimensionerError(error) && error.details.outcome === "unknown") {
        this.#of(deviceKey).markUncertain(startFor);
      }
      throw error;
    }
  }

  #of(deviceKey: string): DeviceRecording {
    const known = this.#devices.get(deviceKey) ?? new DeviceRecording();
    this.#devices.delete(deviceKey);
    this.#devices.set(deviceKey, known);
    dropOldest(this.#devices, mostDevices);
    return known;
  }
}

/** The start of a recording, as in msg.video. */
export interface Start {
  readonly transactionReference: string | null;
  /** When the response to it arrived (ISO 8601, UTC). */
  readonly at: string;
}

/**
 * Which parcel a recording belongs to when a measurement or a stop has ended it. `own`: it was started for the same
 * reference. `overwritten`, `cancelled` or `taken` (by the measurement of another parcel): there was one for this
 * reference, and it is lost. `waiting`: this measurement has failed, and the next successful one gets it. `other`: it was
 * started for another reference. `unknown`: this is not known.
 */
export type Ownership = "own" | LostRecording["how"] | "waiting" | "other";

/** What decides whether a measurement gets the recording. */
export type MeasureOutcome = Pick<MeasureResult, "ok" | "errorCode">;

/** A start, and what became of its recording. */
export interface RecordingStatus extends Start {
  readonly recording: Ownership;
  /** With `overwritten`: the start that replaced it. */
  readonly by?: Start;
}

interface Recording {
  readonly start: Start;
  /**
   * `waiting`: a failed measurement has ended it, and the next successful one gets it. `saved`: a stop has ended it, so
   * that it has a transaction of its own; the copy on the device can be replaced without a loss in the cloud.
   */
  phase: "recording" | "waiting" | "saved";
  /** False after a command or a measurement whose effect on it is not known. */
  isCertain: boolean;
  /** Called once when it is no longer being recorded. */
  readonly onEnd: () => void;
}

/** How the recording of a reference was lost. */
interface LostRecording {
  readonly how: "overwritten" | "cancelled" | "taken" | "unknown";
  readonly start: Start;
  readonly by?: Start;
}

/** How many lost recordings of one device are remembered. */
const mostLost = 100;

/**
 * The recording that one device makes, and for which parcel. A device records one video at a time. A start replaces
 * what is being recorded, and what failed measurements have left waiting. In Video with Measurement mode the next
 * successful measurement gets the video, whatever its reference is (spec 3, and the table of operating modes).
 */
export class DeviceRecording {
  #recording: Recording | null = null;
  /** By reference, the oldest first. */
  readonly #lost = new Map<string, LostRecording>();

  started(start: Start, onEnd: () => void): void {
    this.#markLost("overwritten", start);
    this.#endPhase("saved");
    this.#recording = { start, phase: "recording", isCertain: true, onEnd };
  }

  stopped(reference: string | null): RecordingStatus | null {
    this.#endPhase("saved");
    return this.statusFor(reference ?? this.#recording?.start.transactionReference ?? null);
  }

  cancelled(): void {
    this.#markLost("cancelled");
    this.#endPhase("saved");
    this.#recording = null;
  }

  measured(reference: string | null, { ok, errorCode }: MeasureOutcome): RecordingStatus | null {
    this.#endPhase("waiting");
    if (!ok) {
      // By its own error code the device decides which transaction gets the video. Whether that counts where it has measured no
      // object is not documented.
      if (errorCode === 0 && this.#recording?.phase === "waiting") {
        this.#recording.isCertain = false;
      }
      return null;
    }
    // A recording that a stop has ended belongs to another transaction.
    const saved = this.#recording?.phase === "saved" ? this.#recording : null;
    if (saved !== null) {
      this.#recording = null;
    }
    const about = this.statusFor(reference);
    if (reference !== null) {
      this.#lost.delete(reference);
    }
    if (this.#recording?.start.transactionReference !== reference) {
      // The cloud stores the recording with this transaction, so the parcel for which it was started does not get it.
      this.#markLost(reference === null ? "unknown" : "taken");
    }
    this.#recording = saved;
    return about;
  }

  /**
   * Notes that the effect of the last command is not known. `startFor` is the reference of a start, null for a start
   * without one, undefined for other commands.
   */
  markUncertain(startFor: string | null | undefined): void {
    const recording = this.#recording;
    if (startFor !== undefined) {
      const start = { transactionReference: startFor, at: new Date().toISOString() };
      this.#markLost("unknown", start);
      const onEnd = recording?.phase === "recording" ? recording.onEnd : () => undefined;
      this.#recording = { start, phase: "recording", isCertain: false, onEnd };
    } else if (recording !== null) {
      recording.isCertain = false;
    }
  }

  /** What is known of the recording of this reference; null if nothing is. */
  statusFor(reference: string | null): RecordingStatus | null {
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

  #endPhase(phase: "waiting" | "saved"): void {
    if (this.#recording?.phase === "recording") {
      this.#recording.phase = phase;
      this.#recording.onEnd();
    }
  }

  /** Notes that the parcel has lost its recording, unless it is started again for the same parcel. */
  #markLost(how: LostRecording["how"], by?: Start): void {
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

/** Deletes the oldest entry of a map that has more than `most` entries. */
function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) {
    map.delete(oldest);
  }
}
