/** Formats whose end is checked. */
export type CheckedFormat = "bmp" | "jpeg" | "mp4" | "png" | "webp";

/** What the first bytes show. */
export interface ContentKind {
  contentType: string;
  /** Without the dot. */
  extension: string;
  format?: CheckedFormat;
}

/** How many bytes `sniffKind` and `looksLikeHtml` need, if the body has that many. */
export const sniffBytes = 1024;

/**
 * The beginnings of the formats, read as Latin-1; the first that matches counts. Where a text could begin with a
 * signature by chance ("BMW…", "The wide…"), a byte that no text has there is required too.
 */
const signatures: readonly (readonly [RegExp, ContentKind])[] = [
  [/^\xff\xd8\xff/, { contentType: "image/jpeg", extension: "jpg", format: "jpeg" }],
  [/^\x89PNG\r\n[^]\n/, { contentType: "image/png", extension: "png", format: "png" }],
  // The size of the second header is a small number: 12 (\f) to 124 (|).
  [/^BM[^]{12}[\f-|]\0\0\0/, { contentType: "image/bmp", extension: "bmp", format: "bmp" }],
  [/^RIFF[^]{4}WEBP/, { contentType: "image/webp", extension: "webp", format: "webp" }],
  [/^RIFF[^]{4}AVI /, { contentType: "video/x-msvideo", extension: "avi" }],
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
  ["video/webm", "webm"],
  ["video/x-m4v", "m4v"],
  ["video/x-matroska", "mkv"],
]);

/** The kind of content by its first bytes; undefined if they show nothing reliable. */
export function sniffKind(head: Uint8Array): ContentKind | undefined {
  const beginning = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1", 0, 18);
  return signatures.find(([signature]) => signature.test(beginning))?.[1];
}

/** The extension for a body by its content, else by the announced type, else "bin". */
export function extensionFor(kind: ContentKind | undefined, announced: string | null): string {
  return kind?.extension ?? extensions.get(announced ?? "") ?? "bin";
}

const htmlStart =
  /^\s*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype\s+html|html|head|title|meta|body|script)[\s/>])/i;

/** Whether the bytes begin like a web page, such as the sign-in page of a network. */
export function looksLikeHtml(head: Uint8Array): boolean {
  const encoding =
    head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe ? "utf-16be" : "utf-8";
  return htmlStart.test(new TextDecoder(encoding).decode(head));
}
