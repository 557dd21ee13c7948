import { measureParcel, noReferences, type Measurement, type References } from "./measurement.ts";
import { isVideoMode, type Mode, type SimulatorOptions } from "./options.ts";
import { imageKinds, imageType, type ImageKind, type Parcels, type TableParcel } from "./parcels.ts";
import type { Random } from "./random.ts";
import type { Content } from "./responses.ts";
import type { Timers } from "./timers.ts";
import type { Transaction, Transactions, Trigger } from "./transactions.ts";
import {
  createVideoRecorder,
  type Recording,
  type SavedVideo,
  type VideoRecorder,
} from "./video-recorder.ts";

/** How often the device has acted, even if the responses were lost. */
export interface Actions {
  readonly measures: number;
  readonly starts: number;
  readonly stops: number;
  readonly cancels: number;
}

/** What the device's own display shows of its latest measurement. */
interface LastMeasurement {
  readonly measurement: Measurement;
  /** Null: the table was empty, there is no picture. */
  readonly imageIdentifier: string | null;
  readonly transactionId: string;
  readonly trigger: Trigger;
  readonly barcode: string | null;
}

export interface MachineState {
  readonly mode: Mode;
  readonly measuring: boolean;
  /** Null after the start and after a loss of power. */
  readonly last: LastMeasurement | null;
  readonly recording: { readonly startedAt: Date; readonly references: References } | null;
  readonly encoding: boolean;
  readonly encodingEndsAt: Date | null;
  readonly savedVideo: SavedVideo | null;
  readonly parcel: TableParcel | null;
}

/** The result of a measurement. */
interface TakenMeasurement {
  readonly measurement: Measurement;
  readonly imageIdentifier: string;
  readonly transaction: Transaction;
}

/** Why nothing was measured: the mode is Video Only, or the power was switched off. */
type NotTaken = "never-measures" | "switched-off";

/** The response to a video command: done, not allowed in this mode, or a status code set by an option. */
export type VideoReply = "done" | "wrong-mode" | number;

/** The buttons on the device's screen. */
export const deviceButtons = ["measure", "start", "stop", "cancel"] as const;
export type DeviceButton = (typeof deviceButtons)[number];

/** The result of a scan or of pressing a button. */
export type ScanReply =
  | "measured"
  | "recording-started"
  | "recording-stopped"
  | "recording-cancelled"
  | "nothing";

export interface Machine {
  readonly state: MachineState;
  readonly actions: Actions;
  readonly savedContent: Content | null;
  setMode(mode: Mode): void;
  setParcel(parcel: TableParcel | null): void;
  measure(references: References, trigger: Trigger, barcode?: string): Promise<TakenMeasurement | NotTaken>;
  start(references: References): VideoReply;
  stop(): VideoReply;
  cancel(): VideoReply;
  scan(barcode: string): Promise<ScanReply>;
  image(kind: ImageKind, imageIdentifier: string): Content | null;
  /** Switches the device off, which clears its memory. */
  losePower(): void;
  reset(): void;
}

/** What a simulated device works with. */
export interface MachineParts {
  readonly deviceClientId: string;
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly parcels: Parcels;
  readonly transactions: Transactions;
  readonly changed: () => void;
}

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

function createMachineVideo(parts: MachineParts, machine: RecordingMachine): MachineVideo {
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

  const recordedVideo =
    (parcel: TableParcel | null) =>
    ({ id, startedAt, references: { transactionReference } }: Recording) =>
      parcels.video(
        parcel,
        startedAt,
        transactionReference === null ? id : `${id} for ${transactionReference}`,
      );

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

const descriptions: Readonly<Record<ImageKind, string>> = {
  annotated: "AnnotatedColorImageJpeg",
  color: "ColorImageJpeg",
  depth: "DepthImage16Bit",
};
/**
 * A newer device without its network: the parcel on its table, its camera, its video recorder, and its uploads to the
 * cloud.
 */
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
  const video = createMachineVideo(parts, {
    get mode() {
      return mode;
    },
    get parcel() {
      return table;
    },
    count,
  });

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

  function takeMeasurement(
    references: References,
    trigger: Trigger,
    barcode: string | null,
  ): TakenMeasurement {
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
    video.measured(measurement.errorCode === 0 ? transaction : null);
    const imageShown = seen === null ? null : imageIdentifier;
    last = { measurement, imageIdentifier: imageShown, transactionId: transaction.id, trigger, barcode };
    changed();
    return { measurement, imageIdentifier, transaction };
  }

  function measure(
    references: References,
    trigger: Trigger,
    barcode?: string,
  ): Promise<TakenMeasurement | NotTaken> {
    // There is one camera: a second request waits until the first measurement has ended.
    const measured = queue.then(async (): Promise<TakenMeasurement | NotTaken> => {
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

  async function scan(barcode: string): Promise<ScanReply> {
    if (barcode === "VIDEO_START" || barcode === "VIDEO_RESET") {
      const reply = barcode === "VIDEO_START" ? video.start(noReferences) : video.cancel();
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
      if (video.recorder.recording === null) {
        return "nothing";
      }
      video.stop(barcode);
      return "recording-stopped";
    }
    const taken = await measure(noReferences, "scan", barcode);
    return typeof taken === "string" ? "nothing" : "measured";
  }

  return {
    get state() {
      const { encoding, encodingEndsAt, saved: savedVideo } = video.recorder;
      const { startedAt, references } = video.recorder.recording ?? {};
      const recording = startedAt && references ? { startedAt, references } : null;
      return { mode, measuring, last, recording, encoding, encodingEndsAt, savedVideo, parcel: table };
    },
    get actions() {
      return actions;
    },
    get savedContent() {
      return isVideoMode(mode) ? video.recorder.savedContent : null;
    },
    setMode(next) {
      if (next !== mode) {
        video.recorder.abandon();
      }
      mode = next;
      changed();
    },
    setParcel(parcel) {
      table = parcel;
      changed();
    },
    measure,
    start: video.start,
    stop: () => video.stop(null),
    cancel: video.cancel,
    scan,
    image(kind, imageIdentifier) {
      const parcel = images.get(imageIdentifier.toLowerCase());
      return parcel === undefined ? null : parcels.image(parcel, kind);
    },
    losePower() {
      powerCycle += 1;
      video.recorder.losePower();
      last = null;
      changed();
    },
    reset() {
      powerCycle += 1;
      video.recorder.clear();
      images.clear();
      last = null;
      mode = options.mode;
      table = firstParcel;
      actions = { measures: 0, starts: 0, stops: 0, cancels: 0 };
      changed();
    },
  };
}
