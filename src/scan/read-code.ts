import { types } from "node:util";
import { fieldsOf } from "../model/containers.ts";
import type { Scan, ScanElement, ScanSeparator } from "../model/shapes.ts";
import type { CodeKind } from "../rules/scans.ts";
import { findCarriers, hasCheckDigitOfCarrier, startAndStop } from "./carriers/candidates.ts";
import { hasGs1CheckDigit, isDigits } from "./gs1/check-digits.ts";
import { readDigitalLink } from "./gs1/digital-link.ts";
import {
  haveLostSeparators,
  isOfAddressee,
  readBracketed,
  readElementString,
  separator,
  writeElementString,
} from "./gs1/element-string.ts";
import { summarize } from "./gs1/summary.ts";
import { dayOfScan } from "./gs1/table.ts";
import {
  type Envelope,
  continuesLabel,
  endOfTransmission,
  hasLines,
  opaque,
  opening,
  readEnvelope,
  recordSeparator,
} from "./envelope.ts";
import { explainByLayout } from "./keyboard-layouts.ts";
import { doubtful, possibleReplacements, replaceSeparators } from "./separators.ts";

export interface ReadingOptions {
  /** A text that the scanner sends in place of the group separator, in addition to the usual ones. */
  readonly separator?: string | undefined;
  /** For the century of dates; now if not given. */
  readonly today?: Date | undefined;
  /** Whether the scan has what a carrier's 2D label says of the addressee; left out if not given. */
  readonly addressee?: boolean | undefined;
}

/** A scan, and the kind of code that it was read as. */
export interface Reading {
  readonly scan: Scan;
  readonly kind: CodeKind;
  /** True if nothing but a check digit, which fits one number in ten, says that it is of this kind. */
  readonly isGuessed: boolean;
  /** Whether it is the message of a 2D label, which as a whole is no reference: it may have the addressee in it. */
  readonly isEnvelope: boolean;
}

/** The content of a code, before the other fields are derived from it. */
interface Content {
  readonly kind: CodeKind;
  readonly isGuessed?: boolean;
  readonly text: string;
  readonly elements: readonly ScanElement[];
  readonly separator?: ScanSeparator | null;
  readonly symbology?: string | null;
}

/**
 * Reads one scan. It never fails: a code that is not a GS1 code is text. If it is right only as typed on another keyboard, that is said,
 * and the text stays as it is.
 */
export function readCode(frame: Frame, options: ReadingOptions): Reading {
  const reading = readTyped(frame, options);
  const { kind, scan, isEnvelope: isLabel } = reading;
  if (kind !== "other" || isLabel || hasRightCheckDigit(reading)) {
    return reading;
  }
  const keyboard = explainByLayout(frame.body, (meant) =>
    hasRightCheckDigit(readTyped({ raw: meant, body: meant }, options)),
  );
  return keyboard === null ? reading : { ...reading, scan: { ...scan, keyboard } };
}

/** Whether a reading is of a code with a check digit, and all of it is right. */
function hasRightCheckDigit({ kind, scan }: Reading): boolean {
  return kind === "other"
    ? scan.carriers.some(({ checkDigit, number }) => checkDigit === true && number === scan.number)
    : isRight(scan.elements) && (scan.number ?? scan.gtin) !== null;
}

