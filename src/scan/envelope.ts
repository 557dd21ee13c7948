import type { LabelWeight, ScanCarrier, ScanElement, ScanSeparator } from "../model/shapes.ts";
import { findCarriers } from "./carriers/candidates.ts";
import { readElementString, separator, writeElementString } from "./gs1/element-string.ts";
import { doubtfulReplacements, replaceSeparators } from "./separators.ts";

/** What the envelope of a 2D label has in it (ISO/IEC 15434). */
export interface Envelope {
  /** Its text, with the separators that the standard wants, and without what was left out. */
  readonly text: string;
  /** Whether anything was left out. */
  readonly isShortened: boolean;
  readonly elements: readonly ScanElement[];
  /** The tracking number, as the linear code of the same label has it; null if there is none, or more than one. */
  readonly number: string | null;
  readonly carriers: readonly ScanCarrier[];
  readonly labelWeight: LabelWeight | null;
  readonly separator: ScanSeparator | null;
}

export const recordSeparator = "\x1e";
export const endOfTransmission = "\x04";

/** The other control characters of an envelope, and what scanners send in their place; as for the group separator. */
const recordSeparators = /<RS>|\{RS\}|\[RS\]|<0x1E>|\{0x1E\}|\\x1E|\\u001E|\^\^|␞|Alt\+030/gi;
const ends = /(?:<EOT>|\{EOT\}|\[EOT\]|<0x04>|\{0x04\}|\\x04|\\u0004|\^D|␄|Alt\+004)$/i;

