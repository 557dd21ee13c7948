import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { DeviceSource, MediaSource } from "../../src/jobs/collect.ts";
import { pictureOf } from "./support.ts";
import type { SimulatedProcess, Scheduler } from "./scheduler.ts";

export const cloudOrigin = "https://cloud.example";

/** A cloud each of whose responses is a step of the scheduler; it always has the same two media. */
export function scheduledCloud(scheduler: Scheduler, simulated?: SimulatedProcess): MediaSource {
  const media = ["first", "second"].map((text) => ({ contentId: text, bytes: pictureOf(text) }));
  const items = media.map(({ contentId }) => ({
    contentId,
    contentType: "image/jpeg",
    description: contentId,
    mediaUrl: null,
  }));
  return {
    peer: { host: "cloud.example", surface: "cloud" },
    waitForMedia: () => scheduler.schedule("cloud: list", () => ({ items, missing: [] }), simulated),
    media: (_transactionId, contentId) =>
      scheduler.schedule(
        `cloud: ${contentId}`,
        () => {
          const bytes = media.find((one) => one.contentId === contentId)?.bytes ?? assert.fail();
          return {
            contentType: "image/jpeg",
            contentLength: bytes.length,
            framing: "length",
            suggestedName: contentId,
            source: { surface: "cloud", operation: "media", host: "cloud.example" },
            body: Readable.from([bytes]),
            restart: () => Promise.reject(new Error("It has not failed.")),
          } as const;
        },
        simulated,
      ),
  };
}

/** A device each of whose responses is a step of the scheduler; it has one picture of each measurement. */
export function scheduledDevice(scheduler: Scheduler, simulated?: SimulatedProcess): DeviceSource {
  return {
    peer: { host: "dock", surface: "newer-device" },
    keepsVideoOf: () => false,
    video: () => assert.fail("no video was asked for"),
    image: (picture) =>
      scheduler.schedule(
        `device: ${picture}`,
        () => {
          const bytes = pictureOf(picture);
          return {
            contentType: "image/jpeg",
            contentLength: bytes.length,
            framing: "length",
            suggestedName: picture,
            source: { surface: "newer-device", operation: "image", host: "dock" },
            body: Readable.from([bytes]),
            restart: () => Promise.reject(new Error("It has not failed.")),
          } as const;
        },
        simulated,
      ),
  };
}
