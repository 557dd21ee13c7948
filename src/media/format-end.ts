import { phrase, type Phrase } from "../errors/interpolation.ts";
import { ByteWalker, type Walk } from "./byte-walker.ts";
import type { CheckedFormat } from "./sniff.ts";

/**
 * Follows a body while it arrives, and reports at its end whether its format is complete. It keeps a few bytes only,
 * whatever the size, and chunks may be cut anywhere.
 */
export interface FormatEnd {
  update(chunk: Uint8Array): void;
  /** Null if the format ends properly with the last byte, else what is missing. */
  problem(): Phrase | null;
}

export function createFormatEnd(format: CheckedFormat): FormatEnd {
  switch (format) {
    case "jpeg":
      return new JpegEnd();
    case "png":
      return new PngEnd();
    case "mp4":
      return new Mp4End();
    case "bmp":
      return new DeclaredEnd(2, 0);
    case "webp":
      return new DeclaredEnd(4, 8);
  }
}

/** Formats that declare their length near the start. */
class DeclaredEnd implements FormatEnd {
  readonly #walker: ByteWalker;
  readonly #added: number;
  #declared = 0;
  #bytes = 0;

  constructor(offset: number, added: number) {
    this.#added = added;
    this.#walker = new ByteWalker(this.#read(offset));
  }

  update(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (!this.#walker.ended) {
      this.#walker.update(chunk);
    }
  }

  problem(): Phrase | null {
    const whole = this.#declared + this.#added;
    return this.#declared > 0 && whole === this.#bytes
      ? null
      : phrase("bytesDeclared", { bytes: this.#bytes, total: whole });
  }

  *#read(offset: number): Walk {
    yield { skip: offset };
    this.#declared = (yield { take: 4 }).readUInt32LE(0);
  }
}

class PngEnd implements FormatEnd {
  readonly #walker = new ByteWalker(pngChunks());

  update(chunk: Uint8Array): void {
    this.#walker.update(chunk);
  }

  problem(): Phrase | null {
    return this.#walker.ended && this.#walker.extra === 0 ? null : phrase("pngEnd");
  }
}

function* pngChunks(): Walk {
  yield { skip: 8 };
  for (;;) {
    const head = yield { take: 8 };
    const checksumBytes = 4;
    yield { skip: head.readUInt32BE(0) + checksumBytes };
    if (head.toString("latin1", 4) === "IEND") {
      return;
    }
  }
}

/** JPEG: it has to end with the end mark of the picture itself, since a preview in the header has an end mark too. */
class JpegEnd implements FormatEnd {
  readonly #walker = new ByteWalker(jpegSegments());
  #last = -1;
  #beforeLast = -1;

  update(chunk: Uint8Array): void {
    this.#walker.update(chunk);
    if (chunk.byteLength > 0) {
      this.#beforeLast = chunk.at(-2) ?? this.#last;
      this.#last = chunk.at(-1) ?? -1;
    }
  }

  problem(): Phrase | null {
    const marked = this.#beforeLast === 0xff && this.#last === 0xd9;
    return marked && this.#walker.ended ? null : phrase("jpegEnd");
  }
}

/** Ends after the picture's end mark, or where the bytes are not segments that can be followed. */
function* jpegSegments(): Walk {
  const startOfScan = 0xda;
  const endOfImage = 0xd9;
  yield { skip: 2 };
  let mark = yield* jpegMark();
  for (;;) {
    if (mark === undefined || mark === endOfImage) {
      return;
    }
    if (!standsAlone(mark)) {
      const length = (yield { take: 2 }).readUInt16BE(0);
      if (length < 2) {
        return;
      }
      yield { skip: length - 2 };
    }
    mark = mark === startOfScan ? yield* jpegMarkAfterScan() : yield* jpegMark();
  }
}

function* jpegMark(): Walk<number | undefined> {
  if ((yield { take: 1 }).readUInt8(0) !== 0xff) {
    return undefined;
  }
  return yield* afterFill();
}

/** In the picture's data, FF followed by 00 is data, and a restart mark belongs to the data as well. */
function* jpegMarkAfterScan(): Walk<number> {
  for (;;) {
    yield { find: 0xff };
    const mark = yield* afterFill();
    if (mark !== 0 && !isRestart(mark)) {
      return mark;
    }
  }
}

function* afterFill(): Walk<number> {
  for (;;) {
    const byte = (yield { take: 1 }).readUInt8(0);
    if (byte !== 0xff) {
      return byte;
    }
  }
}

function isRestart(mark: number): boolean {
  return mark >= 0xd0 && mark <= 0xd7;
}

function standsAlone(mark: number): boolean {
  return mark === 0x01 || mark === 0xd8 || isRestart(mark);
}

/**
 * MP4 and QuickTime: boxes on the top level, each with its size. A file is complete if it ends between two boxes and
 * has an index (moov or moof), media data, and no index of a fragment without its data. A box of size 0 runs to the end
 * of the file, wherever that is, so that such a file cannot be checked. A fragmented file that was cut between two
 * fragments looks complete: the format has no mark for its end.
 */
class Mp4End implements FormatEnd {
  readonly #walker: ByteWalker;
  readonly #seen = new Set<string>();
  #last = "";
  #openEnded = false;
  #broken = false;

  constructor() {
    this.#walker = new ByteWalker(this.#boxes());
  }

  update(chunk: Uint8Array): void {
    this.#walker.update(chunk);
  }

  problem(): Phrase | null {
    if (this.#openEnded) {
      return phrase("mp4Open");
    }
    if (this.#broken) {
      return phrase("mp4Damaged");
    }
    if (!this.#walker.atBoundary) {
      return phrase("mp4Cut");
    }
    if (!this.#seen.has("moov") && !this.#seen.has("moof")) {
      return phrase("mp4Index");
    }
    if (!this.#seen.has("mdat") || this.#last === "moof") {
      return phrase("mp4Pictures");
    }
    return null;
  }

  *#boxes(): Walk {
    for (;;) {
      const head = yield { take: 8 };
      let headBytes = 8;
      let size = head.readUInt32BE(0);
      if (size === 1) {
        headBytes = 16;
        size = Number((yield { take: 8 }).readBigUInt64BE(0));
      } else if (size === 0) {
        this.#openEnded = true;
        return;
      }
      if (size < headBytes) {
        this.#broken = true;
        return;
      }
      this.#last = head.toString("latin1", 4);
      if (landmarks.has(this.#last)) {
        this.#seen.add(this.#last);
      }
      yield { skip: size - headBytes };
    }
  }
}

const landmarks: ReadonlySet<string> = new Set(["moov", "moof", "mdat"]);