function readTyped(
  { raw, body }: Frame,
  { separator: own = "", today = dayOfScan(), addressee = false }: ReadingOptions,
): Reading {
  const content = withoutEnds(body);
  const aim = readAim(content);
  const sent = aim === undefined ? content : content.slice(aim.identifier.length).trim();
  const code = aim?.symbology === names["A"] ? sent.replace(startAndStop, "$1") : sent;
  const mayBeEnvelope = aim === undefined || aim.content === "any" || code.startsWith(opening);
  const envelope = mayBeEnvelope ? readEnvelope(code, own, addressee) : null;
  if (envelope !== null) {
    return readingOfEnvelope(envelope, raw, code, aim);
  }
  // Also behind something else: what the addressee is cannot be told then.
  const isUnreadable = (mayBeEnvelope && code.includes(opening)) || ofPerson.test(code);
  const whole = readContent(code, aim, own, today);
  const read = addressee ? whole : withoutAddressee(whole);
  const { kind, isGuessed = false, text, elements, symbology, separator: found = null } = read;
  const summary = summarize(elements);
  // The scanner has stated that an article's number is one.
  const isArticle = aim?.content === "ean" || aim?.content === "ean8";
  const isOwn = aim !== undefined && aim.symbology !== names["F"] && isCodabar.test(text);
  const { carriers, number } = isArticle || isOwn ? noNumbers : findCarriers(text, elements);
  return {
    kind,
    isGuessed,
    isEnvelope: isUnreadable,
    scan: {
      raw: read === whole ? raw : raw.replace(code, () => text),
      text,
      number:
        numberOf(summary.sscc ?? ssccAlone(text), number) ??
        (kind === "other" && !isUnreadable ? printable(text) : null),
      symbology: symbology ?? aim?.symbology ?? null,
      aim: aim?.identifier ?? null,
      elements: [...elements],
      separator: found,
      ...summary,
      carriers,
      keyboard: null,
      duplicate: false,
    },
  };
}

/**
 * The beginnings of codes of several lines that are no labels: contacts and events, payments (EPC069-12, Swiss QR bill, UPN of Slovenia, HUB 3 of Croatia),
 * and driving licenses (AAMVA).
 */
const lines =
  "BEGIN:V(?:CARD|CALENDAR|EVENT)\\s|BCD[\\r\\n]+00[12]\\s|SPC[\\r\\n]+0200\\s|UPNQR[\\r\\n]|HRVHUB30[\\r\\n]|@[\\r\\n\\x1c-\\x1e]+(?:ANSI|AAMVA) ";
const ofLines = new RegExp(`^ ?(?:\\]..)?(?:${lines}|[{[]\\s*[\\r\\n]|<\\?xml)`, "i");
/** What may become one of them. */
const mayBeOfLines = /^ ?(?:\]..)?(?:BCD|SPC|@)\p{Cc}+[0-2AIMNSV]{0,5}$/iu;
/** What else names a person or has a secret in it, and no parcel: contacts, mail, telephone, networks, passwords, payments, boarding passes. */
const ofPerson = new RegExp(
  `^(?:${lines}|MECARD:|MATMSG:|WIFI:|mailto:|tel:|sms(?:to)?:|otpauth:|SPD\\*\\d|M[1-4][A-Z/ ]{20}[E ])`,
  "i",
);

/** The attributes of a GS1 Digital Link that are about the addressee. */
const attributesOfAddressee = /(?<=[?&])430\d=[^&#]*&?/g;

/** A GS1 code or link without what it says of the addressee. */
function withoutAddressee(content: Content): Content {
  const { kind, text, elements } = content;
  if (!elements.some(isOfAddressee)) {
    return content;
  }
  const kept = elements.filter((element) => !isOfAddressee(element));
  const front = text.startsWith(separator) ? separator : "";
  const left = kind === "gs1" ? front + writeElementString(kept) : text.replaceAll(attributesOfAddressee, "");
  return { ...content, elements: kept, text: left };
}

function readingOfEnvelope(
  { text, isShortened, elements, number, carriers, labelWeight, separator: found }: Envelope,
  raw: string,
  code: string,
  aim: Aim | undefined,
): Reading {
  const summary = summarize(elements);
  return {
    kind: "other",
    isGuessed: false,
    isEnvelope: true,
    scan: {
      raw: isShortened ? raw.replace(code, () => text) : raw,
      text,
      number: number ?? numberOf(summary.sscc, null),
      symbology: aim?.symbology ?? null,
      aim: aim?.identifier ?? null,
      elements,
      separator: found,
      ...summary,
      labelWeight: labelWeight ?? summary.labelWeight,
      carriers,
      keyboard: null,
      duplicate: false,
    },
  };
}

const noNumbers = { carriers: [], number: null };
/** In another symbol than Codabar these letters are a part of the code. */
const isCodabar = /^[A-D]\d+[A-D]$/i;

/** An SSCC as it is printed: DHL Paket has 00 in front of those that begin with its company prefix. */
function numberOf(sscc: string | null, number: string | null): string | null {
  return sscc === null ? number : sscc.startsWith("34043") ? `00${sscc}` : sscc;
}

/** An SSCC with its application identifier in a symbol that is not of GS1; null for another text. */
function ssccAlone(text: string): string | null {
  const digits = text.startsWith("00") ? text.replaceAll(" ", "") : "";
  return /^\d{20}$/.test(digits) && hasGs1CheckDigit(digits) ? digits.slice(2) : null;
}

/** Most codes have nothing else than what ASCII prints. */
const unusual = /[^ -~]/;

/** Removes control characters, and those of no width, which no person or other system takes as a part of a reference; null if nothing is left. */
export function printable(text: string): string | null {
  const shown = unusual.test(text) ? text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "") : text;
  return shown.trim() || null;
}

