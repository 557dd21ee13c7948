import type {
  Actions,
  LastMeasurement,
  Machine,
  MachineParts,
  Measured,
  NotMeasured,
  ScanReply,
} from "./machine-types.ts";
import { createMachineVideo } from "./machine-video.ts";
import { measureParcel, noReferences, type References } from "./measurement.ts";
import { isVideoMode } from "./options.ts";
import { imageKinds, imageType, type ImageKind, type TableParcel } from "./parcels.ts";
import type { Trigger } from "./transactions.ts";

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
  ): Promise<Measured | NotMeasured> {
    // There is one camera: a second request waits until the first measurement has ended.
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
