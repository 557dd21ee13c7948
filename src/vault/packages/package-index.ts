import {
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  always,
  hasSearchText,
  marksFor,
} from "../../database/database.ts";
import { indexedText } from "../../database/schema.ts";
import { type Mark, addedWords, searchWords, wholeWord } from "../../rules/search-words.ts";
import { usualWork } from "../../rules/works.ts";
import type { PlacedPackage } from "./intent.ts";
import { type Manifest, filesOf, type Measured } from "./manifest.ts";
import { grams as gramsPerUnit, millimeters, readLengthUnit, readWeightUnit } from "../../rules/units.ts";

/** A package as it is in the index. */
export interface IndexedPackage extends PlacedPackage {
  readonly id: string;
  readonly transactionId: string | null;
  readonly transactionReference: string | null;
  /** ISO 8601, UTC. */
  readonly archivedAt: string;
  readonly complete: boolean;
  /** SHA-256 of the measurement and of the device's exact answer; null where the package holds none. */
  readonly measurement: string | null;
  readonly raw: string | null;
  /** SHA-256 of the manifest of the package that this one completes. */
  readonly supplements: string | null;
}

/** The keys of a package: that of its job, and that of its local measurement. */
export interface IndexKeys {
  readonly own: string;
  readonly measure: string | null;
}

/**
 * The index of a store's packages. The packages themselves are the truth: each row can be created again from the
 * manifest in its package.
 */
export class PackageIndex {
  readonly #database: Pick<Database, "transaction">;

  constructor(database: Pick<Database, "transaction">) {
    this.#database = database;
  }

  /**
   * Returns the packages with one of these keys and their supplements, in the order in which they were archived. Each part is
   * answered by an index; an OR over several columns would read the whole table.
   */
  async ofKeys(keys: readonly string[]): Promise<readonly IndexedPackage[]> {
    const marks = marksFor(keys);
    const ofKeys = (column: string): string => `SELECT ${column} FROM packages WHERE job_key IN (${marks})
      UNION SELECT ${column} FROM packages WHERE measure_key IN (${marks})`;
    return this.#select(
      `WHERE indexed_order IN (${ofKeys("indexed_order")}
        UNION SELECT indexed_order FROM packages WHERE supplements_sha256 IN (${ofKeys("manifest_sha256")}))
        ORDER BY indexed_order`,
      [...keys, ...keys, ...keys, ...keys],
    );
  }

  /** Returns the package of a job; undefined if the index has none. */
  async ofJob(id: string): Promise<PlacedPackage | undefined> {
    const [found] = await this.#select("WHERE package_id = ?", [id]);
    return found;
  }

  /** Returns the package that came into the index last. */
  async last(): Promise<IndexedPackage | undefined> {
    const [newest] = await this.#select(
      "WHERE indexed_order = (SELECT max(indexed_order) FROM packages)",
      [],
    );
    return newest;
  }

  async #select(where: string, values: readonly SqlValue[]): Promise<readonly IndexedPackage[]> {
    const [rows = []] = await this.#database.transaction([
      { sql: `SELECT * FROM packages ${where}`, values },
    ]);
    return rows.map(readIndexed);
  }
}

/**
 * The row of a package in the index, in the order of its columns. No value may be one that PostgreSQL refuses: the package is there
 * before its row.
 */