/** No code begins or ends with a space, with what has no width, or with a control character of a line such as ACK. */
const unseen = /[\s\p{Cf}\p{Cc}]/u;
/** The end of a transmission and the separators, which are parts of codes. */
const partsOfCode = "\x04\x1c\x1d\x1e\x1f";
const isAround = (character: string): boolean => unseen.test(character) && !partsOfCode.includes(character);

/**
 * The code alone. Scanners are set to send a space in front of it or behind it, protocols have characters of their own, and drivers that
 * write to a file or a page put a byte order mark in front, also as the three characters that it is in Latin-1.
 */
function withoutEnds(body: string): string {
  let from = body.startsWith("\xEF\xBB\xBF") ? 3 : 0;
  let to = body.length;
  while (from < to && isAround(body.charAt(from))) {
    from++;
  }
  while (to > from && isAround(body.charAt(to - 1))) {
    to--;
  }
  return body.slice(from, to);
}

function readContent(code: string, aim: Aim | undefined, own: string, today: Date): Content {
  switch (aim?.content) {
    case "gs1":
      // A link, or what people read, in a symbol that says GS1 of it; no application identifier begins with these characters.
      return (/^[(h]/i.test(code) ? readAny(code, today) : undefined) ?? readDivided(code, own, today);
    case "ean":
    case "ean8":
      return readArticle(code, aim.content === "ean8", own, today);
    case "itf": {
      const found = readItf14(code);
      return found === undefined
        ? asText(code)
        : { kind: "ean", text: code, elements: [found.element], symbology: found.symbology };
    }
    case "any":
      return readAny(code, today) ?? asText(code);
    case undefined:
      return readAny(code, today) ?? guess(code, own, today) ?? asText(code);
  }
}

/** An EAN or UPC symbol, with the composite component that some scanners send with it. */
function readArticle(code: string, isEan8: boolean, own: string, today: Date): Content {
  const [digits = "", component] = code.split("|]e0", 2);
  const { element, symbology } = readEanUpc(digits, isEan8);
  if (component === undefined) {
    return { kind: "ean", text: code, elements: [element], symbology };
  }
  const behind = readElementString(replaceSeparators(component, own).text, today);
  return { kind: "ean", text: code, elements: [element, ...behind], symbology };
}

/** Content that any symbol can have and that identifies itself. */
function readAny(code: string, today: Date): Content | undefined {
  if (/^\s*\(/.test(code)) {
    const bracketed = readBracketed(code, today);
    return bracketed === null ? undefined : { kind: "gs1", text: code, elements: bracketed };
  }
  const link = readDigitalLink(code, today);
  return link === null ? undefined : { kind: "digitalLink", text: code, elements: link };
}

/** The application identifiers of keys that have a check digit. */
const key = /^(?:0[0-3]|41\d|80(?:06|17|18))/;
/** Those of dates and measures, which have no separator behind them, so that a key may follow. */
const beforeKey = /^(?:1[1-7]|20|3[1-6]\d)/;

/**
 * Without an AIM identifier the kind of the code is not known. It is an element string if it has a group separator, or something
 * that can stand for it and a right check digit; or if all of it fits together: it begins with a key that has a check digit, or with
 * dates and measures and such a key, and nothing in it is wrong but lost separators.
 */
function guess(code: string, own: string, today: Date): Content | undefined {
  const article = guessArticleNumber(code);
  if (article !== undefined) {
    return { kind: "ean", isGuessed: true, text: code, elements: [article] };
  }
  const { text: replaced } = replaceSeparators(code, own);
  const isDivided = replaced.includes(separator);
  const mayHaveKey = (key.test(replaced) || beforeKey.test(replaced)) && !hasCheckDigitOfCarrier(code);
  if (!isDivided && !mayHaveKey && !doubtful.test(replaced)) {
    return undefined;
  }
  const divided = readDivided(code, own, today);
  const { elements } = divided;
  const isElementString =
    replaced.startsWith(separator) ||
    (isDivided && elements[0]?.checked === true) ||
    (mayHaveKey &&
      elements.some(({ ai, checked }) => checked === true && key.test(ai ?? "")) &&
      (isRight(elements) || (elements[0]?.checked === true && haveLostSeparators(elements)))) ||
    (divided.separator?.as === separator && hasCheckDigit(divided));
  return isElementString ? { ...divided, isGuessed: !divided.text.includes(separator) } : undefined;
}

/** Whether a key, or the tracking number of a carrier, has a right check digit. */
function hasCheckDigit({ text, elements }: Content): boolean {
  return elements.some(({ ai }) => key.test(ai ?? "")) || findCarriers(text, elements).number !== null;
}

function asText(text: string): Content {
  return { kind: "other", text, elements: [] };
}

/**
 * The bytes of a Buffer, also of one that was JSON on its way, as through MQTT or a context store on disk, and of what JavaScript itself
 * has for bytes. What a Function node has made is of its own realm, where it is an instance of another class.
 */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (types.isAnyArrayBuffer(value)) {
    return new Uint8Array(value);
  }
  const { type, data } = fieldsOf(value) ?? {};
  return type === "Buffer" && Array.isArray(data) ? Buffer.from(data) : undefined;
}

/**
 * The text of bytes that a scanner sent: UTF-8 where they are that, else Latin-1, in which each byte is a character. Codes of
 * GS1 and of carriers are ASCII, which is the same in both.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

/** The number of a retail article as an element: AI 01 with zeros in front, as GS1 says it is. */
interface ArticleNumber {
  readonly element: ScanElement;
  readonly symbology: string | null;
}

/**
 * Reads an EAN or UPC symbol without a separate add-on. By ISO/IEC 15424 it is 13 digits, whatever the symbol; many
 * scanners omit the zero of UPC-A, and send UPC-E as its own 8 digits.
 */
function readEanUpc(digits: string, isEan8: boolean): ArticleNumber {
  // Two or five digits of an add-on follow in the modes E1 to E3; they are no part of the number.
  const main = !isEan8 && (digits.length === 15 || digits.length === 18) ? digits.slice(0, 13) : digits;
  if (isEan8) {
    return { element: articleElement(main, [8]), symbology: "EAN-8" };
  }
  if (main.length === 8) {
    const expanded = expandUpcE(main);
    return expanded === null
      ? { element: articleElement(main, [8]), symbology: "EAN-8" }
      : { element: articleElement(expanded, [12]), symbology: "UPC-E" };
  }
  const isUpc = main.length === 12 || main.startsWith("0");
  return { element: articleElement(main, [12, 13]), symbology: isUpc ? "UPC-A" : "EAN-13" };
}

/** The 14 digits of an ITF-14 symbol; undefined for another length, which is no article number. */
function readItf14(digits: string): ArticleNumber | undefined {
  // Deutsche Post prints its numbers in the same symbology.
  const isOfCarrier = !hasGs1CheckDigit(digits) && hasCheckDigitOfCarrier(digits);
  return digits.length === 14 && isDigits(digits) && !isOfCarrier
    ? { element: articleElement(digits, [14]), symbology: "ITF-14" }
    : undefined;
}

/**
 * The article number that a plain number may be if the scanner does not state the symbol: of 8, 12, 13 or 14 digits,
 * with the right check digit, unless a carrier's check digit is right as well: of 1,000 numbers of FedEx, 98 have both. Eight digits that begin with 0 are more likely UPC-E: such EAN-8 numbers are for use
 * within a shop.
 */
function guessArticleNumber(text: string): ScanElement | undefined {
  if (!isDigits(text) || ![8, 12, 13, 14].includes(text.length)) {
    return undefined;
  }
  const expanded = text.length === 8 && text.startsWith("0") ? expandUpcE(text) : null;
  const digits = expanded ?? text;
  return hasGs1CheckDigit(digits) && !hasCheckDigitOfCarrier(text)
    ? articleElement(digits, [digits.length])
    : undefined;
}

function articleElement(digits: string, lengths: readonly number[]): ScanElement {
  const element = { ai: "01", title: "GTIN", value: digits };
  if (!/^\d*$/.test(digits)) {
    return { ...element, checked: false, problem: "characters" };
  }
  if (!lengths.includes(digits.length)) {
    return { ...element, checked: false, problem: "length" };
  }
  const value = digits.padStart(14, "0");
  return hasGs1CheckDigit(digits)
    ? { ...element, value, checked: true }
    : { ...element, value, checked: false, problem: "checkDigit" };
}

/** Expands UPC-E to the 12 digits of UPC-A; null if it is not UPC-E or its check digit is wrong. */
function expandUpcE(digits: string): string | null {
  if (!/^[01]\d{7}$/.test(digits)) {
    return null;
  }
  const [system = "", a = "", b = "", c = "", d = "", e = "", last = "", check = ""] = digits;
  const body = {
    "0": `${a}${b}00000${c}${d}${e}`,
    "1": `${a}${b}10000${c}${d}${e}`,
    "2": `${a}${b}20000${c}${d}${e}`,
    "3": `${a}${b}${c}00000${d}${e}`,
    "4": `${a}${b}${c}${d}00000${e}`,
  }[last];
  const expanded = `${system}${body ?? `${a}${b}${c}${d}${e}0000${last}`}${check}`;
  return hasGs1CheckDigit(expanded) ? expanded : null;
}

/** The meaning of an AIM identifier in front of a scan (ISO/IEC 15424). */
export interface Aim {
  /** As sent: "]C1". */
  readonly identifier: string;
  readonly symbology: string;
  /** How to read the scan: as a GS1 element string, as the number of a retail article, or by its content. */
  readonly content: "gs1" | "ean" | "ean8" | "itf" | "any";
}

const names: Readonly<Record<string, string>> = {
  A: "Code 39",
  B: "Telepen",
  C: "Code 128",
  E: "EAN/UPC",
  F: "Codabar",
  G: "Code 93",
  H: "Code 11",
  I: "Interleaved 2 of 5",
  J: "DotCode",
  K: "Code 16K",
  L: "PDF417",
  M: "MSI",
  O: "Codablock",
  P: "Plessey",
  Q: "QR Code",
  R: "Straight 2 of 5",
  S: "Straight 2 of 5",
  T: "Code 49",
  U: "MaxiCode",
  X: "other",
  d: "Data Matrix",
  e: "GS1 DataBar",
  g: "Grid Matrix",
  h: "Han Xin Code",
  o: "OCR",
  p: "PosiCode",
  s: "SuperCode",
  z: "Aztec Code",
};

/** FNC1 in the first position: an element string follows. */
const gs1: Readonly<Record<string, string>> = {
  C1: "GS1-128",
  J1: "GS1 DotCode",
  J4: "GS1 DotCode",
  Q3: "GS1 QR Code",
  Q4: "GS1 QR Code",
  d2: "GS1 DataMatrix",
  d5: "GS1 DataMatrix",
  e0: "GS1 DataBar",
  e1: "GS1 Composite",
  e2: "GS1 Composite",
};

const modifier = /[0-9A-Za-z]/;

/** A letter as a keyboard with Caps Lock types it. */
function turned(letter: string): string {
  const upper = letter.toUpperCase();
  return letter === upper ? letter.toLowerCase() : upper;
}

/** The AIM identifier at the beginning of a scan; undefined if there is no known one. */
function readAim(text: string): Aim | undefined {
  if (!text.startsWith("]") || !modifier.test(text.charAt(2))) {
    return undefined;
  }
  const sent = text.charAt(1);
  const letter = names[sent] === undefined ? turned(sent) : sent;
  const name = names[letter];
  if (name === undefined) {
    return undefined;
  }
  const identifier = text.slice(0, 3);
  const code = letter + text.charAt(2);
  const ofGs1 = gs1[code];
  if (ofGs1 !== undefined) {
    return { identifier, symbology: ofGs1, content: "gs1" };
  }
  if (letter === "E") {
    return { identifier, symbology: code === "E4" ? "EAN-8" : name, content: code === "E4" ? "ean8" : "ean" };
  }
  return { identifier, symbology: name, content: letter === "I" ? "itf" : "any" };
}

/** All identifiers without their brackets, and their names, for the documentation. */
export const symbologies: readonly (readonly [identifier: string, name: string])[] = [
  ...Object.entries(gs1),
  ["E4", "EAN-8"],
  ...Object.entries(names).map(([letter, name]): [string, string] => [`${letter}…`, name]),
];

/**
 * The elements of a GS1 code, with what stands in place of the separator found out: where the code is not right as it stands, the
 * reading in which every element and check digit is.
 */
function readDivided(code: string, own: string, today: Date): Content {
  const { text, separator: known } = replaceSeparators(code, own);
  const elements = readElementString(text, today);
  if (text !== code && code.includes(separator) && !isRight(elements)) {
    // Data can have < and > in it, and all that Alt+029 consists of: the scanner sends the separator itself.
    const asSent = readElementString(code, today);
    if (isRight(asSent)) {
      return { kind: "gs1", text: code, elements: asSent };
    }
  }
  if (text.includes(separator) || isRight(elements) || !doubtful.test(text)) {
    return { kind: "gs1", text, elements, separator: known };
  }
  const readings = possibleReplacements(text).flatMap((found): Content[] => {
    const divided = text.replaceAll(found, separator);
    const read = readElementString(divided, today);
    return read.length > 0 && isRight(read)
      ? [{ kind: "gs1", text: divided, elements: read, separator: { found, as: separator } }]
      : [];
  });
  const [only, ...others] = readings;
  return only === undefined || others.length > 0 ? { kind: "gs1", text, elements, separator: known } : only;
}

function isRight(elements: readonly ScanElement[]): boolean {
  return elements.every(({ checked }) => checked === true);
}

/** One scan as the scanner sent it. */
export interface Frame {
  /** The text with everything around the code: all frames together are the whole text. */
  readonly raw: string;
  /** The code alone, with its AIM identifier. */
  readonly body: string;
}

/** The scans of a text, and the beginning of an incomplete one. */
export interface Framed {
  readonly frames: readonly Frame[];
  readonly rest: string;
}

const startOfText = "\x02";
const endOfText = "\x03";
/** The characters that end a scan; several in a row end one. */
const isEnd = (character: string | undefined): boolean =>
  character === "\r" ||
  character === "\n" ||
  character === "\t" ||
  character === endOfText ||
  character === "\0";

/**
 * Divides a text into scans. Carriage return, line feed, tab, ETX and NUL each end a scan; between STX and ETX the
 * others belong to it. The text behind the last end is the rest, and so is a label with line ends in it of which more may follow,
 * unless the text is `complete`.
 */
export function splitFrames(text: string, complete = false): Framed {
  const frames: Frame[] = [];
  let from = 0;
  let position = 0;
  while (position < text.length) {
    while (isEnd(text[position]) || text[position] === endOfTransmission) {
      position++;
    }
    const isFramed = text[position] === startOfText;
    const start = isFramed ? position + 1 : position;
    const end = endOfFrame(text, start, isFramed, complete);
    if (end === text.length) {
      break;
    }
    position = end;
    while (isEnd(text[position])) {
      position++;
    }
    // STX and ETX without text between them are an empty scan.
    frames.push({ raw: text.slice(from, position), body: text.slice(start, end) });
    from = position;
  }
  return appendEnds(frames, text.slice(from));
}

/** The beginning of a segment of a 2D label that may have any character in it (ISO/IEC 15434, formats 07 and 09). */
const opaqueSegment = new RegExp(`${recordSeparator}0[79]`);
const envelopeAtStart = /^ ?(?:\uFEFF|\xEF\xBB\xBF)?(?:\]..)?\[\)>/;
const endOfLabel = recordSeparator + endOfTransmission;
const endOfLines = new RegExp(`[\\r\\n]${endOfTransmission}`);

