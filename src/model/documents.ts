import { isUtf8 } from "node:buffer";
import { type Problem, beginning, phrase, verbatim } from "../errors/interpolation.ts";
import type { Hide } from "../errors/secrets.ts";
import { ByteCollector, type JsonLimits, parseFields } from "./parse-json.ts";

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
  // No text begins with the character 0, and each letter of UTF-16 without a mark has one.
  const found = marked?.[1] ?? wide[[bytes[0], bytes[1]].map((byte) => (byte === 0 ? 0 : 1)).join("")];
  const read = found !== undefined && bytes.length > 1 ? decodeAs(found, bytes) : undefined;
  if (read !== undefined) {
    return { text: read, wrongByte: null };
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

/** UTF-16 by which of the first two bytes is 0. */
const wide: Readonly<Record<string, string>> = { "10": "utf-16le", "01": "utf-16be" };

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

/** Bytes that no text has: control characters besides tab, line feed, form feed and carriage return. */
const noText = /(?![\t\n\f\r\x80-\x9f])\p{Cc}/u;

/**
 * Whether these bytes are a text, which no picture and no film is: their formats have bytes near their beginning that no text has.
 */
function isText(bytes: Uint8Array): boolean {
  const isMarked = marks.some(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  return !noText.test(isMarked ? textOf(bytes).text : Buffer.from(bytes).toString("latin1"));
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

  /** `isMedium`: whether a body that begins like this is a picture or a film, whatever its bytes look like. */
  constructor(isMedium: (head: Uint8Array) => boolean) {
    this.#isMedium = isMedium;
  }

  /** Returns false when enough was read to be sure that the body is a document. */
  update(chunk: Buffer): boolean {
    if (this.#read === undefined) {
      return true;
    }
    const isMarked = marks.some(([mark]) => mark[0] === this.#read?.bytes()[0]);
    if (!isMarked && this.#read.bytes().length > 1 && noText.test(chunk.toString("latin1"))) {
      this.#read = undefined;
      return true;
    }
    return this.#read.add(chunk) || this.document() === undefined;
  }

  /** What the body is, as far as it was followed; undefined if it is no text, or empty. */
  document(): Document | undefined {
    const bytes = this.#read?.bytes() ?? Buffer.alloc(0);
    if (bytes.length > 0 && (!isText(bytes) || this.#isMedium(bytes))) {
      this.#read = undefined;
    }
    return this.#read === undefined || bytes.length === 0 ? undefined : readDocument(bytes);
  }
}

/** Reads a text document. */
function readDocument(bytes: Uint8Array): Document {
  const { text } = textOf(bytes);
  if (isHtml(text)) {
    return { kind: "html", text };
  }
  const isJson = /^[{[]/.test(
    text
      .slice(0, decidingLength)
      .replace(/^\uFEFF/, "")
      .trimStart(),
  );
  return { kind: isJson ? "json" : isXml(text) ? "xml" : "text", text };
}

const limits: JsonLimits = { depth: 64, entries: 1_000, values: 10_000 };
/** Where error documents say what has happened, the most telling first. */
const wordNames = ["errorMessage", "error_description", "message", "Message", "detail", "title", "error"];

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

function fieldsOfJson(text: string): Readonly<Record<string, unknown>> {
  const fields = parseFields(text.replace(/^\uFEFF/, ""), limits) ?? {};
  const { error } = fields;
  return typeof error === "object" && error !== null && !Array.isArray(error) ? { ...error } : fields;
}

function wordsOfJson(text: string): string | undefined {
  const fields = fieldsOfJson(text);
  return wordNames.flatMap((name) => textIn(fields[name])).find((one) => one.trim() !== "");
}

function textIn(value: unknown): string[] {
  return typeof value === "string" ? [value] : [];
}

function codeOf(text: string): number | null {
  const { errorCode } = fieldsOfJson(text);
  return typeof errorCode === "number" && Number.isSafeInteger(errorCode) ? errorCode : null;
}

/** The text of the first element that says something. */
function wordsOfMarkup(text: string): string | undefined {
  return wordNames
    .concat("faultstring", "h1")
    .map((name) => new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]{0,200})?>([^<]{1,400})<`, "i").exec(text)?.[1])
    .find((one) => one !== undefined && one.trim() !== "");
}
