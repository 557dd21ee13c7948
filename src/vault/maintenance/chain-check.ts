import type { Finding, Unchecked } from "../../model/archive-reports.ts";
import type { Row } from "../../database/database.ts";
import type { CheckParts } from "./check-parts.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { sayUnreadable } from "./say-unreadable.ts";

interface Gap {
  readonly path: string;
  readonly archived: string;
  readonly store: string | null;
  /** The path of the missing manifest. */
  readonly previous: string;
  /** Whether another manifest is there. */
  readonly isReplaced: boolean;
}

/**
 * Selects each package, the first package of the same store that names the same predecessor or none, and whether the
 * predecessor was seen. If it was seen at another path, the packages were copied out of their archive.
 */
const links = `SELECT seen_order, path, archived, store, previous_path, previous_sha256,
    (SELECT other.path FROM seen AS other
      WHERE other.previous_sha256 IS link.previous_sha256 AND other.store IS link.store
      ORDER BY other.archived, other.path LIMIT 1) AS first_path,
    EXISTS (SELECT 1 FROM seen AS before WHERE before.sha256 = link.previous_sha256) AS is_seen
  FROM seen AS link
  WHERE seen_order > ? AND (path <> first_path OR (previous_sha256 IS NOT NULL AND NOT is_seen))
  ORDER BY seen_order LIMIT ?`;

/**
 * Checks that each manifest is the one that the next manifest of its store names; the first one of a store may name one
 * of another store. The names are hashes, so there can be no circle, and a missing package leaves a gap before the one
 * that names it. A missing last package cannot be seen in the chain, and what is missing in an export was not exported. Findings are yielded; what cannot be checked is
 * added to `unchecked`.
 */
export async function* checkChain(parts: CheckParts, unchecked: Unchecked[]): AsyncGenerator<Finding> {
  // If packages were copied out of their archive, the chain of each store begins with a package that names another one
  // before it.
  const beginnings = new Map<string | null, Gap>();
  let firstOutside: Gap | undefined;
  let outside = 0;
  for await (const row of parts.seen.pages(links)) {
    const path = String(row["path"]);
    const first = String(row["first_path"]);
    if (first !== path) {
      yield explainFork(path, first, row["previous_sha256"] === null);
      continue;
    }
    const gap = await findGap(row, parts).catch((error: unknown) => sayUnreadable(error));
    if (typeof gap === "string") {
      yield { kind: "unreadable", path: String(row["previous_path"]), problem: gap };
    } else if (gap !== undefined && parts.exported !== undefined && !gap.isReplaced) {
      firstOutside ??= gap;
      outside += 1;
    } else if (gap !== undefined) {
      const other = await replaceBeginning(gap, beginnings, parts);
      if (other !== undefined) {
        yield explainGap(other, parts.pruned !== undefined);
      }
    }
  }
  if (firstOutside !== undefined) {
    const { path, previous } = firstOutside;
    const others = outside === 1 ? "" : `, and so are those before ${outside - 1} others`;
    const problem = `the previous package, ${previous}, is not in this export${others}: the chain was checked between the exported packages only`;
    unchecked.push({ kind: "earlier-packages", path, problem });
  }
  for (const { path, previous } of beginnings.values()) {
    const problem = `whether packages before this one are missing: the previous one, ${previous}, is not here`;
    unchecked.push({ kind: "earlier-packages", path, problem });
  }
}

async function findGap(row: Row, { root, disk, pruned }: CheckParts): Promise<Gap | undefined> {
  const [path, archived] = [String(row["path"]), String(row["archived"])];
  const previous = String(row["previous_path"]);
  const sha256 = String(row["previous_sha256"]);
  const store = row["store"] === null ? null : String(row["store"]);
  // It may be outside the checked folder, or have got its name after the walk passed.
  const found = await loadManifestWithin(root, previous, disk);
  const isThere = typeof found === "object" && found.sha256 === sha256;
  if (isThere || (await pruned?.has(sha256)) === true) {
    return undefined;
  }
  return { path, archived, store, previous, isReplaced: found !== "none" };
}

/** If a store was begun elsewhere, its oldest gap is its beginning; returns this gap, which is none. */
async function replaceBeginning(
  gap: Gap,
  beginnings: Map<string | null, Gap>,
  { pruned, seen }: CheckParts,
): Promise<Gap | undefined> {
  const { store, archived, isReplaced } = gap;
  if (pruned !== undefined || isReplaced) {
    return gap;
  }
  const before = beginnings.get(store);
  if (before === undefined) {
    const first = await seen.select(
      "SELECT 1 FROM seen WHERE previous_sha256 IS NULL AND store IS ? LIMIT 1",
      [store],
    );
    if (first.length > 0) {
      return gap;
    }
  }
  if (before !== undefined && before.archived <= archived) {
    return gap;
  }
  beginnings.set(store, gap);
  return before;
}

function explainFork(path: string, first: string, isBeginning: boolean): Finding {
  const problem = isBeginning
    ? `neither this package nor ${first} of the same store names a previous one: the archive was started twice, and packages in between may be missing`
    : `${first} of the same store names the same package before it: one of them is a copy, or was not archived here`;
  return { kind: isBeginning ? "begun-twice" : "two-successors", path, problem };
}

function explainGap({ path, previous, isReplaced }: Gap, hasLog: boolean): Finding {
  if (isReplaced) {
    const problem = `the previous manifest, ${previous}, is not the original one`;
    return { kind: "previous-changed", path, problem };
  }
  const state = hasLog ? "missing and was not pruned" : "not here";
  return {
    kind: "previous-missing",
    path,
    problem: `the previous package, ${previous}, is ${state}`,
  };
}
