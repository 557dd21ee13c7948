import type { LabelWeight, ScanCarrier, ScanElement, ScanSeparator } from "../model/shapes.ts";
import { type TrackingNumbers, findCarriers } from "./carriers/candidates.ts";
import { isOfAddressee, readElementString, separator, writeElementString } from "./gs1/element-string.ts";
import { dayOfScan } from "./gs1/table.ts";
import { anyOf, anySeparator, doubtfulReplacements, inBrackets, replaceSeparators } from "./separators.ts";

/** What the envelope of a 2D label has in it (ISO/IEC 15434). */
export interface Envelope {
  /** Its text, with the separators that the standard wants, and without what was left out. */
  readonly text: string;
  /** Whether anything was left out. */
  readonly isShortened: boolean;
  readonly elements: ScanElement[];
  /** The tracking number, as the linear code of the same label has it; null if there is none, or more than one. */
  readonly number: string | null;
  readonly carriers: ScanCarrier[];
  readonly labelWeight: LabelWeight | null;
  readonly separator: ScanSeparator | null;
}

export const recordSeparator = "\x1e";
export const endOfTransmission = "\x04";

/**
 * The other control characters of an envelope, and what scanners send in their place; as for the group separator. ▲ and ♦ are what
 * Windows types for Alt+030 and Alt+004.
 */
const recordSeparators = new RegExp(
  anyOf([...inBrackets(["RS", "0x1E", "1E", "030", "30"]), "\\x1E", "\\u001E", "^^", "␞", "▲", "Alt+030"]),
  "gi",
);
const end = `(?:${anyOf([...inBrackets(["EOT", "0x04", "04", "004", "4"]), "\\x04", "\\u0004", "^D", "␄", "♦", "Alt+004"])})`;
const ends = new RegExp(`${end}$`, "i");