export function rowOfPackage(
  keys: IndexKeys,
  placed: PlacedPackage,
  manifest: Manifest,
): Readonly<Record<string, SqlValue>> {
  const { references, times, measurement, raw, billable = null } = manifest;
  const files = filesOf(manifest);
  return {
    package_id: manifest.job,
    job_key: keys.own,
    measure_key: keys.measure,
    store_id: manifest.store ?? null,
    location: placed.path,
    manifest_sha256: placed.sha256,
    transaction_id: indexedText(manifest.transactionId),
    transaction_reference: indexedText(references.transactionReference),
    custom_reference_1: indexedText(references.customReference1),
    custom_reference_2: indexedText(references.customReference2),
    custom_reference_3: indexedText(references.customReference3),
    barcode_reference: indexedText(references.barcodeReference),
    device: manifest.device,
    measured_at: times.deviceUtc,
    archived_at: times.archived,
    legal_for_trade: manifest.legalForTrade === null ? null : Number(manifest.legalForTrade),
    complete: Number(manifest.complete),
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    measurement_sha256: measurement?.sha256 ?? null,
    raw_sha256: raw?.sha256 ?? null,
    supplements_sha256: manifest.supplements?.sha256 ?? null,
    device_serial_number: manifest.instrument?.serialNumber ?? null,
    device_certificate: manifest.instrument?.certificate ?? null,
    billable_weight: billable?.weight ?? null,
    billable_unit: billable?.unit ?? null,
    billable_legal_for_trade: billable === null ? null : String(billable.legalForTrade),
    scan: indexedText(manifest.scan?.text ?? null),
    ...indexedSize(manifest.measured ?? null),
    search_words: searchWords(
      times.archived,
      [
        ...Object.values(references),
        manifest.scan?.text ?? null,
        manifest.transactionId,
        manifest.device,
        manifest.operator ?? null,
        manifest.work ?? null,
        indexedText(manifest.note ?? null),
      ],
      marksOf(manifest),
    ),
    operator: indexedText(manifest.operator ?? null),
    // Most packages are of the usual work, and need no place in its index.
    work: manifest.work === usualWork ? null : indexedText(manifest.work ?? null),
  };
}

/** The same row of a package to which numbers were added, in their order. */
export function withNumbers(
  row: ReturnType<typeof rowOfPackage>,
  numbers: readonly string[],
): ReturnType<typeof rowOfPackage> {
  const before = String(row["search_words"]);
  const added = addedWords(before, numbers).join("");
  return { ...row, search_words: before + added, added_words: added };
}

/** A row of an index without what was added to its package since it was archived, which the manifest does not say. */
export function asArchived(row: Row): Row {
  const { added_words: added = "", ...rest } = row;
  const [words, end] = [String(rest["search_words"]), String(added)];
  return words.endsWith(end) ? { ...rest, search_words: words.slice(0, words.length - end.length) } : rest;
}

/** What a row of the index must have added for the numbers that the log says were added to its package, in their order. */
export function wordsOfNumbers(row: Row, numbers: readonly string[]): string {
  return addedWords(String(asArchived(row)["search_words"]), numbers).join("");
}

/** The condition for the packages of a family: the one whose manifest has this SHA-256, and its supplements. */
export function ofFamily(family: string): Condition {
  return {
    sql: "(substr(manifest_sha256, 1, 16) = substr(?, 1, 16) AND manifest_sha256 = ? OR supplements_sha256 = ?)",
    values: [family, family, family],
  };
}

/** The condition that the transaction of a package has one of these IDs, which are in small letters, as its own hardly ever is not. */
export function ofTransaction(...ids: readonly string[]): string {
  const among = `IN (${ids.join(", ")})`;
  return `(transaction_id ${among} OR transaction_id <> lower(transaction_id) AND lower(transaction_id) ${among})`;
}

/** Returns the statements by which the index finds a package by a number that the log says was added to it, behind those before, if the condition holds. */
export function indexNumber(packageId: string, number: string, condition = always): readonly Statement[] {
  return addedWords("", [number]).map((word) => ({
    sql: `UPDATE packages SET search_words = search_words || ?, added_words = added_words || ?
      WHERE package_id = ? AND NOT (${hasSearchText}) AND ${condition.sql}`,
    values: [word, word, packageId, wholeWord(word.trim()), ...condition.values],
  }));
}

/** Returns the statement that adds rows to the index, at least one, or replaces those of the same packages. */
export function insertPackages(rows: readonly ReturnType<typeof rowOfPackage>[]): readonly Statement[] {
  const columns = Object.keys(rows[0] ?? {});
  const marks = `(${marksFor(columns)})`;
  return [
    {
      sql: `INSERT INTO packages (${columns.join(", ")}) VALUES ${rows.map(() => marks).join(", ")}
        ON CONFLICT (package_id) DO UPDATE SET ${replacing(columns)}`,
      values: rows.flatMap((row) => Object.values(row)),
    },
  ];
}

