import type { Finding, Unchecked } from "../../model/archive-reports.ts";
import type { CheckParts } from "./check-parts.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { sayUnreadable } from "./say-unreadable.ts";

/** Selects supplements to a package that was not seen. */
const alone = `SELECT seen_order, path, supplements_path, supplements FROM seen AS one
  WHERE seen_order > ? AND supplements IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM seen AS first WHERE first.sha256 = one.supplements)
  ORDER BY seen_order LIMIT ?`;

/**
 * Checks that the package of each supplement exists: a supplement alone is only a part of what was archived. In a copy
 * without its archive it is not known whether it should exist, which is added to `unchecked`.
 */
export async function* checkSupplements(
  { seen, root, disk, pruned }: CheckParts,
  unchecked: Unchecked[],
): AsyncGenerator<Finding> {
  for await (const row of seen.pages(alone)) {
    const path = String(row["path"]);
    const first = String(row["supplements_path"]);
    const sha256 = String(row["supplements"]);
    // It may be outside the checked folder.
    const found = await loadManifestWithin(root, first, disk).catch(sayUnreadable);
    const isThere = typeof found === "object" && found.sha256 === sha256;
    if (isThere || (await pruned?.has(sha256)) === true) {
      continue;
    }
    if (typeof found === "object" || found === "damaged") {
      const problem = `the manifest that this package supplements, ${first}, is not the original one`;
      yield { kind: "base-missing", path, problem };
    } else if (found !== "none") {
      yield { kind: "unreadable", path: first, problem: found };
    } else if (pruned === undefined) {
      const problem = `whether the transaction is complete: the package that this one supplements, ${first}, is not here`;
      unchecked.push({ kind: "base-package", path, problem });
    } else {
      const problem = `the package that this one supplements, ${first}, is missing and was not pruned`;
      yield { kind: "base-missing", path, problem };
    }
  }
}
