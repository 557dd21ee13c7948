import type {
  Actions,
  LastMeasurement,
  Machine,
  NotMeasured,
  ScanReply,
  Measured,
  VideoReply,
} from "./machine-types.ts";
import type { Content } from "./content.ts";
import { measureParcel, type References } from "./measurement.ts";
import type { Mode, SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { imageKinds, imageType, type Parcels, type ImageKind, type TableParcel } from "./parcels.ts";
import type { Timers } from "./timers.ts";
import type { Transaction, Transactions, Trigger } from "./transactions.ts";
import { createVideoRecorder, type Recording } from "./video-recorder.ts";

export interface MachineParts {
  readonly deviceClientId: string;
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly parcels: Parcels;
  readonly transactions: Transactions;
  readonly changed: () => void;
}

export const noReferences: References = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
};

const descriptions: Readonly<Record<ImageKind, string>> = {
  annotated: "AnnotatedColorImageJpeg",
  color: "ColorImageJpeg",
  depth: "DepthImage16Bit",
};
const videoMedia = { contentType: "video/mp4", description: "ColorVideoMp4" } as const;

/** True in the two modes that record. */
export function isVideoMode(mode: Mode): boolean {
  return mode === "video-only" || mode === "video-with-measurement";
}

/** A newer device without its network: the parcel on its table, camera, recorder, and upload to the cloud. */
export function createMachine(parts: MachineParts, firstParcel: TableParcel | null): Machine {
  const { options, random, timers, parcels, transactions, deviceClientId, changed } = parts;
  let mode = options.mode;
  let table = firstParcel;
  let trackId = 0;
  let actions: Actions = { measures: 0, starts: 0, stops: 0, cancels: 0 };
  let queue: Promise<unknown> = Promise.resolve();
  let powerCycle = 0;
  let measuring = false;
  let last: LastMeasurement | null = null;
  const images = new Map<string, TableParcel>();

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

  function count(action: keyof Actions): void {
    actions = { ...actions, [action]: actions[action] + 1 };
    changed();
  }

  function storeImages(imageIdentifier: string, parcel: TableParcel): void {
    images.set(imageIdentifier, parcel);
    const [oldest] = images.keys();
    if (images.size > options.keepImages && oldest !== undefined) {
      images.delete(oldest);
    }
  }

  const recordedVideo = (parcel: TableParcel | null) => (recording: Recording) =>
    parcels.video(parcel, recording.id, recording.references.transactionReference);

  function takeMeasurement(references: References, trigger: Trigger, barcode: string | null): Measured {
    trackId += 1;
    const legalForTrade = mode === "legal-for-trade";
    const seen = table;
    const measurement = measureParcel(seen, options, random, { ...references, trackId, legalForTrade });
    const imageIdentifier = random.guid();
    const transaction = transactions.add({
      ...references,
      kind: "measurement",
      deviceClientId,
      barcodeReference: barcode,
      trigger,
      measurement,
    });
    if (seen !== null) {
      storeImages(imageIdentifier, seen);
      const media = imageKinds.map((kind) => ({
        contentType: imageType(kind),
        description: descriptions[kind],
        heldBytes: 0,
        load: () => parcels.image(seen, kind),
      }));
      transactions.attachLater(options.mediaDelayMs, transaction, media);
    }
    if (mode === "video-with-measurement") {
      recorder.measured(measurement.errorCode === 0 ? transaction : null, recordedVideo(seen));
    }
    const imageShown = seen === null ? null : imageIdentifier;
    last = { measurement, imageIdentifier: imageShown, transactionId: transaction.id, trigger, barcode };
    changed();
    return { measurement, imageIdentifier, transaction };
  }

  function measure(
    references: References,
    trigger: Trigger,
    barcode?: string,
  ): Promise<Measured | NotMeasured> {
    // One camera: a second request waits until the first is measured.
    const measured = queue.then(async (): Promise<Measured | NotMeasured> => {
      if (mode === "video-only") {
        return "never-measures";
      }
      const startedIn = powerCycle;
      measuring = true;
      count("measures");
      await timers.sleep(options.measureMs).finally(() => {
        measuring = false;
      });
      if (powerCycle !== startedIn) {
        changed();
        return "switched-off";
      }
      return takeMeasurement(references, trigger, barcode ?? null);
    });
    queue = measured.catch(() => undefined);
    return measured;
  }

  function start(references: References): VideoReply {
    if (!isVideoMode(mode)) {
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
    count("starts");
    return "done";
  }

  function stopBy(barcode: string | null): VideoReply {
    if (!isVideoMode(mode)) {
      return "wrong-mode";
    }
    if (mode !== "video-only") {
      return options.stopInVideoWithMeasurement;
    }
    if (recorder.recording === null) {
      return options.stopWhileIdle === 200 ? "done" : options.stopWhileIdle;
    }
    recorder.stop(recordedVideo(table), barcode);
    count("stops");
    return "done";
  }

  function cancel(): VideoReply {
    if (!isVideoMode(mode)) {
      return "wrong-mode";
    }
    if (recorder.recording === null && options.cancelWhileIdle !== 200) {
      return options.cancelWhileIdle;
    }
    recorder.clear();
    count("cancels");
    return "done";
  }

  async function scan(barcode: string): Promise<ScanReply> {
    if (barcode === "VIDEO_START" || barcode === "VIDEO_RESET") {
      const reply = barcode === "VIDEO_START" ? start(noReferences) : cancel();
      if (reply !== "done") {
        return "nothing";
      }
      return barcode === "VIDEO_START" ? "recording-started" : "recording-cancelled";
    }
    const known = parcels.byBarcode(barcode);
    if (known !== null) {
      table = known;
    }
    if (mode === "video-only") {
      if (recorder.recording === null) {
        return "nothing";
      }
      stopBy(barcode);
      return "recording-stopped";
    }
    const taken = await measure(noReferences, "scan", barcode);
    return typeof taken === "string" ? "nothing" : "measured";
  }

  return {
    get state() {
      const { encoding, encodingEndsAt, saved: savedVideo } = recorder;
      const { startedAt, references } = recorder.recording ?? {};
      const recording = startedAt && references ? { startedAt, references } : null;
      return { mode, measuring, last, recording, encoding, encodingEndsAt, savedVideo, parcel: table };
    },
    get actions() {
      return actions;
    },
    get savedContent() {
      return isVideoMode(mode) ? recorder.savedContent : null;
    },
    setMode(next) {
      if (next !== mode) {
        recorder.abandon();
      }
      mode = next;
      changed();
    },
    setParcel(parcel) {
      table = parcel;
      changed();
    },
    measure,
    start,
    stop: () => stopBy(null),
    cancel,
    scan,
    image(kind, imageIdentifier) {
      const parcel = images.get(imageIdentifier.toLowerCase());
      return parcel === undefined ? null : parcels.image(parcel, kind);
    },
    losePower() {
      powerCycle += 1;
      recorder.losePower();
      last = null;
      changed();
    },
    reset() {
      powerCycle += 1;
      recorder.clear();
      images.clear();
      last = null;
      mode = options.mode;
      table = firstParcel;
      actions = { measures: 0, starts: 0, stops: 0, cancels: 0 };
      changed();
    },
  };
}
