import type { Finding } from "../../model/archive-reports.ts";
import type { CheckedTotals } from "./package-check.ts";
import type { SeenPackages } from "./seen-packages.ts";

/**
 * Selects incomplete packages without a complete supplement to the same package. A supplement is complete by all that was asked for
 * before it, so a later one that lacks something is not completed by an earlier one.
 */
const incomplete = `SELECT seen_order, path, missing FROM seen AS one
  WHERE seen_order > ? AND missing IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM seen AS other
    WHERE other.supplements = coalesce(one.supplements, one.sha256) AND other.missing IS NULL
      AND (one.supplements IS NULL OR other.archived >= one.archived))
  ORDER BY seen_order LIMIT ?`;

/** Reports packages that were archived incomplete and were not completed since. */
export async function* checkComplete(seen: SeenPackages, looked: CheckedTotals): AsyncGenerator<Finding> {
  for await (const row of seen.pages(incomplete)) {
    looked.incomplete += 1;
    const problem = `archived without: ${String(row["missing"])}`;
    yield { kind: "incomplete", path: String(row["path"]), problem };
  }
}
