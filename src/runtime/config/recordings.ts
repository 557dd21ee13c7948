import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { dropOldest, DeviceRecording } from "./device-recording.ts";
import type { Measured, RecordingStatus, Start } from "./device-recording.ts";

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
  measured(deviceKey: string, reference: string | null, result: Measured): RecordingStatus | null {
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
