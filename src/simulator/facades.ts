import { bytesContent, filledContent, type Content } from "./content.ts";
import { videoContent } from "./generated-video.ts";
import type { DeviceButton, Machine, ScanReply } from "./machine-types.ts";
import { NO_REFERENCES } from "./machine.ts";
import type {
  Listening,
  NewMedia,
  SimulatedCloud,
  SimulatedEarlierDevice,
  SimulatedNewerDevice,
} from "./simulator.ts";
import type { World } from "./world.ts";

const PRESSED = {
  start: "recording-started",
  stop: "recording-stopped",
  cancel: "recording-cancelled",
} as const;

async function press(machine: Machine, button: DeviceButton): Promise<ScanReply> {
  if (button === "measure") {
    const taken = await machine.measure(NO_REFERENCES, "button");
    return typeof taken === "string" ? "nothing" : "measured";
  }
  const reply = button === "start" ? machine.start(NO_REFERENCES) : machine[button]();
  return reply === "done" ? PRESSED[button] : "nothing";
}

export function newerFacade(world: World, at: Listening): SimulatedNewerDevice {
  const { fleet, depot } = world;
  const { newer } = fleet;
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
      return fleet.powered;
    },
    get localApi() {
      return world.localApi;
    },
    setMode: (mode) => newer.setMode(mode),
    setParcel: (parcel) => newer.setTable(depot.find(parcel)),
    setPower: (on) => fleet.setPower(on),
    setLocalApi: (on) => world.setLocalApi(on),
    scanAtDevice: async (barcode) => (fleet.powered ? newer.scan(barcode) : "nothing"),
    pressAtDevice: async (button) => (fleet.powered ? press(newer, button) : "nothing"),
    readSavedVideo() {
      const content = newer.savedContent;
      return content === null ? null : content.read(0, content.size);
    },
  };
}

export function earlierFacade({ earlier, depot }: World, at: Listening): SimulatedEarlierDevice {
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
    setParcel: (parcel) => earlier.setTable(depot.find(parcel)),
    setLegalForTrade: (on) => earlier.setLegalForTrade(on),
    async measureAtDevice() {
      await earlier.measure();
    },
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "image/jpeg": "ColorImageJpeg",
  "image/bmp": "DepthImage16Bit",
  "video/mp4": "ColorVideoMp4",
};

function contentOf(world: World, media: NewMedia): Content {
  const { bytes, contentType, generateBytes = 0 } = media;
  if (bytes !== undefined) {
    return bytesContent(contentType, bytes);
  }
  if (contentType !== "video/mp4") {
    return filledContent(contentType, Buffer.alloc(0), generateBytes);
  }
  return videoContent(world.depot.mp4(), "placed by hand", generateBytes);
}

export function cloudFacade(world: World, at: Listening): SimulatedCloud {
  const { transactions, registry, options, webhookPosts } = world;
  return {
    origin: at.origin,
    port: at.port,
    get connections() {
      return at.connections;
    },
    token: options.token,
    transactions: transactions.all,
    devices: registry.registrations,
    get simulationMode() {
      return world.simulationMode;
    },
    webhookPosts,
    setSimulationMode: (on) => world.setSimulationMode(on),
    addMedia(transactionId, media) {
      const transaction =
        transactions.find(transactionId) ??
        transactions.add(
          {
            ...NO_REFERENCES,
            kind: "by-hand",
            deviceClientId: registry.registrations[0]?.id ?? "",
            barcodeReference: null,
            trigger: null,
            measurement: null,
          },
          transactionId,
        );
      const content = contentOf(world, media);
      const description = media.description ?? DESCRIPTIONS[media.contentType] ?? "";
      return transactions.attach(transaction, {
        contentType: media.contentType,
        description,
        load: () => content,
      });
    },
  };
}
