import { bytesContent, filledContent, type Content } from "./responses.ts";
import { LimitError } from "./history.ts";
import type { DeviceButton, Machine, ScanReply } from "./machine.ts";
import { noReferences } from "./measurement.ts";
import type {
  Listening,
  NewMedia,
  SimulatedCloud,
  SimulatedEarlierDevice,
  SimulatedNewerDevice,
} from "./simulator.ts";
import type { SimulatorCore } from "./core.ts";
import type { Transaction } from "./transactions.ts";

const pressedReplies = {
  start: "recording-started",
  stop: "recording-stopped",
  cancel: "recording-cancelled",
} as const;

async function press(machine: Machine, button: DeviceButton): Promise<ScanReply> {
  if (button === "measure") {
    const taken = await machine.measure(noReferences, "button");
    return typeof taken === "string" ? "nothing" : "measured";
  }
  const reply = button === "start" ? machine.start(noReferences) : machine[button]();
  return reply === "done" ? pressedReplies[button] : "nothing";
}

export function simulatedNewerDevice(core: SimulatorCore, at: Listening): SimulatedNewerDevice {
  const { devices, parcels } = core;
  const { newer } = devices;
  return {
    origin: at.origin,
    port: at.port,
    get connections() {
      return at.connections;
    },
    get state() {
      return newer.state;
    },
    get actions() {
      return newer.actions;
    },
    get powered() {
      return devices.powered;
    },
    get localApi() {
      return core.localApi;
    },
    setMode: (mode) => newer.setMode(mode),
    setParcel: (parcel) => newer.setParcel(parcels.find(parcel)),
    setPower: (on) => devices.setPower(on),
    setLocalApi: (on) => core.setLocalApi(on),
    scanAtDevice: async (barcode) => (devices.powered ? newer.scan(barcode) : "nothing"),
    pressAtDevice: async (button) => (devices.powered ? press(newer, button) : "nothing"),
    readSavedVideo() {
      const content = newer.savedContent;
      return content === null ? null : content.read(0, content.size);
    },
  };
}

export function simulatedEarlierDevice(
  { earlier, parcels }: SimulatorCore,
  at: Listening,
): SimulatedEarlierDevice {
  return {
    origin: at.origin,
    port: at.port,
    get connections() {
      return at.connections;
    },
    get state() {
      return earlier.state;
    },
    get actions() {
      return earlier.actions;
    },
    setParcel: (parcel) => earlier.setParcel(parcels.find(parcel)),
    setLegalForTrade: (on) => earlier.setLegalForTrade(on),
    async measureAtDevice() {
      await earlier.measure();
    },
  };
}

const descriptions: Readonly<Record<string, string>> = {
  "image/jpeg": "ColorImageJpeg",
  "image/bmp": "DepthImage16Bit",
  "video/mp4": "ColorVideoMp4",
};

/** Far more media than a device creates for one parcel. */
const mostMediaOfOne = 1000;

/** How generated content begins, so that it is what its type says: an archive takes nothing else for a picture. */
const firstBytes: Readonly<Record<string, string>> = {
  "image/jpeg": "\xff\xd8\xff\xfe",
  "image/png": "\x89PNG\r\n\x1a\n",
};

function contentOf({ parcels }: SimulatorCore, transaction: Transaction, media: NewMedia): Content {
  const { bytes, contentType, generateBytes = 0 } = media;
  if (bytes !== undefined) {
    return bytesContent(contentType, bytes);
  }
  if (contentType !== "video/mp4") {
    const head = Buffer.from(firstBytes[contentType] ?? "", "latin1");
    return filledContent(contentType, head.subarray(0, generateBytes), generateBytes);
  }
  return parcels.video(null, transaction.at, "placed by hand", generateBytes);
}

export function simulatedCloud(core: SimulatorCore, at: Listening): SimulatedCloud {
  const { transactions, registeredDevices, options, webhookPosts } = core;
  return {
    origin: at.origin,
    port: at.port,
    get connections() {
      return at.connections;
    },
    token: options.token,
    transactions: transactions.all,
    devices: registeredDevices.registrations,
    get simulationMode() {
      return core.simulationMode;
    },
    get records() {
      return core.records;
    },
    webhookPosts,
    setRecords: (changes) => core.setRecords(changes),
    setSimulationMode: (on) => core.setSimulationMode(on),
    addMedia(transactionId, media) {
      const transaction =
        transactions.find(transactionId) ??
        transactions.add(
          {
            ...noReferences,
            kind: "by-hand",
            deviceClientId: registeredDevices.registrations[0]?.id ?? "",
            barcodeReference: null,
            trigger: null,
            measurement: null,
          },
          transactionId,
        );
      if (transaction.media.length >= mostMediaOfOne) {
        throw new LimitError(`Transaction ${transactionId} already has ${mostMediaOfOne} media.`);
      }
      const content = contentOf(core, transaction, media);
      const description = media.description ?? descriptions[media.contentType] ?? "";
      return transactions.attach(transaction, {
        contentType: media.contentType,
        description,
        heldBytes: media.bytes?.length ?? 0,
        load: () => content,
      });
    },
  };
}