/** The position of the character that ends a scan; the text's length if there is none. */
function endOfFrame(text: string, start: number, isFramed: boolean, complete: boolean): number {
  const beginning = text.slice(start, start + 30);
  if (!isFramed && (ofLines.test(beginning) || (!complete && mayBeOfLines.test(beginning)))) {
    return text.length;
  }
  const front = beginning.includes(opening) ? (envelopeAtStart.exec(beginning)?.[0].length ?? 0) : 0;
  let isLabel = front > 0;
  const isOfLines = isLabel && hasLines(text.slice(start + front - 3, start + front + 1));
  for (let end = start; end < text.length; end++) {
    if (isFramed ? text[end] !== endOfText : !isEnd(text[end])) {
      continue;
    }
    if (isOfLines && !isFramed) {
      const next = end + leadingEnds(text.slice(end, end + 2));
      const segment = text.slice(next, next + 10);
      if (!complete && segment.length < 10 && firstEnd(segment) < 0) {
        return text.length;
      }
      if (end === start + front || continuesLabel(segment)) {
        const close = opaque.test(segment) ? text.slice(next).search(endOfLines) : 0;
        if (close < 0) {
          return text.length;
        }
        end = next + close - 1;
        continue;
      }
    }
    const inside = isLabel ? text.slice(start, end).search(opaqueSegment) : -1;
    if (inside < 0) {
      return end;
    }
    const close = text.indexOf(endOfLabel, start + inside);
    if (close < 0) {
      return text.length;
    }
    if (close < end) {
      return end;
    }
    end = close + 1;
    isLabel = false;
  }
  return text.length;
}

