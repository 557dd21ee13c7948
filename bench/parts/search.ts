import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database, SqlValue } from "../../src/database/database.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { migrations } from "../../src/database/schema.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { type Filter, type Query, searchIndex } from "../../src/evidence/search.ts";
import { searchWords } from "../../src/rules/search-words.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { median } from "../median.ts";
import type { Progress } from "../progress.ts";

/** How long a search in the index of a store takes. */
export interface SearchRow {
  readonly database: string;
  readonly packages: number;
  readonly search: string;
  /** How many of them are found, at most as many as the page asks for. */
  readonly found: number;
  readonly medianMs: number;
  readonly mostMs: number;
}

export interface SearchSizes {
  readonly packages: number;
  readonly rounds: number;
  /** An existing folder on the disk to write to. */
  readonly folder: string;
}

/** As many as the page asks for. */
const limit = 25;
const batch = 1_000;
/** Indexes of a million packages are made in minutes. */
const patience = { answerWithinMs: 900_000 };

interface Case {
  readonly search: string;
  readonly query: Query;
  readonly filter?: Filter;
}

const text = (value: string): Query => ({ by: "text", value });

/** What is rare and what is frequent, evenly and not: the references of the older half begin otherwise than those of the newer. */
function casesOf(packages: number): readonly Case[] {
  const reference = `SO-${packages - 2}`;
  const held = Array.from({ length: 500 }, (_, place) =>
    locationOf(place * Math.ceil(packages / 500), packages),
  );
  const middle = archivedAt(packages / 2);
  const older = {
    from: archivedAt(packages / 4),
    to: new Date(Date.parse(archivedAt(packages / 4)) + 30 * 86_400_000).toISOString(),
  };
  const day = { from: middle, to: new Date(Date.parse(middle) + 86_400_000).toISOString() };
  const period = { from: middle, to: new Date(Date.parse(middle) + 30 * 86_400_000).toISOString() };
  return [
    { search: "all packages", query: { by: "all" } },
    { search: "a whole reference", query: text(reference) },
    { search: "the end of a reference", query: text(reference.slice(3)) },
    { search: "a text that three packages have", query: text("zebra") },
    { search: "a text that none has", query: text("nobody-1") },
    { search: "four digits", query: text("4711") },
    { search: "digits that are frequent one by one, and of none together", query: text("99999999999") },
    { search: "a customer of a thousandth", query: text("CUSTOMER-77") },
    { search: "two words", query: text("dock 4711") },
    { search: "one character", query: text("7") },
    { search: "the beginning of the newer half", query: text("SO-") },
    { search: "the beginning of the older half", query: text("PO-") },
    { search: "a word of all packages", query: text("dock") },
    { search: "a film, which a thousandth has", query: { by: "all" }, filter: { marks: ["film"] } },
    {
      search: "an incomplete package, of which three are",
      query: { by: "all" },
      filter: { marks: ["incomplete"] },
    },
    { search: "a device", query: { by: "all" }, filter: { device: "Dock 7" } },
    { search: "four digits of a device", query: text("4711"), filter: { device: "Dock 7" } },
    { search: "returns, which a five-hundredth is", query: { by: "all" }, filter: { work: "return" } },
    { search: "inspections, of which there are three", query: { by: "all" }, filter: { work: "inspection" } },
    { search: "packing", query: { by: "all" }, filter: { work: "packing" } },
    { search: "a device in a month", query: { by: "all" }, filter: { device: "Dock 7", period } },
    {
      search: "returns of a device in a month",
      query: { by: "all" },
      filter: { device: "Dock 0", period, work: "return" },
    },
    {
      search: "inspections of a device that has none",
      query: { by: "all" },
      filter: { device: "Dock 0", work: "inspection" },
    },
    {
      search: "returns of a device in a month, with a film",
      query: { by: "all" },
      filter: { device: "Dock 0", period, work: "return", marks: ["film"] },
    },
    {
      search: "films of a device that has none",
      query: { by: "all" },
      filter: { device: "Dock 7", marks: ["film"] },
    },
    {
      search: "incomplete, with a film, of a device in a month",
      query: { by: "all" },
      filter: { device: "Dock 7", period, marks: ["film", "incomplete"] },
    },
    { search: "a word of all packages, in inspections", query: text("dock"), filter: { work: "inspection" } },
    { search: "a word of all packages, in returns", query: text("dock"), filter: { work: "return" } },
    { search: "a word of all packages, in a month", query: text("dock"), filter: { period } },
    { search: "a word of all packages, on a day", query: text("dock"), filter: { period: day } },
    {
      search: "a word of all packages, of an unknown device",
      query: text("dock"),
      filter: { device: "Dock" },
    },
    {
      search: "the beginning of the older half, of a device",
      query: text("PO-"),
      filter: { device: "Dock 7" },
    },
    {
      search: "the beginning of the newer half, in an older month",
      query: text("SO-"),
      filter: { period: older },
    },
    {
      search: "the beginning of the newer half, in an older month of a device",
      query: text("SO-"),
      filter: { device: "Dock 7", period: older },
    },
    { search: "four digits, in returns", query: text("4711"), filter: { work: "return" } },
    { search: "five hundred on hold", query: { by: "all" }, filter: { locations: held } },
    {
      search: "on hold, returns of a device in a month",
      query: { by: "all" },
      filter: { locations: held, device: "Dock 0", period, work: "return" },
    },
    { search: "a word of all packages, on hold", query: text("dock"), filter: { locations: held } },
  ];
}

