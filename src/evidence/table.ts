import type { EvidencePackage } from "../model/shapes.ts";
import { instantOf, isUnset } from "../rules/instants.ts";

/** In one table: a spreadsheet still opens it, and it fits into memory. */
export const mostRows = 10_000;

type Cell = string | number | boolean | null;

/** The columns of a table of packages, in their order; most are called as in `EvidencePackage`. */
const columns = {
  transactionReference: (one) => one.transactionReference,
  customReference1: (one) => one.customReference1,
  customReference2: (one) => one.customReference2,
  customReference3: (one) => one.customReference3,
  barcodeReference: (one) => one.barcodeReference,
  scan: (one) => one.scan,
  addedNumbers: (one) => one.numbers.map(({ number }) => number).join(", "),
  length: (one) => one.length,
  width: (one) => one.width,
  height: (one) => one.height,
  dimsUnitOfMeasure: (one) => one.dimsUnitOfMeasure,
  weight: (one) => one.weight,
  weightUnitOfMeasure: (one) => one.weightUnitOfMeasure,
  billableWeight: (one) => one.billable?.weight ?? null,
  billableUnit: (one) => one.billable?.unit ?? null,
  film: (one) => one.files.some(({ contentType }) => contentType?.startsWith("video/") === true),
  hold: (one) => one.hold !== null,
  complete: (one) => one.complete,
  missing: (one) => one.missing.join(", "),
  operator: (one) => one.operator,
  work: (one) => one.work,
  note: (one) => one.note,
  device: (one) => one.device,
  measuredAtUtc: (one) => (isUnset(one.measuredAtUtc ?? "") ? null : utcOf(one.measuredAtUtc)),
  archivedAtUtc: (one) => utcOf(one.archivedAtUtc),
  transactionId: (one) => one.transactionId,
  packageId: (one) => one.packageId,
  problem: (one) => one.problem,
} as const satisfies Readonly<Record<string, (one: EvidencePackage) => Cell>>;

/** The MIME type of a table. */
export const tableType = "text/csv; charset=utf-8";

/**
 * Writes packages as CSV (RFC 4180) for programs and spreadsheets: with a byte order mark, by which Excel knows UTF-8, decimal points, and times
 * in UTC.
 */
export function writeTable(packages: readonly EvidencePackage[]): string {
  const lines = packages.map((one) => Object.values(columns).map((read) => cellOf(read(one))));
  return `\uFEFF${[Object.keys(columns), ...lines].map((cells) => `${cells.join(",")}\r\n`).join("")}`;
}

/** A name for the file of a table that is made now. */
export function nameOfTable(now = new Date()): string {
  return `packages-${now.toISOString().slice(0, 10)}.csv`;
}

/**
 * What a spreadsheet would calculate, also behind what it leaves out. A text from a label must not do anything there, so an apostrophe
 * makes a text of it.
 */
const formula = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/**
 * The same within a text: where the comma is the decimal mark, a spreadsheet divides lines by semicolons or tabs, and no quotes hold
 * that up.
 */
const formulaWithin = /(?=[=+\-@＝＋－＠])(?<=[^][;\t\r\n][\s\p{C}]*)/gu;

function cellOf(value: Cell): string {
  if (typeof value !== "string") {
    return value === null ? "" : String(value);
  }
  const inner = value.replace(formulaWithin, "'");
  const text = formula.test(value) ? `'${inner}` : inner;
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A time in UTC as ISO 8601. What is no time is left as it is. */
function utcOf(time: string | null): string | null {
  const at = instantOf(time ?? "");
  return Number.isNaN(at) ? time : new Date(at).toISOString();
}