/** Further ending characters belong to the last scan. */
function appendEnds(frames: Frame[], rest: string): Framed {
  if (leadingEnds(rest) < rest.length) {
    return { frames, rest };
  }
  const last = frames.at(-1);
  return last === undefined
    ? { frames, rest: "" }
    : { frames: [...frames.slice(0, -1), { ...last, raw: last.raw + rest }], rest: "" };
}

/** The rest as a scan, if nothing more arrives; undefined if it is empty. */
export function lastFrame(rest: string): Frame | undefined {
  const body = bodyOf(rest);
  return body === "" ? undefined : { raw: rest, body };
}

/** Whether a scan has begun with STX and not ended with ETX. */
export function isCutOff(rest: string): boolean {
  return rest.slice(leadingEnds(rest)).startsWith(startOfText);
}

function bodyOf(rest: string): string {
  const start = leadingEnds(rest);
  return rest.slice(rest[start] === startOfText ? start + 1 : start);
}

/** The position at which the first scan of a text ends; -1 if none does. */
export function firstEnd(text: string): number {
  for (let position = 0; position < text.length; position++) {
    if (isEnd(text[position])) {
      return position;
    }
  }
  return -1;
}

/** Also an end of transmission is no scan of its own: it belongs to a label, behind a line end in place of its record separator. */
function leadingEnds(text: string): number {
  let position = 0;
  while (isEnd(text[position]) || text[position] === endOfTransmission) {
    position++;
  }
  return position;
}

/** All scans of a complete text. */
export function allFrames(text: string): Frame[] {
  const { frames, rest } = splitFrames(text, true);
  const last = lastFrame(rest);
  return last === undefined ? [...frames] : [...frames, last];
}
