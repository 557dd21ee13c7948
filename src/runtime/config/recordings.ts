import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { dropOldest, MachineRecording, type Followed, type Start } from "./machine-recording.ts";

/** Machines that are followed at most; each is one config node's, or one device reference of a cloud. */
const mostMachines = 1_000;

/**
 * Which parcel's recording each machine makes, as far as the commands of this process tell; machines are named as the
 * command queues name them. Deploys keep it, a restart does not. What is done at the machine itself, by another program
 * or, for a machine that is also commanded locally, through the cloud, is not known here. Evidence could hold another
 * parcel's video unless somebody asks.
 */
export class Recordings {
  readonly #machines = new Map<string, MachineRecording>();

  /** A start has succeeded. `onEnd` is called once, when it is no longer being recorded. */
  started(machine: string, start: Start, onEnd: () => void): void {
    this.#of(machine).started(start, onEnd);
  }

  /**
   * A stop has succeeded: the recording becomes a transaction of its own, with the references of its start. Returns whose
   * it is, null where nothing is known.
   */
  stopped(machine: string, reference: string | null): Followed | null {
    return this.#of(machine).stopped(reference);
  }

  /** A cancel has succeeded: it also clears what the device keeps. */
  cancelled(machine: string): void {
    this.#of(machine).cancelled();
  }

  /**
   * A measurement has ended the recording. A successful one gets the video: returned is whose it is, null where nothing
   * is known. A failed one leaves it on the device, for the next that succeeds.
   */
  measured(machine: string, reference: string | null, isSuccess: boolean): Followed | null {
    return this.#of(machine).measured(reference, isSuccess);
  }

  /** Whose the video is that the device keeps, for a message with this reference; null where nothing is known. */
  kept(machine: string, reference: string | null): Followed | null {
    return this.#machines.get(machine)?.follow(reference) ?? null;
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
        this.#of(machine).doubt(startFor);
      }
      throw error;
    }
  }

  #of(machine: string): MachineRecording {
    const known = this.#machines.get(machine) ?? new MachineRecording();
    this.#machines.delete(machine);
    this.#machines.set(machine, known);
    dropOldest(this.#machines, mostMachines);
    return known;
  }
}
