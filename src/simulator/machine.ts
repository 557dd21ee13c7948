import type { Content } from "./content.ts";
import { measureTable, type Measurement, type References } from "./measurement.ts";
import type { Mode, SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { IMAGE_KINDS, imageType, type Depot, type ImageKind, type TableParcel } from "./table.ts";
import type { Timers } from "./timers.ts";
import type { Transaction, Transactions, Trigger } from "./transactions.ts";
import { createVideoRecorder, type Recording, type SavedVideo } from "./video-recorder.ts";

/** What the machine really did, whatever became of the answers. */
export interface Actions {
  readonly measures: number;
  readonly starts: number;
  readonly stops: number;
  readonly cancels: number;
}

export interface MachineState {
  readonly mode: Mode;
  readonly recording: { readonly startedAt: Date; readonly references: References } | null;
  readonly encoding: boolean;
  readonly savedVideo: SavedVideo | null;
  readonly parcel: TableParcel | null;
}

/** What a measurement left behind. */
export interface Taken {
  readonly measurement: Measurement;
  readonly imageIdentifier: string;
  readonly transaction: Transaction;
}

/** The answer to a command about video: done, not allowed in this mode, or a status code set by an option. */
export type VideoReply = "done" | "wrong-mode" | number;

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
  setTable(parcel: TableParcel | null): void;
  /** Null in Video Only, which never measures. */
  measure(references: References, trigger: Trigger, barcode?: string): Promise<Taken | null>;
  start(references: References): VideoReply;
  stop(): VideoReply;
  cancel(): VideoReply;
  scan(barcode: string): Promise<ScanReply>;
  image(kind: ImageKind, imageIdentifier: string): Content | null;
  /** Switched off: what was in memory is gone. */
  losePower(): void;
  reset(): void;
}

export interface MachineParts {
  readonly deviceClientId: string;
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly depot: Depot;
  readonly transactions: Transactions;
  readonly changed: () => void;
}

export const NO_REFERENCES: References = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
};

const KEPT_IMAGES = 1000;
const DESCRIPTIONS: Readonly<Record<ImageKind, string>> = {
  annotated: "AnnotatedColorImageJpeg",
  color: "ColorImageJpeg",
  depth: "DepthImage16Bit",
};
const VIDEO = { contentType: "video/mp4", description: "ColorVideoMp4" } as const;

/** True in the two modes that record. */
export function isVideoMode(mode: Mode): boolean {
  return mode === "video-only" || mode === "video-with-measurement";
}

