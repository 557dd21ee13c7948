import { isUtf8 } from "node:buffer";
import { constants, gunzipSync } from "node:zlib";
import * as v from "valibot";
import { type Problem, beginning, phrase, verbatim } from "../errors/interpolation.ts";
import type { Hide } from "../errors/secrets.ts";
import { type Fields, fieldsOf } from "./containers.ts";
import { code } from "./decode.ts";
import { ByteCollector, type JsonLimits, parseFields, parseJson } from "./parse-json.ts";

/** What the bytes of an answer say, where they are a text. */
export interface Document {
  readonly kind: "html" | "json" | "text" | "xml";
  readonly text: string;
}

/** A byte order mark, as its bytes and as a character. */
const marks: readonly (readonly [Uint8Array, string])[] = [
  [Uint8Array.of(0xff, 0xfe), "utf-16le"],
  [Uint8Array.of(0xfe, 0xff), "utf-16be"],
];

/**
 * The text of an answer in the encoding that it has: its bytes decide, and the one that was announced counts only where they are not UTF-8.
 * `wrongByte` is the first byte that is not UTF-8, counted from 1, where no other encoding is known: then every byte is a character.
 */
export function textOf(
  bytes: Uint8Array,
  charset?: string,
): { readonly text: string; readonly wrongByte: number | null } {
  const marked = marks.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  const found = marked?.[1] ?? wideEncodingOf(bytes);
  if (found !== undefined && bytes.length > 1) {
    const whole = decodeAs(found, bytes);
    const text = whole ?? new TextDecoder(found).decode(bytes);
    const at = whole === undefined ? text.indexOf("\uFFFD") : -1;
    return { text, wrongByte: at < 0 ? null : (marked === undefined ? 0 : 2) + 2 * at + 1 };
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  if (isUtf8(buffer)) {
    return { text, wrongByte: null };
  }
  const announced = charset === undefined ? undefined : decodeAs(charset, bytes);
  return announced === undefined
    ? {
        text: buffer.toString("latin1"),
        wrongByte: Buffer.byteLength(text.slice(0, text.indexOf("\uFFFD"))) + 1,
      }
    : { text: announced, wrongByte: null };
}

/** The encoding that a content type names; undefined if it names none. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1];
}

/** Which of the first bytes are 0, in UTF-16 without a mark: each letter has one. A zero in front of UTF-8 looks the same for two bytes. */
const wide: readonly (readonly [RegExp, string])[] = [
  [/^(?:10)+1?$/, "utf-16le"],
  [/^(?:01)+0?$/, "utf-16be"],
];

function wideEncodingOf(bytes: Uint8Array): string | undefined {
  const zeros = Array.from(bytes.subarray(0, 4), (byte) => (byte === 0 ? 0 : 1)).join("");
  return zeros.length < 2 ? undefined : wide.find(([pattern]) => pattern.test(zeros))?.[1];
}

/** Undefined if nobody knows the encoding, or if the bytes are not in it. */
function decodeAs(charset: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const htmlStart =
  /^<(?:!doctype\s+html|html|head|title|meta|body|script|style|link|div|p|h[1-6]|table|form|iframe|center|font|span|a|b|br|pre|ul|img)[\s/>]/i;
const markupStart = /^<(?:[?!]|[a-z_][\w:.-]*[\s/>])/i;
/** How much of a text decides what it is. */
const decidingLength = 4_096;

/** The beginning of markup without what may stand before the first element; empty for any other text. A loop, because a pattern for all of it could take hours. */
function markupOf(text: string): string {
  let rest = text
    .slice(0, decidingLength)
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (!markupStart.test(rest)) {
    return "";
  }
  for (let end = ""; /^<(?:\?|!--)/.test(rest);) {
    end = rest.startsWith("<?") ? "?>" : "-->";
    const at = rest.indexOf(end, 2);
    if (at < 0) {
      break;
    }
    rest = rest.slice(at + end.length).trimStart();
  }
  return rest === "" ? "<" : rest;
}

/** Whether a text begins like a web page, such as the sign-in page of a network. */
export function isHtml(text: string): boolean {
  const markup = markupOf(text);
  // A comment is no part of the answers of APIs, and pages begin with one.
  return htmlStart.test(markup) || /^[\s\uFEFF]*<!--/.test(text.slice(0, decidingLength));
}

export function isXml(text: string): boolean {
  return markupOf(text) !== "" && !isHtml(text);
}

/** Bytes that no text has: control characters besides those of a line, of a terminal, of a transmission and of a scanned code. */
// oxlint-disable-next-line no-control-regex -- They are what it is about.
const noText = /(?![\x02-\x04\x07-\r\x1b-\x1f\x7f-\x9f])\p{Cc}/u;
/** A flash memory or a disk that was never written, read as Latin-1. */
const oneByte = /^([\x80-\xff])\1*$/;

/** What a text document begins with that is more than words. */
const structureStart = /^\s*[{[<]/;
/** Bytes that may stand in front of a document, such as its length. */
const mostInFront = 8;
const documentStart =
  /^([^]{0,8}?)(?:\[\s*)?(?:\{\s*"[\w $.@:-]{1,60}"\s*:|<(?:\?xml|!doctype|html|head|body|br)[\s/>])/i;
/** Words with nothing but zeros behind them are no picture that is as small. */
const wordsBytes = 4 * 1024;

/**
 * Whether these bytes are a text, which no picture and no film is: their formats have bytes near their beginning that no text has. A device
 * may send a document in UTF-16, or in a buffer of a fixed length, and then zeros follow it: beyond the size of such a buffer, only the
 * beginning of a structure shows that.
 */
function isText(bytes: Uint8Array): boolean {
  const isMarked = hasMark(bytes);
  const isPlain = !isMarked && !isWide(bytes);
  const content = isPlain ? withoutZeros(Buffer.from(bytes).toString("latin1")) : textOf(bytes).text;
  // No format of pictures or films begins like this, whatever follows: a scanned code in a text, or what was in the buffer before.
  if (documentStart.test(content)) {
    return true;
  }
  const isClear = isMarked || (isPlain && (content.length === bytes.length || bytes.length <= wordsBytes));
  const isWritten = content !== "" && !oneByte.test(content);
  return isWritten && !noText.test(content) && (isClear || structureStart.test(content));
}

/** Whether there is no byte that no text in UTF-8 has. */
export function isPlainText(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return !noText.test(text) && !/[\xc0\xc1\xf5-\xff]/.test(text);
}

/** Whether bytes begin as gzip does, which compresses without being asked and without a header that says so. */
export function isZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** A device compresses, and a proxy in front of it does so again. */
export const mostCodings = 3;

/** The beginning of what was compressed, as far as a part of it shows that; any other bytes as they are. */
function unzipped(bytes: Buffer, times = mostCodings): Buffer {
  if (!isZipped(bytes) || times === 0) {
    return bytes;
  }
  try {
    // A kilobyte of it becomes a megabyte at most.
    const plain = gunzipSync(bytes.subarray(0, wordsBytes), { finishFlush: constants.Z_SYNC_FLUSH });
    return unzipped(plain.subarray(0, readBytes), times - 1);
  } catch {
    return bytes;
  }
}

function hasMark(bytes: Uint8Array): boolean {
  return marks.some(([mark]) => mark.every((byte, at) => bytes[at] === byte));
}

/** Whether bytes begin like a text of UTF-16, with a byte order mark or with letters that have a zero beside them. */
function isWide(bytes: Uint8Array): boolean {
  return hasMark(bytes) || wideEncodingOf(bytes) !== undefined;
}

/** A text without byte order marks in front, and without the zeros behind it. */
export function contentOf(text: string): string {
  return withoutZeros(text.replace(/^\uFEFF+/, ""));
}

/** A text without the zeros behind it, with which a device fills a buffer of a fixed length. */
function withoutZeros(text: string): string {
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) === 0) {
    length -= 1;
  }
  return text.slice(0, length);
}

const names = {
  html: "documentHtml",
  json: "documentJson",
  text: "documentText",
  xml: "documentXml",
} as const;

/** The key of the phrase that names a document, such as "a web page". */
export function nameOfDocument({ kind }: Document): (typeof names)[Document["kind"]] {
  return names[kind];
}

/** How much of a document is read for its words. */
const readBytes = 64 * 1024;

/** Whether a content type announces a text, such as JSON. */
export function isTextType(contentType: string | null | undefined): boolean {
  return /^text\/|[/+](?:json|xml)(?:;|$)/i.test(contentType ?? "");
}

/** Follows a body as long as it could be a text document in place of a picture or a film. */
export class DocumentWatch {
  /** Undefined once it is known to be none. */
  #read: ByteCollector | undefined = new ByteCollector(readBytes);
  readonly #isMedium: (head: Uint8Array) => boolean;
  /** Whether zeros have come: nothing else follows them in a document. */
  #isPadded = false;

  /** `isMedium`: whether a body that begins like this is a picture or a film, whatever its bytes look like. */
  constructor(isMedium: (head: Uint8Array) => boolean) {
    this.#isMedium = isMedium;
  }

  /** Returns false when enough was read to be sure that the body is a document. */
  update(chunk: Buffer): boolean {
    if (this.#read === undefined) {
      return true;
    }
    const before = this.#read.bytes();
    const part = chunk.subarray(0, readBytes - before.length);
    const mayBegin = /[{[<]/.test(before.toString("latin1", 0, mostInFront + 1));
    if (before.length > mostInFront && !mayBegin && !isWide(before) && !isZipped(before)) {
      const content = withoutZeros(part.toString("latin1"));
      if ((this.#isPadded && content !== "") || noText.test(content)) {
        this.#read = undefined;
        return true;
      }
      this.#isPadded ||= content.length < part.length;
    }
    this.#read.add(part);
    return this.#read.bytes().length < readBytes || this.document() === undefined;
  }

  /** What the body is, as far as it was followed; undefined if it is no text, or empty. */
  document(): Document | undefined {
    const bytes = unzipped(this.#read?.bytes() ?? Buffer.alloc(0));
    if (bytes.length > 0 && (!isText(bytes) || this.#isMedium(bytes))) {
      this.#read = undefined;
    }
    return this.#read === undefined || bytes.length === 0 ? undefined : readDocument(bytes);
  }
}

/** Reads a text document. */
function readDocument(bytes: Uint8Array): Document {
  const whole = withoutZeros(textOf(bytes).text);
  const text = whole.slice(documentStart.exec(whole)?.[1]?.length ?? 0);
  if (isHtml(text)) {
    return { kind: "html", text };
  }
  const isJson = /^\uFEFF?\s*(?:\{\s*["}]|\[\s*[-"{[\]\d])/.test(text.slice(0, decidingLength));
  return { kind: isJson ? "json" : isXml(text) ? "xml" : "text", text };
}

const failureCode = code("Why it has failed.");
const limits: JsonLimits = { depth: 64, entries: 1_000, values: 10_000 };
/** Where error documents say what has happened, the most telling first, in small letters. */
const wordNames = ["errormessage", "error_description", "message", "detail", "title", "error"];

/** What a document says in its own words without what is secret, as the value of a sentence. */
export function wordsOf({ kind, text }: Document, hide: Hide = String): Problem {
  const found = kind === "json" ? wordsOfJson(text) : kind === "text" ? text : wordsOfMarkup(text);
  const words = beginning(
    hide(found ?? text)
      .replace(/\s+/g, " ")
      .trim(),
  ).replace(/[.\s]+$/, "");
  const code = kind === "json" ? codeOf(text) : null;
  return code === null || found === undefined ? verbatim(words) : phrase("errorWords", { words, code });
}

/** A failure that an answer reports itself. */
export interface SaidFailure {
  /** Its own words. */
  readonly problem: Problem;
  /** Null if it has none that is an integer. */
  readonly errorCode: number | null;
}

/**
 * What a text of JSON says has failed: APIs report failures with a status of success, too. Undefined if it reports none, or is something
 * else.
 */
export function failureIn(text: string, hide?: Hide): SaidFailure | undefined {
  const content = contentOf(text);
  const { errorcode, error } = inSmallLetters(parseFields(content, limits));
  const hasCode = typeof errorcode === "number" || typeof errorcode === "string";
  const isFailure = (hasCode && !/^0*$/.test(String(errorcode).trim())) || isSaid(error);
  return isFailure
    ? { problem: wordsOf({ kind: "json", text: content }, hide), errorCode: codeOf(content) }
    : undefined;
}

/** Fields by their names in small letters: servers differ in how they begin them. */
function inSmallLetters(fields: Fields | null): Fields {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}

function isSaid(error: unknown): boolean {
  return typeof error === "string" ? error.trim() !== "" : typeof error === "object" && error !== null;
}

/** A field with a text or a whole number. */
const simpleField = /"(\w{1,60})"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?\d{1,15})\b)/gs;

/** The fields of what is JSON but for a fault or its end, on any level, as far as they can be told; the first of each name. */
function fieldsOfFaulty(text: string): Fields {
  const found = [...text.slice(0, readBytes).matchAll(simpleField)];
  return Object.fromEntries(
    found
      .toReversed()
      .map(([, name = "", words, digits]) => [name, words === undefined ? Number(digits) : unescaped(words)]),
  );
}

/** What stands between the quotes of JSON, without its escapes: a secret could be written with them. */
function unescaped(words: string): string {
  try {
    return String(parseJson(`"${words.replace(/\p{Cc}/gu, " ")}"`, limits));
  } catch {
    return words;
  }
}

function fieldsOfJson(text: string): Fields {
  const content = contentOf(text);
  const fields = inSmallLetters(parseFields(content, limits) ?? fieldsOfFaulty(content));
  const inner = fieldsOf(fields["error"]);
  return inner === null ? fields : inSmallLetters(inner);
}

function wordsOfJson(text: string): string | undefined {
  const fields = fieldsOfJson(text);
  return wordNames.flatMap((name) => textIn(fields[name])).find((one) => one.trim() !== "");
}

function textIn(value: unknown): string[] {
  return typeof value === "string" ? [value] : [];
}

function codeOf(text: string): number | null {
  return v.parse(failureCode, fieldsOfJson(text)["errorcode"]);
}

/** The text of the first element that says something. */
function wordsOfMarkup(text: string): string | undefined {
  return wordNames
    .concat("faultstring", "h1")
    .map((name) => new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]{0,200})?>([^<]{1,400})<`, "i").exec(text)?.[1])
    .find((one) => one !== undefined && one.trim() !== "");
}
