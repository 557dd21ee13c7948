import { Readable } from "node:stream";
import type { DeviceSource, MediaSource } from "../../src/jobs/collect.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Download } from "../../src/model/download.ts";
import { pictureOf } from "./support.ts";

/** One medium that a cloud has. */
export interface CloudMedium {
  readonly id: string;
  readonly type: string;
  /** What it is; by its type if not given. */
  readonly bytes?: Buffer;
}

const cloudPeer = { origin: "https://cloud.example", host: "cloud.example", surface: "cloud" } as const;
const devicePeer = { origin: "http://dock", host: "dock", surface: "newer-device" } as const;

/** A cloud whose list is what a test says at the moment; undefined: it does not know the transaction. */
export class ScriptedCloud implements MediaSource {
  readonly peer = cloudPeer;
  /** Ids of the media that were asked for. */
  readonly asked: string[] = [];
  lists = 0;
  have: readonly CloudMedium[] | undefined;

  constructor(...media: readonly CloudMedium[]) {
    this.have = media;
  }

  async waitForMedia() {
    this.lists += 1;
    if (this.have === undefined) {
      throw notFound("cloud");
    }
    return {
      items: this.have.map(({ id, type }) => ({ contentId: id, contentType: type, description: id })),
    };
  }

  async media(_transactionId: string, contentId: string): Promise<Download> {
    this.asked.push(contentId);
    const found = this.have?.find(({ id }) => id === contentId);
    if (found === undefined) {
      throw notFound("cloud");
    }
    const { type, id, bytes = type.startsWith("video/") ? videoOf(id) : pictureOf(id) } = found;
    return downloadOf(bytes, type);
  }
}

/** A device with some pictures of each measurement. */
export class ScriptedDevice implements DeviceSource {
  readonly peer = devicePeer;
  pictures: readonly string[];
  /** What it keeps a video of. */
  keeps: string | null = null;
  /** Told when the transfer of the video begins. */
  onVideo: () => void = () => undefined;
  /** If there is one, the transfer of the video breaks; told when it begins again, from the first byte. */
  onVideoAgain: (() => void) | undefined;
  /** What it fails with, while it does: at this picture, or at all. */
  failure: DimensionerError | undefined;
  failing: string | undefined;

  constructor(...pictures: readonly string[]) {
    this.pictures = pictures;
  }

  keepsVideoOf(reference: string | null): boolean {
    return reference !== null && reference === this.keeps;
  }

  async video(): Promise<Download> {
    if (this.keeps === null) {
      throw new DimensionerError("noVideo", { surface: "newer-device", operation: "video" });
    }
    const of = this.keeps;
    this.onVideo();
    const download = downloadOf(videoOf(of), "video/mp4");
    const { onVideoAgain } = this;
    return onVideoAgain === undefined
      ? download
      : {
          ...download,
          body: new Readable({
            read() {
              this.destroy(new Error("The connection broke."));
            },
          }),
          restart: async () => {
            onVideoAgain();
            return downloadOf(videoOf(this.keeps ?? ""), "video/mp4");
          },
        };
  }

  async image(picture: string, imageIdentifier: string): Promise<Download> {
    if (this.failure !== undefined && (this.failing ?? picture) === picture) {
      throw this.failure;
    }
    if (!this.pictures.includes(picture)) {
      throw notFound("newer-device");
    }
    return downloadOf(pictureOf(`${picture} of ${imageIdentifier}`), "image/jpeg");
  }
}

/** What is whole as an MP4, with a text in it. */
export function videoOf(text: string): Buffer {
  const box = (type: string, content: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(content.length + 8);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, content]);
  };
  const boxes = { ftyp: "isom\0\0\0\0isom", moov: text, mdat: "" };
  return Buffer.concat(Object.entries(boxes).map(([type, content]) => box(type, Buffer.from(content))));
}

function notFound(surface: "cloud" | "newer-device"): DimensionerError {
  return new DimensionerError("notFound", { surface, operation: "media" });
}

function downloadOf(bytes: Buffer, contentType: string): Download {
  return {
    contentType,
    contentLength: bytes.length,
    framing: "length",
    suggestedName: "item",
    source: { surface: "cloud", operation: "media", host: "cloud.example" },
    body: Readable.from([bytes]),
    restart: () => Promise.reject(new Error("It has not failed.")),
  };
}
