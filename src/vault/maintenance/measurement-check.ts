import type { Finding } from "../../model/archive-reports.ts";
import type { Row } from "../../database/database.ts";
import { keepMs } from "../packages/known-measurements.ts";
import type { IndexReader } from "./index-reader.ts";
import type { SeenPackages } from "./seen-packages.ts";

/** The packages of measurements whose transaction is known. */
const measured = `SELECT seen_order, path, store, accepted, is_listed, measurement_key, transaction_id, legacy_id FROM seen
  WHERE seen_order > ? AND measurement_key IS NOT NULL ORDER BY seen_order LIMIT ?`;

const atOnce = 500;
/** The database forgets measurements when it is opened, not at a moment of its own. */
const slackMs = 24 * 3_600_000;

/**
 * Compares the database's table of measurements with the packages: a measurement has to have the transaction that its manifest names, and no
 * transaction may have been given to two measurements.
 */
export async function* checkMeasurements(index: IndexReader, seen: SeenPackages): AsyncGenerator<Finding> {
  for (const { transactionId, count } of await index.givenTwice()) {
    const problem = `the transaction ${transactionId} was given to ${count} measurements`;
    yield { kind: "database", path: index.file, problem };
  }
  let packages: Row[] = [];
  for await (const one of seen.pages(measured)) {
    packages.push(one);
    if (packages.length === atOnce) {
      yield* compare(packages, index);
      packages = [];
    }
  }
  // PostgreSQL has no empty lists.
  if (packages.length > 0) {
    yield* compare(packages, index);
  }
}

async function* compare(packages: readonly Row[], index: IndexReader): AsyncGenerator<Finding> {
  const keys = packages.map((one) => String(one["measurement_key"]));
  const rows = await index.measurements(keys, packages.flatMap(idsOf));
  const byKey = new Map(rows.map((row) => [row["measurement_key"], row]));
  const given = new Set(rows.flatMap(idsOf));
  for (const one of packages) {
    const path = String(one["path"]);
    const own = idsOf(byKey.get(one["measurement_key"] ?? null) ?? {});
    const ids = idsOf(one);
    if (own.length > 0 && !ids.some((id) => own.includes(id))) {
      const problem = `the database has given its measurement the transaction ${own[0]}, and the manifest names ${ids[0]}`;
      yield { kind: "index", path, problem };
    }
    // A package that is not in the index has been reported already.
    const isOwn = index.chains.includes(String(one["store"])) && one["is_listed"] === 1;
    const isKept = Date.now() - Date.parse(String(one["accepted"])) < keepMs - slackMs;
    if (isOwn && isKept && !ids.some((id) => given.has(id))) {
      const problem = `the database does not say that the transaction ${ids[0]} was given to this measurement`;
      yield { kind: "index", path, problem };
    }
  }
}

function idsOf(row: Row): string[] {
  return [row["transaction_id"], row["legacy_id"]].filter((id) => typeof id === "string");
}
