import {
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  always,
  marksFor,
} from "../../database/database.ts";
import { indexedText } from "../../database/schema.ts";
import { type Mark, searchWords } from "../../rules/search-words.ts";
import { indexedSize } from "./indexed-size.ts";
import type { PlacedPackage } from "./intent.ts";
import { type Manifest, filesOf } from "./manifest.ts";

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
      [...Object.values(references), manifest.scan?.text ?? null, manifest.transactionId, manifest.device],
      marksOf(manifest),
    ),
  };
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

/** All columns but the first one, which is the ID of the package. */
function replacing(columns: readonly string[]): string {
  return columns
    .slice(1)
    .map((column) => `${column} = excluded.${column}`)
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