interface Measured {
  readonly name: string;
  readonly open: () => Promise<Database>;
  /** Selects the name of each index of packages that may be made again, and how. */
  readonly indexes: string;
}

/** Searches the index of a store with so many packages, in both databases. */
export async function measureSearch(sizes: SearchSizes, progress: Progress): Promise<SearchRow[]> {
  const rows: SearchRow[] = [];
  const folder = await mkdtemp(join(sizes.folder, "bench-search-"));
  try {
    const file = join(folder, "store.sqlite");
    const open = () => SqliteDatabase.open({ file, migrations, ...patience });
    const indexes =
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'packages' AND sql IS NOT NULL";
    rows.push(...(await measureIn({ name: "SQLite", open, indexes }, sizes, progress)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const server = await startPostgres();
  try {
    const { user, password } = server.admin;
    const url = `postgres://${user}@127.0.0.1:${server.port}/${await server.makeDatabase()}`;
    const address = { ...readPostgresUrl(url), password };
    const open = () => PostgresDatabase.open({ address, migrations, access: "create", ...patience });
    const indexes = `SELECT indexname AS name, indexdef AS sql FROM pg_indexes
      WHERE tablename = 'packages' AND indexdef NOT LIKE '%UNIQUE%'`;
    rows.push(...(await measureIn({ name: "PostgreSQL", open, indexes }, sizes, progress)));
  } finally {
    await server.remove();
  }
  return rows;
}

async function measureIn(
  { name, open, indexes }: Measured,
  { packages, rounds }: SearchSizes,
  progress: Progress,
): Promise<SearchRow[]> {
  const database = await open();
  try {
    progress(`${name}: an index of ${packages} packages`);
    await fill(database, packages, indexes);
    const rows: SearchRow[] = [];
    for (const { search, query, filter } of casesOf(packages)) {
      progress(`${name}: ${search}`);
      const times: number[] = [];
      let found = 0;
      for (let round = 0; round < rounds; round += 1) {
        const startedAt = performance.now();
        const these = await searchIndex(database, query, limit, filter);
        times.push(performance.now() - startedAt);
        found = these.length;
      }
      const [medianMs, mostMs] = [median(times), Math.max(...times)];
      rows.push({ database: name, packages, search, found, medianMs, mostMs });
    }
    return rows;
  } finally {
    await database.close();
  }
}

/** Writes rows as the archive does, many at a time, and makes the indexes of numbers and times after them. */
async function fill(database: Database, packages: number, indexes: string): Promise<void> {
  const [made = []] = await database.transaction([{ sql: indexes }]);
  for (const { name } of made) {
    await database.transaction([{ sql: `DROP INDEX ${String(name)}` }]);
  }
  for (let first = 0; first < packages; first += batch) {
    const rows = Array.from({ length: Math.min(batch, packages - first) }, (_, place) =>
      rowOf(first + place, packages),
    );
    const columns = Object.keys(rows[0] ?? {});
    const marks = `(${columns.map(() => "?").join(", ")})`;
    await database.transaction([
      {
        sql: `INSERT INTO packages (${columns.join(", ")}) VALUES ${rows.map(() => marks).join(", ")}`,
        values: rows.flatMap((row) => Object.values(row)),
      },
    ]);
  }
  for (const { sql } of made) {
    await database.transaction([{ sql: String(sql) }]);
  }
  // As both databases do by themselves, sooner or later.
  await database.transaction([{ sql: "ANALYZE" }]);
}

function referenceOf(place: number, packages: number): string {
  return `${place < packages / 2 ? "PO" : "SO"}-${place}`;
}

function locationOf(place: number, packages: number): string {
  return `2026-11-22/${referenceOf(place, packages)}`;
}

function archivedAt(place: number): string {
  return new Date(1_700_000_000_000 + Math.floor(place) * 30_000).toISOString();
}

function rowOf(place: number, packages: number): Record<string, SqlValue> {
  const hash = createHash("sha256").update(String(place)).digest("hex");
  const id = hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const reference = referenceOf(place, packages);
  const customer = `CUSTOMER-${place % 1_000}`;
  const barcode = `4006381${String(place).padStart(7, "0")}`;
  const note = place % Math.ceil(packages / 3) === 7 ? "zebra" : null;
  const device = `Dock ${place % 40}`;
  const complete = note === null;
  const time = archivedAt(place);
  const work = place % Math.ceil(packages / 3) === 11 ? "inspection" : place % 500 === 0 ? "return" : null;
  return {
    package_id: hash.slice(0, 36),
    job_key: hash,
    store_id: "store",
    location: locationOf(place, packages),
    manifest_sha256: hash,
    transaction_id: id,
    transaction_reference: reference,
    custom_reference_1: customer,
    custom_reference_2: note,
    barcode_reference: barcode,
    device,
    archived_at: time,
    work,
    complete: Number(complete),
    files: 4,
    bytes: 5_000_000,
    measurement_sha256: hash,
    raw_sha256: hash,
    search_words: searchWords(
      time,
      [reference, customer, note, barcode, id, device],
      [...(place % 1_000 === 0 ? (["film"] as const) : []), ...(complete ? [] : (["incomplete"] as const))],
    ),
  };
}
