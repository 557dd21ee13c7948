import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { startServer } from "../support/servers.ts";
import { startFaultyPeer } from "./faulty-peer.ts";

/** The servers that a process under load talks to, and the folders into which it may write. */
export interface Places {
  /** A device that measures, and its cloud. */
  readonly device: string;
  readonly cloud: string;
  /** A device in Video Only mode, and the cloud that triggers it. */
  readonly videoDevice: string;
  readonly videoCloud: string;
  /** A device that keeps one saved video. */
  readonly deviceWithVideo: string;
  /** A device that has measured once, whose picture stays available. */
  readonly deviceWithImage: string;
  /** Fails each request. */
  readonly faulty: string;
  /** Accepts each request and never responds. */
  readonly silent: string;
  readonly token: string;
  readonly imageIdentifier: string;
  readonly transactionId: string;
  /** The content ids of a small picture of that transaction, and of a video of 300 MB. */
  readonly smallId: string;
  readonly largeId: string;
  readonly files: string;
  readonly archive: string;
}

const transactionId = "905865";
/** The transaction that messages name is the oldest one, which the simulator would forget among many others. */
const remembersAll = { keepTransactions: 1_000_000, keepBytes: 1_000_000_000 };

/** Starts all of them for one run; `pings` counts the health checks of the device. */
export async function withPlaces(run: (places: Places, pings: () => number) => Promise<void>): Promise<void> {
  const open: { close(): Promise<void> }[] = [];
  const opened = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    open.push(started);
    return started;
  };
  try {
    const device = await opened(startSimulator({ unknownTransaction: "not-found", ...remembersAll }));
    const videoDevice = await opened(startSimulator({ mode: "video-only" }));
    const deviceWithVideo = await opened(startSimulator({ mode: "video-only" }));
    const faulty = await opened(startFaultyPeer());
    const silent = await opened(startServer(() => undefined));
    const deviceWithImage = await opened(startSimulator());
    const measured: unknown = await (await fetch(`${deviceWithImage.newer.origin}/api/v1/measure`)).json();
    for (const action of ["start", "stop"]) {
      await fetch(`${deviceWithVideo.newer.origin}/api/v1/video/${action}`, { method: "POST" });
    }
    const small = device.cloud.addMedia(transactionId, {
      contentType: "image/jpeg",
      bytes: Buffer.concat([
        Buffer.from("ffd8ffe000104a464946", "hex"),
        Buffer.alloc(500, 7),
        Buffer.from("ffd9", "hex"),
      ]),
    });
    const large = device.cloud.addMedia("large", { contentType: "video/mp4", generateBytes: 300_000_000 });
    await withFolder(async (folder) => {
      const [files, archive] = [join(folder, "files"), join(folder, "archive")];
      await mkdir(files);
      await mkdir(archive);
      const places = {
        device: device.newer.origin,
        cloud: device.cloud.origin,
        videoDevice: videoDevice.newer.origin,
        videoCloud: videoDevice.cloud.origin,
        deviceWithVideo: deviceWithVideo.newer.origin,
        deviceWithImage: deviceWithImage.newer.origin,
        faulty: faulty.origin,
        silent: silent.origin,
        token: device.cloud.token,
        imageIdentifier: String(Reflect.get(Object(measured), "imageIdentifier")),
        transactionId,
        smallId: small.contentId,
        largeId: large.contentId,
        files,
        archive,
      };
      await run(places, () => device.requestsTo("newer", "/api/v1/ping").length);
    });
  } finally {
    for (const one of open.reverse()) {
      await one.close();
    }
  }
}
