import type { Database, Row, SqlValue, Statement } from "../database/database.ts";
import { indexedText } from "../database/schema.ts";
import type { Period } from "../rules/periods.ts";
import { lengthNames, weightNames } from "../rules/units.ts";
import { grams, millimetres } from "../vault/packages/indexed-size.ts";
import { type IndexedPackage, readIndexed } from "../vault/packages/package-index.ts";

/** A search in the index. A text is compared as it is written, and in capital and small letters. */
export type Query =
  | { readonly by: "reference" | "transactionId" | "barcode" | "packageId" | "text"; readonly value: string }
  | { readonly by: "period"; readonly period: Period }
  | { readonly by: "size"; readonly sizes: readonly SoughtSize[] }
  | { readonly by: "all" };

const references = [
  "transaction_reference",
  "custom_reference_1",
  "custom_reference_2",
  "custom_reference_3",
] as const;

/** The columns of each kind of look-up; an index leads to each of them. */
const columnsOf = {
  reference: references,
  transactionId: ["transaction_id"],
  barcode: ["barcode_reference", "scan"],
  packageId: ["package_id"],
  text: [...references, "barcode_reference", "scan", "transaction_id"],
} as const;

const sizeColumns = ["longest_mm", "middle_mm", "shortest_mm", "weight_g"] as const;

/** A condition on the columns of a package, and its values. */
interface Condition {
  readonly condition: string;
  readonly bounds: readonly SqlValue[];
}

/** More matches of one condition are not sorted: the newest packages are then searched first. */
const mostSorted = 1_000;
/** How many of the newest packages are searched then. */
const newestSearched = 2_000;
/** Follows every character in the order of bytes, which SQLite and PostgreSQL's collation "C" sort by. */
const lastCharacter = "\u{10FFFF}";

/**
 * Looks up packages in the index of a store, the newest first. Each part of a statement is answered by an index; an OR
 * over several columns would read the whole table.
 */
export async function searchIndex(
  database: Pick<Database, "transaction">,
  query: Query,
  limit: number,
): Promise<readonly IndexedPackage[]> {
  const rows = await search(database, query, limit);
  return rows.map(readIndexed);
}

async function search(
  database: Pick<Database, "transaction">,
  query: Query,
  limit: number,
): Promise<readonly Row[]> {
  switch (query.by) {
    case "all":
      return select(database, { sql: `SELECT * FROM packages ${newestFirst}`, values: [limit] });
    case "period": {
      const { from, to } = query.period;
      const where = "WHERE archived_at >= ? AND archived_at < ?";
      return select(database, {
        sql: `SELECT * FROM packages ${where} ${newestFirst}`,
        values: [from, to, limit],
      });
    }
    case "size":
      return searchRanges(database, query.sizes.map(conditionOf), sizeColumns, limit);
    case "text":
      return searchText(database, spellings(query.value), limit);
    default:
      return select(database, lookUp(columnsOf[query.by], spellings(query.value), limit));
  }
}

const newestFirst = "ORDER BY archived_at DESC, package_id LIMIT ?";

function lookUp(columns: readonly string[], values: readonly string[], limit: number): Statement {
  const parts = pairs(columns, values).map(({ column, value }) => ({
    sql: `SELECT indexed_order, archived_at FROM (SELECT indexed_order, archived_at FROM packages
      WHERE ${column} = ? ORDER BY archived_at DESC LIMIT ?) AS ranged`,
    values: [value, limit],
  }));
  return packagesIn(parts, limit);
}

/** Finds the packages of which a reference, a barcode or an ID begins with one of these texts. */
async function searchText(
  database: Pick<Database, "transaction">,
  texts: readonly string[],
  limit: number,
): Promise<readonly Row[]> {
  const ranges = pairs(columnsOf.text, texts).map(({ column, value }) => ({
    condition: `${column} >= ? AND ${column} < ?`,
    bounds: [value, value + lastCharacter],
  }));
  return searchRanges(database, ranges, columnsOf.text, limit);
}