/** All columns but the first one, which is the ID of the package. What was added to it stays where the new row does not say it. */
function replacing(columns: readonly string[]): string {
  return columns
    .slice(1)
    .map((column) =>
      column === "search_words" && !columns.includes("added_words")
        ? "search_words = excluded.search_words || packages.added_words"
        : `${column} = excluded.${column}`,
    )
    .join(", ");
}

function marksOf({ complete, items }: Manifest): Mark[] {
  const hasFilm = items.some((item) =>
    (item.contentTypeFound ?? item.contentTypeAnnounced ?? "").startsWith("video/"),
  );
  return [...(hasFilm ? (["film"] as const) : []), ...(complete ? [] : (["incomplete"] as const))];
}

/** Returns the statements that add a package to the index, or replace its row, if the condition holds. */
export function indexPackage(
  keys: IndexKeys,
  placed: PlacedPackage,
  manifest: Manifest,
  condition = always,
): readonly Statement[] {
  const row = rowOfPackage(keys, placed, manifest);
  const columns = Object.keys(row);
  return [
    // An earlier package in this folder is gone: a folder contains one package.
    {
      sql: "DELETE FROM packages WHERE location = ? AND package_id <> ?",
      values: [placed.path, manifest.job],
    },
    {
      sql: `INSERT INTO packages (${columns.join(", ")})
        SELECT ${marksFor(columns)} WHERE ${condition.sql}
        ON CONFLICT (package_id) DO UPDATE SET ${replacing(columns)}`,
      values: [...Object.values(row), ...condition.values],
    },
  ];
}

/** Reads a row of the index. */
export function readIndexed(row: Row): IndexedPackage {
  const optional = (column: string): string | null => {
    const value = row[column];
    return typeof value === "string" ? value : null;
  };
  return {
    id: String(row["package_id"]),
    path: String(row["location"]),
    sha256: String(row["manifest_sha256"]),
    transactionId: optional("transaction_id"),
    transactionReference: optional("transaction_reference"),
    archivedAt: String(row["archived_at"]),
    complete: row["complete"] === 1,
    measurement: optional("measurement_sha256"),
    raw: optional("raw_sha256"),
    supplements: optional("supplements_sha256"),
  };
}

/** A size as the index has it: the sides by their length, whichever the device calls length, width and height. */
export interface IndexedSize {
  readonly longest_mm: number | null;
  readonly middle_mm: number | null;
  readonly shortest_mm: number | null;
  readonly weight_g: number | null;
}

/**
 * Rounds what was measured to whole millimetres and grams; null for what is not known, has an unknown unit, or is too large for a
 * column.
 */
export function indexedSize(measured: Measured | null): IndexedSize {
  const { length = null, width = null, height = null, weight = null } = measured ?? {};
  const sides = [length, width, height].flatMap((side) =>
    side === null || side <= 0 ? [] : (whole(millimetres(side, measured?.dimsUnitOfMeasure ?? "")) ?? []),
  );
  const [longest_mm = null, middle_mm = null, shortest_mm = null] =
    sides.length < 3 ? [] : sides.toSorted((one, other) => other - one);
  const grammes = weight === null ? undefined : grams(weight, measured?.weightUnitOfMeasure ?? "");
  // A device without a scale sends 0.
  const weight_g = grammes === undefined || grammes <= 0 ? null : (whole(grammes) ?? null);
  return { longest_mm, middle_mm, shortest_mm, weight_g };
}

/** PostgreSQL refuses what its integers cannot hold, and SQLite would keep a fraction that is none. */
function whole(value: number | undefined): number | undefined {
  const rounded = value === undefined ? undefined : Math.round(value);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** Undefined for a unit that is not known. */
export function millimetres(value: number, unit: string): number | undefined {
  const known = readLengthUnit(unit);
  return known === null ? undefined : value * Number(millimeters[known]);
}

/** Undefined for a unit that is not known. */
export function grams(value: number, unit: string): number | undefined {
  const known = readWeightUnit(unit);
  return known === null ? undefined : value * Number(gramsPerUnit[known]);
}
