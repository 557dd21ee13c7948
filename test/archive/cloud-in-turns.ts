import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { DeviceSource, MediaSource } from "../../src/archive/jobs/media-source.ts";
import { pictureOf } from "./support.ts";
import type { Life, Turns } from "./turns.ts";

export const cloudOrigin = "https://cloud.example";

/** A cloud that answers in its turn, with the same two media each time. */
export function cloudInTurns(turns: Turns, life?: Life): MediaSource {
  const media = ["first", "second"].map((text) => ({ contentId: text, bytes: pictureOf(text) }));
  const items = media.map(({ contentId }) => ({
    contentId,
    contentType: "image/jpeg",
    description: contentId,
    mediaUrl: null,
  }));
  return {
    peer: { origin: cloudOrigin, host: "cloud.example", surface: "cloud" },
    waitForMedia: () => turns.take("cloud: list", () => ({ items, missing: [] }), life),
    media: (_transactionId, contentId) =>
      turns.take(
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
        life,
      ),
  };
}

/** A device that answers in its turn, with one picture of each measurement. */
export function deviceInTurns(turns: Turns, life?: Life): DeviceSource {
  return {
    peer: { origin: "http://dock", host: "dock", surface: "newer-device" },
    keepsVideoOf: () => false,
    video: () => assert.fail("no video was asked for"),
    image: (picture) =>
      turns.take(
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
        life,
      ),
  };
}
