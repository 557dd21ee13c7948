import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { throwIfAborted, type TransferFacts } from "../../media/disk.ts";
import { asFileError, type ReadDisk } from "../../vault/archive-disk.ts";
import { openPlain } from "../../vault/packages/package-files.ts";

const blockBytes = 256 * 1024;

/** Something that can be read several times. */
export type Content = () => AsyncIterable<Uint8Array>;

/** What a content was when it was read first. */
export interface Measured {
  readonly bytes: number;
  readonly crc32: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** What an export says of its errors, and its signal. */
export type ExportFacts = TransferFacts;

/** Reads a content to its end. */
export async function measure(content: Content): Promise<Measured> {
  const running = new RunningMeasure();
  for await (const block of content()) {
    running.add(block);
  }
  return running.measured();
}

/** The same content again. Throws ERR_FILE if it is not what it was: then nothing that was said of it is true. */
export function unchanged(content: Content, before: Measured, path: string, facts: ExportFacts): Content {
  return async function* checked() {
    const running = new RunningMeasure();
    for await (const block of content()) {
      running.add(block);
      yield block;
    }
    const { bytes, sha256 } = running.measured();
    if (bytes !== before.bytes || sha256 !== before.sha256) {
      const { operation } = facts;
      throw new DimensionerError("exportChanging", { surface: "disk", operation }, { path });
    }
  };
}

class RunningMeasure {
  readonly #hash = createHash("sha256");
  #crc32 = 0;
  #bytes = 0;

  add(block: Uint8Array): void {
    this.#hash.update(block);
    this.#crc32 = crc32(block, this.#crc32);
    this.#bytes += block.byteLength;
  }

  /** To be called once. */
  measured(): Measured {
    return { bytes: this.#bytes, crc32: this.#crc32, sha256: this.#hash.digest("hex") };
  }
}

/** A file in blocks; empty if it is missing. No link is followed. Throws ERR_FILE, ERR_STORE and ERR_CANCELLED. */
export function fileContent(path: string, disk: ReadDisk, facts: ExportFacts): Content {
  return async function* read() {
    const file = await openPlain(path, disk).catch((error: unknown) => {
      throw asFileError(error, path);
    });
    if (file === undefined) {
      return;
    }
    try {
      for (let position = 0; ;) {
        throwIfAborted(facts);
        // A new block each time: the one before it may still wait to be written.
        const block = Buffer.allocUnsafe(blockBytes);
        const { bytesRead } = await file.read(block, 0, blockBytes, position);
        if (bytesRead === 0) {
          return;
        }
        position += bytesRead;
        yield block.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  };
}

export function bytesContent(bytes: Uint8Array): Content {
  return async function* whole() {
    yield bytes;
  };
}

/** A text, which may be made piece by piece. */
export function textContent(text: () => Iterable<string> | AsyncIterable<string>): Content {
  return async function* encode() {
    for await (const piece of text()) {
      yield Buffer.from(piece);
    }
  };
}
