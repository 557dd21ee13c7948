import { readFile, readdir, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type Finding, verifyArchive } from "../../src/index.ts";
import { PostgresDatabase } from "../../src/database/postgres-database.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { vaultKey } from "../../src/vault/store.ts";
import { postgresOptions } from "../database/databases.ts";
import { rowsIn } from "../support/rows.ts";
import { type BucketStub, startStub } from "../support/s3-stub.ts";
import { bucketOf } from "./shared-store.ts";
import { changeDatabase } from "./packages.ts";
import { databaseOf } from "./store.ts";

/** What a verification says, as "kind path". */
export interface Verified {
  readonly verdict: string;
  readonly findings: readonly string[];
  readonly unchecked: readonly string[];
}

type Options = Parameters<typeof verifyArchive>[1];

/** Where an archive in a folder with an SQLite database can be as well, byte for byte. */
export const places = [
  "folder, SQLite",
  "folder, PostgreSQL",
  "bucket, SQLite",
  "bucket, PostgreSQL",
] as const;
export type Place = (typeof places)[number];

/** Verifies an archive of `fillArchive`, or what somebody has made of it, where it is, or after it was brought to another place as it is. */
export async function verifyAt(place: Place, root: string, options: Options = {}): Promise<Verified> {
  const [files, kind] = place.split(", ");
  const stub = files === "bucket" ? await bucketWith(root) : undefined;
  const location = stub === undefined ? undefined : bucketOf(stub.url("parcels"), root);
  try {
    const folder = location === undefined ? root : vaultKey(location);
    const database =
      kind === "PostgreSQL" ? await postgresWith(root, folder) : await sqliteWith(root, folder);
    const findings: Finding[] = [];
    const report = await verifyArchive(stub?.url("parcels") ?? root, {
      database,
      ...options,
      onFinding: (one) => findings.push(one),
    });
    return {
      verdict: report.verdict,
      findings: findings.map((one) => `${one.kind} ${one.path}`).toSorted(),
      unchecked: report.unchecked.map((one) => one.kind).toSorted(),
    };
  } finally {
    await stub?.close();
  }
}

/** A bucket with each file of a folder as it is; the database does not belong to the archive. */
async function bucketWith(root: string): Promise<BucketStub> {
  const stub = await startStub();
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile() && !one.name.startsWith("store.sqlite"))) {
    const path = join(entry.parentPath, entry.name);
    const body = await readFile(path);
    const key = `parcels/${relative(root, path).split(sep).join("/")}`;
    stub.objects.set(key, { body, headers: { "x-amz-meta-sha256": sha256Of(body) } });
  }
  return stub;
}

/** What `verifyArchive` reads, in an order in which it can be inserted. */
const tables = ["store", "packages", "measurements", "log", "log_head", "log_blocks", "log_writers"];

/** A PostgreSQL database with the same rows, for packages in this folder or bucket. Returns its address. */
async function postgresWith(root: string, folder: string): Promise<string> {
  const options = await postgresOptions();
  const database = await PostgresDatabase.open(options);
  try {
    for (const table of tables) {
      const rows = rowsIn(databaseOf(root), `SELECT * FROM ${table}`);
      await database.transaction([
        { sql: `DELETE FROM ${table}` },
        ...rows.map((row) => ({
          sql: `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row)
            .map(() => "?")
            .join(", ")})`,
          values: Object.values(row) as (number | string | null)[],
        })),
      ]);
    }
    await database.transaction([{ sql: "UPDATE store SET folder = ?", values: [folder] }]);
  } finally {
    await database.close();
  }
  return options.address.url;
}

/** The SQLite database, or a copy of it that says that the packages are in this bucket. */
async function sqliteWith(root: string, folder: string): Promise<string> {
  if (folder === root) {
    return databaseOf(root);
  }
  const file = `${root}-in-a-bucket.sqlite`;
  await rm(file, { force: true });
  changeDatabase(databaseOf(root), `VACUUM INTO '${file}'`);
  changeDatabase(file, `UPDATE store SET folder = '${folder}'`);
  return file;
}
