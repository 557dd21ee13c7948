import { open } from "node:fs/promises";
import type { Node, NodeAPI } from "node-red";
import * as v from "valibot";
import type { Message } from "../messages.ts";

/** A larger image is not kept: the editor shows only its size. */
const limitBytes = 2_000_000;
/** The types that a browser can only show as an image. */
const imageTypes = ["image/jpeg", "image/bmp", "image/png"];

const savedImage = v.object({ path: v.string(), bytes: v.number(), contentType: v.picklist(imageTypes) });

interface Image {
  readonly bytes: number;
  readonly contentType: string;
  /** Null if the image is too large to be kept. */
  readonly content: Buffer | null;
}

/**
 * The last image of each node of one type, for the editor to show. It stays in memory until the next image or the end
 * of the node. The editor is told a version and a size, and gets the image by a route that requires the permission to
 * read.
 */
export class Previews {
  readonly #RED: NodeAPI;
  readonly #last = new Map<string, Image>();
  /**
   * Starts with the time, so that no version of an earlier process is used again, whose image a browser may have in its
   * cache.
   */
  #version = Date.now();

  constructor(RED: NodeAPI, type: string) {
    this.#RED = RED;
    const allowed = RED.auth.needsPermission(`dimensioner-${type}.read`);
    RED.httpAdmin.get(`/dimensioner-${type}/:id/preview`, allowed, (request, response) => {
      const { contentType = "", content = null } = this.#last.get(String(request.params["id"])) ?? {};
      response.set({
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
      });
      if (content === null) {
        response.sendStatus(204);
      } else {
        response.set("Content-Type", contentType).end(content);
      }
    });
  }

  /**
   * Returns a function that keeps the image of a message that a node is about to send. It never throws and never delays
   * the message.
   */
  open(node: Node): (msg: Message) => void {
    const id = shownId(node);
    let isClosed = false;
    let newest = 0;
    node.on("close", () => {
      isClosed = true;
      if (this.#last.delete(id)) {
        this.#tell(id, { version: 0, bytes: 0, shown: false }, false);
      }
    });
    const keep = async (msg: Message): Promise<void> => {
      const turn = ++newest;
      const image = await readImage(msg);
      // A later image may have been read first.
      if (image !== null && !isClosed && turn === newest) {
        this.#last.set(id, image);
        this.#tell(id, { version: ++this.#version, bytes: image.bytes, shown: image.content !== null }, true);
      }
    };
    return (msg) => void keep(msg);
  }

  #tell(id: string, told: { version: number; bytes: number; shown: boolean }, isKept: boolean): void {
    this.#RED.comms.publish(`dimensioner/preview/${id}`, told, isKept);
  }
}

/** Reads the image. It never rejects. A Buffer is copied at once, because the flow may change it. */
async function readImage({ payload, contentType }: Message): Promise<Image | null> {
  if (Buffer.isBuffer(payload)) {
    const bytes = payload.length;
    return typeof contentType === "string" && imageTypes.includes(contentType)
      ? { bytes, contentType, content: bytes <= limitBytes ? Buffer.from(payload) : null }
      : null;
  }
  const saved = v.safeParse(savedImage, payload);
  if (!saved.success) {
    return null;
  }
  const { path, bytes } = saved.output;
  const content = bytes <= limitBytes ? await readSaved(path, bytes).catch(() => null) : null;
  return { bytes, contentType: saved.output.contentType, content };
}

async function readSaved(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The id by which the editor knows a node: inside an instance of a subflow, the runtime has ids of its own. */
function shownId(node: Node): string {
  const alias: unknown = Reflect.get(node, "_alias");
  return typeof alias === "string" ? alias : node.id;
}
