import type { Database, Row, SqlValue, Statement } from "../database/database.ts";
import { indexedText } from "../database/indexed-text.ts";
import { readIndexed, type IndexedPackage } from "../vault/packages/package-index.ts";
import type { Period } from "./period.ts";
import type { Range, SoughtSize } from "./size.ts";

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
