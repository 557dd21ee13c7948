import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, inEnglish, phrase } from "../errors/interpolation.ts";
import { DocumentWatch, isHtml, isPlainText, nameOfDocument, textOf, wordsOf } from "../model/documents.ts";
import type { DownloadSource } from "../model/download.ts";
import { errorFacts } from "./disk.ts";

/** Formats whose end is checked. */
export type CheckedFormat = "bmp" | "jpeg" | "mp4" | "png" | "webp";

/** What the first bytes show. */
export interface ContentKind {
  contentType: string;
  /** Without the dot. */
  extension: string;
  format?: CheckedFormat;
}

/** How much of a JPEG is not the beginning of what is in it. */
const jpegStartBytes = 3;
const firstNonAscii = 0x80;

/** How many bytes `sniffKind` and `looksLikeHtml` need, if the body has that many. */
const sniffBytes = 1024;

/** How many bytes the signatures of the formats look at. */
const beginningBytes = 64;

/** The beginnings of the formats, read as Latin-1; the first that matches counts. */
const signatures: readonly (readonly [RegExp, ContentKind])[] = [
  [/^\xff\xd8\xff/, { contentType: "image/jpeg", extension: "jpg", format: "jpeg" }],
  [/^\x89PNG\r\n[^]\n/, { contentType: "image/png", extension: "png", format: "png" }],
  // The size of the second header is a small number: 12 (\f) to 124 (|).
  [/^BM[^]{12}[\f-|]\0\0\0/, { contentType: "image/bmp", extension: "bmp", format: "bmp" }],
  [/^RIFF[^]{4}WEBP/, { contentType: "image/webp", extension: "webp", format: "webp" }],
  [/^RIFF[^]{4}AVI /, { contentType: "video/x-msvideo", extension: "avi" }],
  [/^[^]E\xdf\xa3[^]{1,50}webm/, { contentType: "video/webm", extension: "webm" }],
  [/^[^]E\xdf\xa3/, { contentType: "video/x-matroska", extension: "mkv" }],
  [/^GIF8[79]a/, { contentType: "image/gif", extension: "gif" }],
  [/^(?:II\*\0|MM\0\*)/, { contentType: "image/tiff", extension: "tif" }],
  [/^\0[^]{3}ftypavi[fs]/, { contentType: "image/avif", extension: "avif" }],
  [/^\0[^]{3}ftyp(?:he[iv][cmsx]|mif1|msf1)/, { contentType: "image/heif", extension: "heic" }],
  [/^\0[^]{3}ftyp(?!qt {2})/, { contentType: "video/mp4", extension: "mp4", format: "mp4" }],
  // Segments of a fragmented MP4 may begin with a segment type instead of a file type.
  [/^\0[^]{3}styp/, { contentType: "video/mp4", extension: "mp4", format: "mp4" }],
  // Older QuickTime has no file type. A size of 16 MB and more has no zero in front; only the data is that large.
  [
    /^(?:\0[^]{3}(?:ftypqt {2}|moov|free|wide)|[^]{4}mdat)/,
    { contentType: "video/quicktime", extension: "mov", format: "mp4" },
  ],
];

const extensions: ReadonlyMap<string, string> = new Map([
  ...signatures.map(([, kind]): [string, string] => [kind.contentType, kind.extension]),
  ["application/json", "json"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["image/jpg", "jpg"],
  ["image/pjpeg", "jpg"],
  ["image/x-bmp", "bmp"],
  ["image/x-ms-bmp", "bmp"],
  ["text/plain", "txt"],
  ["video/mpeg", "mpg"],
  ["video/x-m4v", "m4v"],
]);

/** The kind of content by its first bytes; undefined if they show nothing reliable. */
export function sniffKind(head: Uint8Array): ContentKind | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, sniffBytes));
  const beginning = bytes.toString("latin1", 0, beginningBytes);
  const found = signatures.find(([signature]) => signature.test(beginning))?.[1];
  // A text can begin with a signature by chance ("BMW…", "GIF89a is…"), but each format has bytes that no text has.
  const behind = bytes.subarray(found?.format === "jpeg" ? jpegStartBytes : 0);
  return (behind[0] ?? firstNonAscii) < firstNonAscii && isPlainText(behind) ? undefined : found;
}

/** The extension for a body by its content, else by the announced type, else "bin". */
export function extensionFor(kind: ContentKind | undefined, announced: string | null): string {
  return kind?.extension ?? extensions.get(announced ?? "") ?? "bin";
}

/** Whether the bytes begin like a web page, such as the sign-in page of a network. */
export function looksLikeHtml(head: Uint8Array): boolean {
  return isHtml(textOf(head).text);
}