/** Most labels have none of these characters behind their beginning, and need not be searched for each replacement. */
const replacing = /[<{[\\^␝␞␄+]/;

const opening = "[)>";
const header = new RegExp(`^\\[\\)>${recordSeparator}?(?=\\d\\d)`);
/** The beginning of a carrier's message whose header the scanner has dropped: postal code, country, class, number, carrier. */
const headless = new RegExp(
  [
    `^(?:01${separator})?\\P{Cc}{1,16}`,
    "\\d{3}",
    "\\d{2,3}",
    "\\P{Cc}+",
    "(?:UPSN|FDEG?|FXF[EN]|FDX[EG])[A-Z0-9]{0,6}",
    "",
  ].join(separator),
  "u",
);

/** Whether a text has the beginning of an envelope at a place; it may not be a readable one. */
export function isEnvelope(text: string, at = 0): boolean {
  return text.startsWith(opening, at);
}

/**
 * Reads the envelope of a 2D label: null for any other text, and for one that cannot be divided. What it says of the addressee is left
 * out unless `hasAddressee`, and so is what nobody but the carrier can read.
 */
export function readEnvelope(code: string, own: string, hasAddressee: boolean): Envelope | null {
  const isMarked = isEnvelope(code);
  const isReplaced = replacing.test(isMarked ? code.slice(opening.length) : code) || own !== "";
  if (!isMarked && !isReplaced && !code.includes(separator)) {
    return null;
  }
  const { whole, known } = isReplaced ? replaced(code, own) : { whole: code.trimEnd(), known: null };
  if (isMarked ? !header.test(whole) : !headless.test(whole)) {
    return null;
  }
  if (whole.includes(separator)) {
    return readSegments(whole, known, hasAddressee);
  }
  const readings = doubtfulReplacements.flatMap((found) => {
    const read = whole.includes(found)
      ? readSegments(whole.replaceAll(found, separator), { found, as: separator }, hasAddressee)
      : null;
    return read?.carriers.some(({ checkDigit }) => checkDigit === true) === true ? [read] : [];
  });
  const [only = null, ...others] = readings;
  return others.length === 0 ? only : null;
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

/** What the segments of an envelope have in them: all, what stays if nobody has asked for the addressee, and that as it is written. */
interface Content {
  readonly all: ScanElement[];
  readonly kept: ScanElement[];
  readonly written: string[];
}

function readSegments(whole: string, found: ScanSeparator | null, hasAddressee: boolean): Envelope | null {
  const front = header.exec(whole)?.[0] ?? "";
  const isClosed = whole.endsWith(endOfTransmission);
  const body = whole.slice(front.length, isClosed ? -1 : undefined);
  const content: Content = { all: [], kept: [], written: [] };
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
  const { all, kept, written } = content;
  const number = fields === null ? plateOf(all) : trackingNumber(fields, all);
  const end = `${body.endsWith(recordSeparator) ? recordSeparator : ""}${isClosed ? endOfTransmission : ""}`;
  const elements = hasAddressee ? all : kept;
  return {
    text: hasAddressee ? whole : front + written.join(recordSeparator) + end,
    isShortened: elements.length < all.length,
    elements: fields === null ? elements : withCheck(elements, number, fields[4] ?? ""),
    number,
    carriers: number === null ? [] : findCarriers(number, []).carriers,
    labelWeight: fields === null ? null : weightOf(fields[9] ?? ""),
    separator: found,
  };
}

/** The formats whose content is text or bytes of any kind, and so may have record separators in it. */
const opaque = /^0[79]/;

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
const isOfAddressee = fieldTitles.map((title) => title.startsWith("*"));

/** The version of the standard, two digits, is in front of the postal code. */
const version = new RegExp(`^01${separator}\\d{2}`);

/** Reads format 01, and returns its fields. */
function readFields(segment: string, { all, kept, written }: Content): readonly string[] {
  const front = version.exec(segment)?.[0] ?? "";
  const fields = segment.slice(front.length).split(separator);
  // UPS has labels without the separator behind its name.
  const carrier = fields[4] ?? "";
  if (/^UPSN./.test(carrier)) {
    fields.splice(4, 1, "UPSN", carrier.slice(4));
  }
  const left: string[] = [];
  for (let index = 0; index < fields.length; index++) {
    const value = (fields[index] = fields[index]?.trim() ?? "");
    const isKept = isOfAddressee[index] === false;
    left.push(isKept ? value : "");
    if (value !== "") {
      const element = { ai: null, title: titles[index] ?? null, value, checked: null };
      all.push(element);
      if (isKept) {
        kept.push(element);
      }
    }
  }
  written.push(front + left.join(separator));
  return fields;
}

/** The application identifiers of the addressee: 4300 to 4309. */
const addresseeIdentifier = /^430\d$/;
/** What a carrier's label has in segments for data of its own, and is not about the addressee: codes of the carrier, and references. */
const carriersOwn = /^(?:(?:10|15|28|31|32|34|39)Z|\d*K)$/;

function readSegment(segment: string, isOfCarrier: boolean, { all, kept, written }: Content): void {
  const format = segment.slice(0, 2);
  const front = segment.charAt(2) === separator ? format + separator : format;
  const text = segment.slice(front.length);
  // UPS has data identifiers in format 05.
  if (format === "05" && !isOfCarrier) {
    const elements = readElementString(text, new Date());
    const left = elements.filter(({ ai }) => !addresseeIdentifier.test(ai ?? ""));
    all.push(...elements);
    kept.push(...left);
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
      all.push(element);
      if (!isOfCarrier || carriersOwn.test(element.di ?? "")) {
        kept.push(element);
        left.push(part);
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
  const [, di, value] = /^(\d{0,3}[A-Z])([^]*)$/.exec(text) ?? [];
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
const isFedEx = (scac: string): boolean => /^F(?:DE|DEG|DXE|DXG|XFE|XFN)$/.test(scac);

/** The number of format 01 as the carrier prints it. */
function trackingNumber(fields: readonly string[], elements: readonly ScanElement[]): string | null {
  const [, , service = "", tracking = "", scac = "", shipper = ""] = fields;
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
  return /^[0-9A-Z]{6,40}$/.test(tracking) ? tracking : null;
}

/** The one number of a carrier that is right in one of the texts, by its check digit; null for none, or for different ones. */
function numberOfCarrier(carrier: string, texts: readonly string[]): string | null {
  const numbers = texts.flatMap((text) =>
    findCarriers(text, []).carriers.flatMap((one) =>
      one.carrier === carrier && one.checkDigit === true ? [one.number] : [],
    ),
  );
  const [only = null, ...others] = new Set(numbers);
  return others.length === 0 ? only : null;
}

/** A tracking number is right if it was found by its check digit, and wrong if its carrier has one and it was not. */
function withCheck(
  elements: readonly ScanElement[],
  number: string | null,
  scac: string,
): readonly ScanElement[] {
  return !isUps(scac) && !isFedEx(scac)
    ? elements
    : elements.map((element) =>
        element.title !== trackingTitle || element.di !== undefined
          ? element
          : number === null
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
