import type { Content } from "./content.ts";
import type { Actions, MachineParts, VideoReply } from "./machine-types.ts";
import type { References } from "./measurement.ts";
import { isVideoMode, type Mode } from "./options.ts";
import type { TableParcel } from "./parcels.ts";
import type { Transaction } from "./transactions.ts";
import { createVideoRecorder, type Recording, type VideoRecorder } from "./video-recorder.ts";

const videoMedia = { contentType: "video/mp4", description: "ColorVideoMp4" } as const;

/** What the video commands need to know of their device. */
interface RecordingMachine {
  readonly mode: Mode;
  readonly parcel: TableParcel | null;
  count(action: keyof Actions): void;
}

/** The video commands of a device, and what a measurement does with its recording. */
interface MachineVideo {
  readonly recorder: VideoRecorder;
  start(references: References): VideoReply;
  /** `barcode` is the one whose scan ends the recording. */
  stop(barcode: string | null): VideoReply;
  cancel(): VideoReply;
  /** Ends a recording in Video with Measurement: it goes to this transaction, or waits after a failure (null). */
  measured(transaction: Transaction | null): void;
}

export function createMachineVideo(parts: MachineParts, machine: RecordingMachine): MachineVideo {
  const { options, random, timers, parcels, transactions, deviceClientId, changed } = parts;
  const recorder = createVideoRecorder(
    options,
    timers,
    {
      toTransaction: (transaction, content) => attachVideo(transaction, content),
      toOwnTransaction(recording, content, barcode) {
        const transaction = transactions.add({
          ...recording.references,
          kind: "video",
          deviceClientId,
          barcodeReference: barcode,
          trigger: null,
          measurement: null,
        });
        attachVideo(transaction, content);
      },
    },
    changed,
  );

  function attachVideo(transaction: Transaction, content: Content): void {
    transactions.attach(transaction, { ...videoMedia, heldBytes: 0, load: () => content });
  }

  const recordedVideo = (parcel: TableParcel | null) => (recording: Recording) =>
    parcels.video(parcel, recording.id, recording.references.transactionReference);

  function start(references: References): VideoReply {
    if (!isVideoMode(machine.mode)) {
      return "wrong-mode";
    }
    if (recorder.recording !== null) {
      if (typeof options.startWhileRecording === "number") {
        return options.startWhileRecording;
      }
      if (options.startWhileRecording === "continue") {
        return "done";
      }
    }
    recorder.start(random.guid(), references);
    machine.count("starts");
    return "done";
  }

  function stop(barcode: string | null): VideoReply {
    if (!isVideoMode(machine.mode)) {
      return "wrong-mode";
    }
    if (machine.mode !== "video-only") {
      return options.stopInVideoWithMeasurement;
    }
    if (recorder.recording === null) {
      return options.stopWhileIdle === 200 ? "done" : options.stopWhileIdle;
    }
    recorder.stop(recordedVideo(machine.parcel), barcode);
    machine.count("stops");
    return "done";
  }

  function cancel(): VideoReply {
    if (!isVideoMode(machine.mode)) {
      return "wrong-mode";
    }
    if (recorder.recording === null && options.cancelWhileIdle !== 200) {
      return options.cancelWhileIdle;
    }
    recorder.clear();
    machine.count("cancels");
    return "done";
  }

  return {
    recorder,
    start,
    stop,
    cancel,
    measured(transaction) {
      if (machine.mode === "video-with-measurement") {
        recorder.measured(transaction, recordedVideo(machine.parcel));
      }
    },
  };
}