/** How much of a file `sayDocument` needs, if it has that much. */
export const documentBytes = 64 * 1024;

/** In English, which document stands in place of a picture or a film, and what it says; undefined for anything else. */
export function sayDocument(head: Buffer): string | undefined {
  const watch = watchForDocument();
  watch.update(head);
  const document = watch.document();
  return document && `${inEnglish(phrase(nameOfDocument(document)))}: ${inEnglish(wordsOf(document))}`;
}

/** Finds a document in place of a picture or a film while it arrives. */
export function watchForDocument(): DocumentWatch {
  return new DocumentWatch((head) => sniffKind(head) !== undefined);
}

/**
 * Follows a body while it arrives, and reports at its end whether its format is complete. It keeps a few bytes only,
 * whatever the size, and chunks may be cut anywhere.
 */
export interface FormatEnd {
  update(chunk: Uint8Array): void;
  /** Null if the format ends properly with the last byte, else what is missing. */
  problem(): Phrase | null;
  /** Whether it is a film without an index, as one whose recording was cut off: nothing can play it. */
  readonly hasNoIndex?: boolean;
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
    if (this.#walker.isTooFine) {
      return phrase("endUnknown");
    }
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
    if (this.#walker.isTooFine) {
      return phrase("endUnknown");
    }
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
  /** Whether something has no name as boxes have it: then it is not sure that these are boxes. */
  #isUnclear = false;

  constructor() {
    this.#walker = new ByteWalker(this.#boxes());
  }

  update(chunk: Uint8Array): void {
    this.#walker.update(chunk);
  }

  problem(): Phrase | null {
    if (this.#walker.isTooFine) {
      return phrase("endUnknown");
    }
    if (this.#openEnded) {
      return phrase("mp4Open");
    }
    if (this.#broken) {
      return phrase("mp4Damaged");
    }
    if (!this.#walker.atBoundary) {
      return phrase("mp4Cut");
    }
    if (!this.#isIndexed()) {
      return phrase("mp4Index");
    }
    if (!this.#seen.has("mdat") || this.#last === "moof") {
      return phrase("mp4Pictures");
    }
    return null;
  }

  get hasNoIndex(): boolean {
    return !this.#isUnclear && !this.#isIndexed();
  }

  #isIndexed(): boolean {
    return this.#seen.has("moov") || this.#seen.has("moof");
  }

  *#boxes(): Walk {
    for (;;) {
      const head = yield { take: 8 };
      this.#last = head.toString("latin1", 4);
      // Zeros are what was reserved for a film that was never written.
      this.#isUnclear ||= !boxName.test(this.#last) && !head.equals(noBox);
      if (this.#last === "mdat") {
        this.#seen.add(this.#last);
      }
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
      yield { skip: size - headBytes };
      // Half an index is none.
      if (landmarks.has(this.#last)) {
        this.#seen.add(this.#last);
      }
    }
  }
}

const landmarks: ReadonlySet<string> = new Set(["moov", "moof"]);
const noBox = Buffer.alloc(8);
const boxName = /^[\x20-\x7e\xa9]{4}$/;

/** What a walk over a format wants next: bytes to read, bytes to skip, or a byte of this value to skip to. */
export type Want = { take: number } | { skip: number } | { find: number };

/** Reads a format as if all its bytes were there; each value that it yields requests some of them. */
export type Walk<T = void> = Generator<Want, T, Buffer>;

/** Real files have fewer than one part in so many bytes; the data of a picture have one in 128, an FF, by chance. */
const bytesPerRequest = 32;
/** So many more, since a small file may consist of headers. */
const freeRequests = 10_000;

const nothing = Buffer.alloc(0);

/** Passes chunks to a walk over a format, which requests bytes as if it had them all. */
class ByteWalker {
  readonly #walk: Walk;
  #want: Want | undefined;
  /** Bytes that are missing for the current request. */
  #due = 0;
  /** Bytes of the current request that came in earlier chunks. */
  #taken: Buffer[] = [];
  /** Bytes that followed after the walk had ended. */
  extra = 0;
  /** Whether the walk was given up because the format has more parts than any real one. */
  isTooFine = false;
  #requests = 0;
  /** How far the walk has come; what it may request depends on that alone, so that it does not matter where chunks are cut. */
  #walkedBytes = 0;

  constructor(walk: Walk) {
    this.#walk = walk;
    this.#next(nothing);
  }

  get ended(): boolean {
    return this.#want === undefined;
  }

  /** Whether the walk is between two parts of the format: it has requested bytes and received none of them. */
  get atBoundary(): boolean {
    return this.#want !== undefined && "take" in this.#want && this.#due === this.#want.take;
  }