/** The values of two sides are listed, so that the index leads to each pair; a range of the first would read all others. */
function conditionOf({ sides, weight }: SoughtSize): Condition {
  const parts: Condition[] = [];
  if (sides !== null) {
    const [longest, middle, shortest] = sides;
    parts.push(oneOf("longest_mm", longest), oneOf("middle_mm", middle), between("shortest_mm", shortest));
  }
  if (weight !== null) {
    parts.push(between("weight_g", weight));
  }
  return {
    condition: parts.map(({ condition }) => condition).join(" AND "),
    bounds: parts.flatMap(({ bounds }) => bounds),
  };
}

function oneOf(column: string, { from, to }: Range): Condition {
  const values = Array.from({ length: to - from + 1 }, (_, place) => from + place);
  return { condition: `${column} IN (${values.map(() => "?").join(", ")})`, bounds: values };
}

function between(column: string, { from, to }: Range): Condition {
  return { condition: `${column} BETWEEN ? AND ?`, bounds: [from, to] };
}

/** Finds the packages for which one of the conditions is true, each of which an index answers. */
async function searchRanges(
  database: Pick<Database, "transaction">,
  ranges: readonly Condition[],
  columns: readonly string[],
  limit: number,
): Promise<readonly Row[]> {
  const parts = ranges.map(({ condition, bounds }) => ({
    sql: `SELECT indexed_order, archived_at FROM (SELECT indexed_order, archived_at FROM packages
      WHERE ${condition} LIMIT ?) AS ranged`,
    values: [...bounds, Math.max(mostSorted, limit)],
  }));
  const counts = ranges.map(({ condition, bounds }) => ({
    sql: `SELECT count(*) AS matches FROM (SELECT 1 FROM packages WHERE ${condition} LIMIT ?) AS ranged`,
    values: [...bounds, mostSorted],
  }));
  const counted = await database.transaction(counts);
  if (counted.every(([row]) => Number(row?.["matches"]) < mostSorted)) {
    return select(database, packagesIn(parts, limit));
  }
  const newest = await select(
    database,
    packagesIn(
      [
        {
          sql: `SELECT indexed_order, archived_at FROM
            (SELECT indexed_order, archived_at, ${columns.join(", ")} FROM packages
              ORDER BY archived_at DESC LIMIT ?) AS newest
            WHERE ${ranges.map(({ condition }) => condition).join(" OR ")}`,
          values: [newestSearched, ...ranges.flatMap(({ bounds }) => bounds)],
        },
      ],
      limit,
    ),
  );
  if (newest.length === limit) {
    return newest;
  }
  const found = await select(database, packagesIn(parts, limit));
  const seen = new Set(newest.map((row) => row["package_id"]));
  return [...newest, ...found.filter((row) => !seen.has(row["package_id"] ?? null))].slice(0, limit);
}

/** The newest are chosen among what the indexes contain, so that only their rows are read. */
function packagesIn(parts: readonly Statement[], limit: number): Statement {
  const found = parts.map(({ sql }) => sql).join(" UNION ");
  return {
    sql: `SELECT * FROM packages WHERE indexed_order IN
      (SELECT indexed_order FROM (${found}) AS found ORDER BY archived_at DESC LIMIT ?) ${newestFirst}`,
    values: [...parts.flatMap(({ values = [] }) => values), limit, limit],
  };
}

/**
 * References are usually printed in capital letters, and typed in small ones. Spaces around one are of a column of fixed
 * width, or were typed by mistake. The index has the beginning of long ones.
 */
function spellings(value: string): readonly string[] {
  const spelled = [value, value.trim()].flatMap((one) => [one, one.toUpperCase(), one.toLowerCase()]);
  return [...new Set(spelled.map((one) => indexedText(one)))];
}

function pairs(columns: readonly string[], values: readonly string[]): { column: string; value: string }[] {
  return columns.flatMap((column) => values.map((value) => ({ column, value })));
}

