import type { Database } from "../../database/database.ts";
import type { IndexedPackage } from "../../vault/packages/package-index.ts";

/** A package to export, with where the package that was archived next by the same store is. */
export interface ChainedPackage extends IndexedPackage {
  /** Below the folder of packages, with slashes; null if the index lists none. */
  readonly next: string | null;
}

/** A statement has at most so many values. */
const atOnce = 500;

/** Finds in the index which package names each of these as the one before it. */
export async function withNext(
  database: Pick<Database, "transaction">,
  packages: readonly IndexedPackage[],
): Promise<readonly ChainedPackage[]> {
  const next = new Map<string, string>();
  for (let first = 0; first < packages.length; first += atOnce) {
    const values = packages.slice(first, first + atOnce).map(({ sha256 }) => sha256);
    const marks = values.map(() => "?").join(", ");
    const [rows = []] = await database.transaction([
      { sql: `SELECT previous_sha256, location FROM packages WHERE previous_sha256 IN (${marks})`, values },
    ]);
    for (const row of rows) {
      next.set(String(row["previous_sha256"]), String(row["location"]));
    }
  }
  return packages.map((one) => ({ ...one, next: next.get(one.sha256) ?? null }));
}