  update(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length) {
      if (this.#want === undefined) {
        this.extra += bytes.length - at;
        return;
      }
      if ("find" in this.#want) {
        const found = bytes.indexOf(this.#want.find, at);
        const next = found < 0 ? bytes.length : found + 1;
        this.#walkedBytes += next - at;
        at = next;
        if (found >= 0) {
          this.#next(nothing);
        }
        continue;
      }
      const step = Math.min(this.#due, bytes.length - at);
      const part = bytes.subarray(at, at + step);
      at += step;
      this.#walkedBytes += step;
      this.#due -= step;
      if (this.#due === 0) {
        this.#next(this.#taken.length === 0 ? part : Buffer.concat([...this.#taken, part]));
      } else if ("take" in this.#want) {
        this.#taken.push(Buffer.from(part));
      }
    }
  }

  #next(bytes: Buffer): void {
    let given = bytes;
    do {
      this.#taken = [];
      this.#requests += 1;
      if (this.#requests > freeRequests + this.#walkedBytes / bytesPerRequest) {
        this.isTooFine = true;
        this.#want = undefined;
        return;
      }
      const { done, value } = this.#walk.next(given);
      this.#want = done === true ? undefined : value;
      this.#due = this.#want === undefined || "find" in this.#want ? 0 : dueOf(this.#want);
      given = nothing;
    } while (this.#want !== undefined && "skip" in this.#want && this.#due === 0);
  }
}

function dueOf(want: { take: number } | { skip: number }): number {
  return "take" in want ? want.take : want.skip;
}

/** What is known of a body after the check. */
export interface CheckedContent {
  /** The type that was found, else the announced one. */
  contentType: string;
  /** The type that the bytes show; null if they show none reliably, and for a film without its index. */
  found: string | null;
  /** Without the dot. */
  extension: string;
}

/** Checks a body while it arrives, and keeps at most its first kilobyte. */
export class ContentCheck {
  readonly #followsEnd: boolean;
  #head = Buffer.alloc(0);
  #kind: ContentKind | undefined;
  #end: FormatEnd | undefined;
  #sniffed = false;
  #bytes = 0;

  /** `followsEnd`: whether the format is followed to its end, which costs time for each part of it. */
  constructor(followsEnd = false) {
    this.#followsEnd = followsEnd;
  }

  update(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#sniffed) {
      this.#end?.update(chunk);
      return;
    }
    const wanted = sniffBytes - this.#head.length;
    this.#head = Buffer.concat([this.#head, chunk.subarray(0, wanted)]);
    if (this.#head.length < sniffBytes) {
      return;
    }
    this.#sniff();
    this.#end?.update(chunk.subarray(wanted));
  }

  /** The type that the bytes show; null if they show none reliably. To be called after the last byte. */
  found(): string | null {
    this.#sniffRest();
    return this.#kind?.contentType ?? null;
  }

  /** To be called once, after the last byte. Throws ERR_BAD_RESPONSE for what can't be a medium. */
  verdict(announced: string | null, source: DownloadSource): CheckedContent {
    this.#sniffRest();
    const { host } = source;
    if (this.#bytes === 0) {
      throw new DimensionerError("responseEmpty", errorFacts(source, source.surface), { host });
    }
    if (this.#kind === undefined && looksLikeHtml(this.#head)) {
      throw new DimensionerError("responseHtml", errorFacts(source, source.surface), { host });
    }
    return {
      contentType: this.#kind?.contentType ?? announced ?? "application/octet-stream",
      found: this.#end?.hasNoIndex === true ? null : (this.#kind?.contentType ?? null),
      extension: extensionFor(this.#kind, announced),
    };
  }

  /** To be called once, after the last byte. Throws ERR_BAD_RESPONSE where the format of a medium does not end there. */
  refuseUnfinished(source: DownloadSource): void {
    this.#sniffRest();
    if (this.#bytes === 0 || looksLikeHtml(this.#head)) {
      return;
    }
    const problem = this.#end === undefined ? phrase("endUnknown") : this.#end.problem();
    if (problem !== null) {
      const { host } = source;
      throw new DimensionerError("responseUnfinished", errorFacts(source, source.surface), { host, problem });
    }
  }

  #sniffRest(): void {
    if (!this.#sniffed) {
      this.#sniff();
    }
  }

  #sniff(): void {
    this.#sniffed = true;
    this.#kind = sniffKind(this.#head);
    // The boxes of a film are few.
    if (this.#kind?.format === undefined || (this.#kind.format !== "mp4" && !this.#followsEnd)) {
      return;
    }
    this.#end = createFormatEnd(this.#kind.format);
    this.#end.update(this.#head);
  }
}