async function select(
  database: Pick<Database, "transaction">,
  { sql, values = [] }: { sql: string; values?: readonly SqlValue[] },
): Promise<readonly Row[]> {
  const [rows = []] = await database.transaction([{ sql, values }]);
  return rows;
}

/** Whole millimetres or grams; both ends belong to it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A size to look up: the sides, the longest first, and the weight. */
export interface SoughtSize {
  readonly sides: readonly [Range, Range, Range] | null;
  readonly weight: Range | null;
}

const number = String.raw`(\d{1,6}(?:[.,]\d{1,3})?)`;
const by = String.raw`\s*[x×*]\s*`;
const [lengthUnit, weightUnit] = [lengthNames.join("|"), weightNames.join("|")];
const sizePattern = new RegExp(`^${number}${by}${number}${by}${number}\\s*(${lengthUnit})?$`, "i");
const weightPattern = new RegExp(`^${number}\\s*(${weightUnit})$`, "i");
const bothPattern = new RegExp(String.raw`^(.+?)[,;\s]+(\d[\d.,]*\s*(?:${weightUnit}))$`, "i");
/** No size is longer; in a longer text, where the weight begins takes a time that grows with the square of the length. */
const longestSize = 100;
/** Without a unit, people mean the one of their device. */
const usualUnits = ["cm", "in"] as const;
/** The largest tolerances: a size of 1 m or 1 lb is meant more exactly than to a whole unit. */
const mostMm = 25;
const mostGrams = 500;

/**
 * Reads a size as people write it: `33.5 × 21 × 12.5 cm`, `33x21x12`, `1.27 kg`, or both with a comma or a space between them.
 * Each number is as exact as it is written: 33 finds 32 to 34, and 33.5 finds 33.4 to 33.6. Without a unit, it is a size in
 * centimetres or in inches. Undefined for anything else.
 */
export function readSize(text: string): readonly SoughtSize[] | undefined {
  const trimmed = text.trim();
  if (trimmed.length > longestSize) {
    return undefined;
  }
  const alone = readWeight(trimmed);
  if (alone !== null) {
    return [{ sides: null, weight: alone }];
  }
  const [, size = trimmed, weighs = ""] = bothPattern.exec(trimmed) ?? [];
  const weight = readWeight(weighs);
  const sizes = readSides(size).map((sides) => ({ sides, weight }));
  return sizes.length === 0 ? undefined : sizes;
}

/** The sides in each unit that may be meant. */
function readSides(text: string): (readonly [Range, Range, Range])[] {
  const [, one = "", other = "", third = "", unit] = sizePattern.exec(text) ?? [];
  if (third === "") {
    return [];
  }
  return (unit === undefined ? usualUnits : [unit]).map((name) => {
    const [longest, middle, shortest] = [one, other, third]
      .map(readNumber)
      .toSorted((a, b) => b.value - a.value)
      .map((side) => rangeOf(side, (value) => millimetres(value, name) ?? 0, mostMm));
    return [longest ?? nothing, middle ?? nothing, shortest ?? nothing] as const;
  });
}

const nothing: Range = { from: 0, to: 0 };

function readWeight(text: string): Range | null {
  const [, value = "", unit = ""] = weightPattern.exec(text) ?? [];
  return value === "" ? null : rangeOf(readNumber(value), (one) => grams(one, unit) ?? 0, mostGrams);
}

interface Written {
  readonly value: number;
  /** One unit of its last digit. */
  readonly step: number;
}

function readNumber(text: string): Written {
  const [, decimals = ""] = /[.,](\d+)$/.exec(text) ?? [];
  return { value: Number(text.replace(",", ".")), step: 10 ** -decimals.length };
}

function rangeOf({ value, step }: Written, convert: (value: number) => number, most: number): Range {
  const [middle, tolerance] = [convert(value), Math.min(convert(step), most)];
  // The index has whole numbers, and binary fractions differ a little from the decimal ones.
  return { from: Math.round(middle - tolerance), to: Math.round(middle + tolerance) };
}