/** A newer device without its network: table, camera, recorder, and the line to the cloud. */
export function createMachine(parts: MachineParts, firstTable: TableParcel | null): Machine {
  const { options, random, timers, depot, transactions, deviceClientId, changed } = parts;
  let mode = options.mode;
  let table = firstTable;
  let trackId = 0;
  let actions: Actions = { measures: 0, starts: 0, stops: 0, cancels: 0 };
  let turn: Promise<unknown> = Promise.resolve();
  let lastBarcode: string | null = null;
  const images = new Map<string, TableParcel>();

  const recorder = createVideoRecorder(
    options,
    timers,
    {
      toTransaction: (transaction, content) => attachVideo(transaction, content),
      alone(recording, content) {
        const transaction = transactions.add({
          ...recording.references,
          kind: "video",
          deviceClientId,
          barcodeReference: lastBarcode,
          trigger: null,
          measurement: null,
        });
        attachVideo(transaction, content);
      },
    },
    changed,
  );

  function attachVideo(transaction: Transaction, content: Content): void {
    transactions.attach(transaction, { ...VIDEO, load: () => content });
  }

  function did(action: keyof Actions): void {
    actions = { ...actions, [action]: actions[action] + 1 };
    changed();
  }

  function keepImages(imageIdentifier: string, parcel: TableParcel): void {
    images.set(imageIdentifier, parcel);
    const [oldest] = images.keys();
    if (images.size > KEPT_IMAGES && oldest !== undefined) images.delete(oldest);
  }

  const filmed = (parcel: TableParcel | null) => (recording: Recording) => depot.video(parcel, recording.id);

  function take(references: References, trigger: Trigger, barcode: string | null): Taken {
    trackId += 1;
    const legalForTrade = mode === "legal-for-trade";
    const seen = table;
    const measurement = measureTable(seen, options, random, { ...references, trackId, legalForTrade });
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
      keepImages(imageIdentifier, seen);
      timers.after(options.mediaDelayMs, () => {
        for (const kind of IMAGE_KINDS) {
          const facts = { contentType: imageType(kind), description: DESCRIPTIONS[kind] };
          transactions.attach(transaction, { ...facts, load: () => depot.image(seen, kind) });
        }
      });
    }
    if (mode === "video-with-measurement") {
      recorder.measured(measurement.errorCode === 0 ? transaction : null, filmed(seen));
    }
    changed();
    return { measurement, imageIdentifier, transaction };
  }

  function measure(references: References, trigger: Trigger, barcode?: string): Promise<Taken | null> {
    // One camera: a second request waits until the first is measured.
    const mine = turn.then(async () => {
      if (mode === "video-only") return null;
      did("measures");
      await timers.sleep(options.measureMs);
      return take(references, trigger, barcode ?? null);
    });
    turn = mine.catch(() => undefined);
    return mine;
  }

  function start(references: References): VideoReply {
    if (!isVideoMode(mode)) return "wrong-mode";
    if (recorder.recording !== null) {
      if (typeof options.startWhileRecording === "number") return options.startWhileRecording;
      if (options.startWhileRecording === "continue") return "done";
    }
    recorder.start(random.guid(), references);
    did("starts");
    return "done";
  }

  function stopBy(barcode: string | null): VideoReply {
    if (!isVideoMode(mode)) return "wrong-mode";
    if (mode !== "video-only") return options.stopInVideoWithMeasurement;
    if (recorder.recording === null) return options.stopWhileIdle === 200 ? "done" : options.stopWhileIdle;
    lastBarcode = barcode;
    recorder.stop(filmed(table));
    did("stops");
    return "done";
  }

  function cancel(): VideoReply {
    if (!isVideoMode(mode)) return "wrong-mode";
    if (recorder.recording === null && options.cancelWhileIdle !== 200) return options.cancelWhileIdle;
    recorder.clear();
    did("cancels");
    return "done";
  }

  async function scan(barcode: string): Promise<ScanReply> {
    if (barcode === "VIDEO_START" || barcode === "VIDEO_RESET") {
      const reply = barcode === "VIDEO_START" ? start(NO_REFERENCES) : cancel();
      if (reply !== "done") return "nothing";
      return barcode === "VIDEO_START" ? "recording-started" : "recording-cancelled";
    }
    const known = depot.byBarcode(barcode);
    if (known !== null) table = known;
    if (mode === "video-only") {
      if (recorder.recording === null) return "nothing";
      stopBy(barcode);
      return "recording-stopped";
    }
    await measure(NO_REFERENCES, "scan", barcode);
    return "measured";
  }

  return {
    get state() {
      const { recording, encoding, saved } = recorder;
      const facts =
        recording === null ? null : { startedAt: recording.startedAt, references: recording.references };
      return { mode, recording: facts, encoding, savedVideo: saved, parcel: table };
    },
    get actions() {
      return actions;
    },
    get savedContent() {
      return isVideoMode(mode) ? recorder.savedContent : null;
    },
    setMode(next) {
      if (next !== mode) recorder.clear();
      mode = next;
      changed();
    },
    setTable(parcel) {
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
      return parcel === undefined ? null : depot.image(parcel, kind);
    },
    losePower() {
      recorder.losePower();
      changed();
    },
    reset() {
      recorder.clear();
      images.clear();
      mode = options.mode;
      table = firstTable;
      actions = { measures: 0, starts: 0, stops: 0, cancels: 0 };
      changed();
    },
  };
}
