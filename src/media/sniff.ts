import { filetypename } from "magic-bytes.js";

/** Formats whose end this pipeline can check. */
export type CheckedFormat = "bmp" | "jpeg" | "mp4" | "png" | "webp";

/** What the first bytes of a body say it is. */
export interface ContentKind {
  contentType: string;
  /** Without the dot. */
  extension: string;
  format?: CheckedFormat;
}

/** How many bytes `sniffKind` and `looksLikeHtml` want to see, where the body has that many. */
export const sniffBytes = 1024;

const mp4: ContentKind = { contentType: "video/mp4", extension: "mp4", format: "mp4" };

/**
 * The names of magic-bytes.js that are taken at their word. Its list holds signatures of one or two bytes too, which
 * any text can begin with; those stay unknown here, and the announced content type decides.
 */
const kinds: ReadonlyMap<string, ContentKind> = new Map<string, ContentKind>([
  ["jpg", { contentType: "image/jpeg", extension: "jpg", format: "jpeg" }],
  ["png", { contentType: "image/png", extension: "png", format: "png" }],
  ["bmp", { contentType: "image/bmp", extension: "bmp", format: "bmp" }],
  ["webp", { contentType: "image/webp", extension: "webp", format: "webp" }],
  ["gif", { contentType: "image/gif", extension: "gif" }],
  ["tif", { contentType: "image/tiff", extension: "tif" }],
  ["tiff", { contentType: "image/tiff", extension: "tif" }],
  ["avif", { contentType: "image/avif", extension: "avif" }],
  ["heif", { contentType: "image/heif", extension: "heic" }],
  ["mp4", mp4],
  ["mov", { contentType: "video/quicktime", extension: "mov", format: "mp4" }],
  ["avi", { contentType: "video/x-msvideo", extension: "avi" }],
]);

const extensions: ReadonlyMap<string, string> = new Map([
  ...[...kinds.values()].map((kind): [string, string] => [kind.contentType, kind.extension]),
  ["application/json", "json"],
  ["application/pdf", "pdf"],
  ["image/jpg", "jpg"],
  ["image/pjpeg", "jpg"],
  ["image/x-bmp", "bmp"],
  ["image/x-ms-bmp", "bmp"],
  ["text/plain", "txt"],
  ["video/mpeg", "mpg"],
  ["video/webm", "webm"],
  ["video/x-m4v", "m4v"],
  ["video/x-matroska", "mkv"],
]);

/** What a body is by its first bytes; undefined where they say nothing that can be relied on. */
export function sniffKind(head: Uint8Array): ContentKind | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  // Segments of a fragmented MP4 may begin with a segment type instead of a file type.
  if (bytes.toString("latin1", 4, 8) === "styp" && bytes[0] === 0) {
    return mp4;
  }
  for (const name of filetypename(bytes)) {
    const kind = kinds.get(name);
    if (kind !== undefined && isPlausible(name, bytes)) {
      return kind;
    }
  }
  return undefined;
}

/** The extension for a body: by content, else by the announced type, else "bin". */
export function extensionFor(kind: ContentKind | undefined, announced: string | null): string {
  return kind?.extension ?? extensions.get(announced ?? "") ?? "bin";
}

/** Guards the signatures that text can begin with by chance: "BMW…", "The wide…". */
function isPlausible(name: string, bytes: Buffer): boolean {
  switch (name) {
    case "bmp":
      // The size of the second header is one of a handful of small numbers.
      return bytes.length >= 18 && bytes.readUInt32LE(14) >= 12 && bytes.readUInt32LE(14) <= 124;
    case "mov":
      return bytes[0] === 0 || bytes.toString("latin1", 4, 8) === "mdat";
    case "mp4":
      return bytes[0] === 0;
    default:
      return true;
  }
}

const htmlStart =
  /^\s*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype\s+html|html|head|title|meta|body|script)[\s/>])/i;

/** True for bytes that begin like a web page, as the sign-in page of a network does. */
export function looksLikeHtml(head: Uint8Array): boolean {
  const encoding =
    head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe ? "utf-16be" : "utf-8";
  return htmlStart.test(new TextDecoder(encoding).decode(head));
}