/** Most labels have none of these characters behind their beginning, and need not be searched for each replacement. */
const replacing = /[#$+<@[-^`{-\uffff]/;

export const opening = "[)>";
const openingAndSeparators = new RegExp(`^\\[\\)>${separator}{1,2}`);
/** Some scanners send a line end for the record separator. */
const openingWithLines = /^\[\)>(?:\r\n?|\n)/;
/** What stands behind such a line end within a label: the next format, or the end of the label. */
const nextSegment = new RegExp(`^(?:\\d\\d(?:${anySeparator})|${endOfTransmission}|${end})`, "i");
/** The record separator may be lost, or be another character in front of the format and its separator. */
const header = new RegExp(`^\\[\\)>(?:${recordSeparator}?(?=\\d\\d)|\\D(?=\\d\\d${separator}))`);
const headerAndFormat = new RegExp(`${header.source}\\d\\d${separator}`);
/** The beginning of a carrier's message whose header the scanner has dropped: postal code, country, class, number, carrier. */
const headless = new RegExp(
  [
    `^(?:01${separator})?\\P{Cc}{1,16}`,
    "\\d{3}",
    "\\d{2,3}",
    "\\P{Cc}+",
    "(?:UPSN|USPS|DHL[A-Z]?|FD[EX][A-Z]?|FXF[A-Z])[A-Z0-9]{0,6}",
    "",
  ].join(separator),
  "iu",
);

/** What is left of a header whose beginning was lost. */
const remainder = new RegExp(`^(?:\\[?\\)?>)?${recordSeparator}?(?=01${separator})`);

/** The same two beginnings if each separator is sent twice. */
const doubled = new RegExp(
  `^(?:\\[\\)>\\D?\\d\\d|(?:01${separator}{2})?\\P{Cc}{1,16}${separator}{2}\\d{3})${separator}{2}`,
  "u",
);

/** The five fields are some dozens of characters. */
const longestBeginning = 200;

/** What a MaxiCode has of the parcel's way, which some readers send in front of the header that belongs there. */
const primaryInFront = new RegExp(
  `^(\\P{Cc}{1,16}${separator}\\d{3}${separator}\\d{2,3}${separator})(\\[\\)>${recordSeparator}01${separator}\\d{2})`,
  "u",
);

/** Whether a text is the beginning of a label that has line ends in place of its record separators. */
export function hasLines(text: string): boolean {
  return openingWithLines.test(text);
}

/** Whether what stands behind a line end continues such a label. */
export function continuesLabel(text: string): boolean {
  return nextSegment.test(text);
}

/**
 * Reads the envelope of a 2D label: null for any other text, and for one that cannot be divided. What it says of the addressee is left
 * out unless `hasAddressee`, and so is what nobody but the carrier can read.
 */
export function readEnvelope(code: string, own: string, hasAddressee: boolean): Envelope | null {
  const isMarked = code.startsWith(opening);
  const isReplaced = replacing.test(isMarked ? code.slice(opening.length) : code) || own !== "";
  if (!isMarked && !isReplaced && !code.includes(separator)) {
    return null;
  }
  const { whole, known } = isReplaced ? replaced(code, own) : { whole: code.trimEnd(), known: null };
  const sent = hasLines(whole) ? whole.replaceAll(/\r\n?|\n/g, recordSeparator) : whole;
  if (sent.includes(separator)) {
    const single = singled(sent);
    const ordered = isMarked ? single : single.replace(remainder, "").replace(primaryInFront, "$2$1");
    return (ordered.startsWith(opening) ? header : headless).test(ordered)
      ? readSegments(ordered, known, hasAddressee)
      : null;
  }
  // What stands behind the format is the separator, whatever it is.
  const beginning = isMarked ? headerAndFormat : headless;
  const start = sent.slice(0, longestBeginning);
  // The addressee's name has spaces, and nothing says which is a separator.
  const [found, ...others] = doubtfulReplacements(start).filter(
    (one) => one !== " " && beginning.test(divided(start, one)),
  );
  return found === undefined || others.length > 0
    ? null
    : readSegments(divided(sent, found), { found, as: separator }, hasAddressee);
}

/** The label with separators in place of a replacement, which may stand for the record separator as well. */
function divided(text: string, found: string): string {
  const all = text.replaceAll(found, separator);
  return singled(all.replace(openingAndSeparators, `${opening}${recordSeparator}`));
}

function singled(text: string): string {
  return doubled.test(text) ? text.replaceAll(separator + separator, separator) : text;
}

function replaced(
  code: string,
  own: string,
): { readonly whole: string; readonly known: ScanSeparator | null } {
  const { text, separator: known } = replaceSeparators(code, own);
  return {
    whole: text.replaceAll(recordSeparators, recordSeparator).trimEnd().replace(ends, endOfTransmission),
    known,
  };
}

/** What the segments of an envelope have in them, without the addressee unless somebody has asked for it. */
interface Content {
  readonly hasAddressee: boolean;
  readonly elements: ScanElement[];
  /** The segments with these elements alone. */
  readonly written: string[];
  isShortened: boolean;
}

function readSegments(whole: string, found: ScanSeparator | null, hasAddressee: boolean): Envelope | null {
  const front = header.exec(whole)?.[0] ?? "";
  const isClosed = whole.endsWith(endOfTransmission);
  const body = whole.slice(front.length, isClosed ? -1 : undefined);
  const content: Content = { hasAddressee, elements: [], written: [], isShortened: false };
  const segments = divide(body);
  const message = segments.find((one) => front === "" || one.startsWith(`01${separator}`));
  const isOfCarrier = front === "" || segments.some((one) => one.startsWith("01"));
  let fields: readonly string[] | null = null;
  for (const segment of segments) {
    if (segment === message && fields === null) {
      fields = readFields(segment, content);
    } else {
      readSegment(segment, isOfCarrier, content);
    }
  }
  const { elements, written, isShortened } = content;
  const { number, carriers } = fields === null ? numbersOf(elements) : trackingNumber(fields, elements);
  const end = `${body.endsWith(recordSeparator) ? recordSeparator : ""}${isClosed ? endOfTransmission : ""}`;
  return {
    text: hasAddressee ? whole : front + written.join(recordSeparator) + end,
    isShortened,
    elements: fields === null ? elements : withCheck(elements, number, fields[4]?.toUpperCase() ?? ""),
    number,
    carriers,
    labelWeight: fields === null ? null : weightOf(fields[9] ?? ""),
    separator: found,
  };
}

/** The formats whose content is text or bytes of any kind, and so may have record separators in it. */
export const opaque = /^0[79]/;

function divide(body: string): string[] {
  const written = body.split(recordSeparator);
  const first = written.findIndex((one) => opaque.test(one));
  const divided =
    first < 0 ? written : [...written.slice(0, first), written.slice(first).join(recordSeparator)];
  return divided.filter((one) => one.trim() !== "");
}

/**
 * The fields of format 01, in the order of ANSI MH10.8.3 as the manuals of printers give it (Zebra, ^BD; Honeywell, DPL command
 * reference; FedEx Ground, Bar Code & Label Layout Specification FY04). Those marked * are about the addressee.
 */
const fieldTitles = [
  "*Ship to postal code",
  "Ship to country code",
  "Class of service",
  "Tracking number",
  "Carrier (SCAC)",
  "Shipper number",
  "Day of pickup",
  "Shipment ID",
  "Package n of x",
  "Weight",
  "Address validation",
  "*Ship to street",
  "*Ship to city",
  "*Ship to state",
  "*Ship to name",
] as const;
const trackingTitle = fieldTitles[3];

const titles = fieldTitles.map((title) => title.replace("*", ""));
const isFieldOfAddressee = fieldTitles.map((title) => title.startsWith("*"));

/** The version of the standard, two digits, is in front of the postal code. */
const version = new RegExp(`^01${separator}\\d{2}`);

/** Reads format 01, and returns its fields. */
function readFields(segment: string, content: Content): readonly string[] {
  const front = version.exec(segment)?.[0] ?? "";
  const fields = segment.slice(front.length).split(separator);
  // UPS has labels without the separator behind its name.
  const carrier = fields[4] ?? "";
  if (/^UPSN\S/i.test(carrier)) {
    fields.splice(4, 1, carrier.slice(0, 4), carrier.slice(4));
  }
  let left = front;
  for (let index = 0; index < fields.length; index++) {
    const value = (fields[index] = fields[index]?.trim() ?? "");
    const isKept = content.hasAddressee || isFieldOfAddressee[index] === false;
    left += (index > 0 ? separator : "") + (isKept ? value : "");
    if (value !== "" && isKept) {
      content.elements.push({ ai: null, title: titles[index] ?? null, value, checked: null });
    }
    content.isShortened ||= value !== "" && !isKept;
  }
  content.written.push(left);
  return fields;
}

/** What a carrier's label has in segments for data of its own, and is not about the addressee: codes of the carrier, and references. */
const carriersOwn = /^(?:(?:10|15|28|31|32|34|39)Z|\d*K)$/;

/** Data identifiers of persons (category 8 of ANSI MH10.8.2, such as name, telephone and mail), and of the postal code to ship to. */
const ofAddressee = /^(?:\d*H|5[25]L)$/;
/** The postal code to ship to as application identifiers. */
const postalCode = /^42[01]$/;

function readSegment(segment: string, isOfCarrier: boolean, content: Content): void {
  const { hasAddressee, elements, written } = content;
  const format = segment.slice(0, 2);
  const front = segment.charAt(2) === separator ? format + separator : format;
  const text = segment.slice(front.length);
  // UPS has data identifiers in format 05.
  if (format === "05" && !isOfCarrier) {
    const all = readElementString(text, dayOfScan());
    const left = hasAddressee
      ? all
      : all.filter((element) => !isOfAddressee(element) && !postalCode.test(element.ai ?? ""));
    elements.push(...left);
    content.isShortened ||= left.length < all.length;
    written.push(front + writeElementString(left));
    return;
  }
  const isDivided = format === "05" || format === "06";
  const left: string[] = [];
  for (const part of isDivided ? text.split(separator) : [text]) {
    if (part !== "") {
      const element = isDivided
        ? readDataElement(part)
        : { ai: null, title: `Format ${format}`, value: part, checked: null };
      const di = element.di ?? "";
      if (hasAddressee || (isOfCarrier ? carriersOwn.test(di) : !ofAddressee.test(di))) {
        elements.push(element);
        left.push(part);
      } else {
        content.isShortened = true;
      }
    }
  }
  written.push(front + left.join(separator));
}

/**
 * The data identifiers of shipping labels, with their meanings by ANSI MH10.8.2 (https://www.mhi.org/standards/mh10/dataidentifiers). 31Z
 * is FedEx's: Z is for what two parties have agreed on.
 */
const dataTitles: ReadonlyMap<string, string> = new Map(
  (
    "J=License plate|1J=License plate, lowest level|2J=License plate, several packages|3J=License plate, lowest level, EDI|" +
    "4J=License plate, several packages, EDI|5J=License plate, mixed items|6J=License plate, same items|K=Customer order|" +
    "1K=Supplier order|2K=Shipment, by supplier|3K=Shipment, by carrier|P=Item, by customer|1P=Item, by supplier|" +
    "Q=Quantity|S=Serial number|3S=Package, by supplier|4S=Package, by carrier|T=Lot, by customer|1T=Lot, by supplier|" +
    "V=Supplier|4L=Country of origin|31Z=Linear code"
  )
    .split("|")
    .map((one): [string, string] => {
      const [di = "", title = ""] = one.split("=");
      return [di, title];
    }),
);

function readDataElement(text: string): ScanElement {
  // A keyboard's Caps Lock turns letters around.
  const [, written, value] = /^(\d{0,3}[A-Z])([^]*)$/i.exec(text) ?? [];
  const di = written?.toUpperCase();
  return di === undefined || value === undefined
    ? { ai: null, title: null, value: text, checked: null }
    : { ai: null, di, title: dataTitles.get(di) ?? null, value, checked: null };
}

/**
 * The license plate of a label that is not a carrier's, with its data identifier, as the linear code of the same label has it; or the
 * number of the package. Null if it has several.
 */
function plateOf(elements: readonly ScanElement[]): string | null {
  for (const pattern of [/^[1-6]?J$/, /^[34]S$/]) {
    const plates = new Set(
      elements.filter(({ di = "" }) => pattern.test(di)).map(({ di = "", value }) => di + value),
    );
    if (plates.size > 0) {
      const [only = null, ...others] = plates;
      return others.length === 0 ? only : null;
    }
  }
  return null;
}

const isUps = (scac: string): boolean => scac === "UPSN";
const isFedEx = (scac: string): boolean => /^F(?:D[EX][A-Z]?|XF[A-Z])$/.test(scac);

/** The number of a label without format 01: its plate, or what its application identifiers have of a carrier. */
function numbersOf(elements: readonly ScanElement[]): TrackingNumbers {
  const plate = plateOf(elements);
  return plate === null ? findCarriers("", elements) : numbersIn(plate);
}

/** The number of a label as its carrier prints it, and which carriers it can be of. */
function numbersIn(number: string | null): TrackingNumbers {
  if (number === null) {
    return { number, carriers: [] };
  }
  const found = findCarriers(number, []);
  return { number: found.number ?? number, carriers: found.carriers };
}

/** The number of format 01 as the carrier prints it. */
function trackingNumber(fields: readonly string[], elements: readonly ScanElement[]): TrackingNumbers {
  const [service = "", tracking = "", scac = "", shipper = ""] = fields
    .slice(2, 6)
    .map((one) => one.toUpperCase());
  if (isUps(scac)) {
    // Shortened by the account and the service, which are in fields of their own.
    const isShort = /^1Z\d{8}$/.test(tracking) && /^[A-Z0-9]{6}$/.test(shipper) && /^\d{3}$/.test(service);
    return numberOfCarrier("UPS", [
      isShort ? `1Z${shipper}${service.slice(1)}${tracking.slice(2)}` : tracking,
    ]);
  }
  if (isFedEx(scac)) {
    const linear = elements.flatMap(({ di, value }) => (di === "31Z" ? [value] : []));
    // Four digits of the form stand behind the number of FedEx Express.
    const number = tracking.length === 16 ? tracking.slice(0, -4) : tracking;
    return numberOfCarrier("FedEx", [number, ...linear]);
  }
  return numbersIn(/^[0-9A-Z]{6,40}$/.test(tracking) ? tracking : null);
}

/** The one number of a carrier that is right in one of the texts, by its check digit; null for none, or for different ones. */
function numberOfCarrier(carrier: string, texts: readonly string[]): TrackingNumbers {
  const read = texts.map((text) => numbersIn(text));
  const right = read.flatMap(({ carriers }) =>
    carriers.filter((one) => one.carrier === carrier && one.checkDigit === true),
  );
  const [first] = right;
  if (first === undefined || right.some(({ number }) => number !== first.number)) {
    return numbersIn(null);
  }
  return read.find(({ number }) => number === first.number) ?? numbersIn(first.number);
}

/** A tracking number is right if it was found by its check digit, and wrong if its carrier has one and it was not. */
function withCheck(elements: ScanElement[], number: string | null, scac: string): ScanElement[] {
  const place = elements.findIndex(({ title, di }) => title === trackingTitle && di === undefined);
  const element = elements[place];
  return element === undefined || (!isUps(scac) && !isFedEx(scac))
    ? elements
    : elements.with(
        place,
        number === null
          ? { ...element, checked: false, problem: "checkDigit" }
          : { ...element, checked: true },
      );
}

function weightOf(field: string): LabelWeight | null {
  const [, weight, unit] = /^(\d{1,6}(?:\.\d{1,3})?)\s*(LB|KG)S?$/i.exec(field) ?? [];
  return weight === undefined || unit === undefined
    ? null
    : { weight: Number(weight), unit: unit.toUpperCase() === "KG" ? "kg" : "lb" };
}
