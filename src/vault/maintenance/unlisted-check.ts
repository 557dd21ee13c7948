import { basename } from "node:path";
import type { ArchiveNote, Finding, Unchecked } from "../../model/archive-reports.ts";
import type { SqlValue } from "../../database/database.ts";
import type { CheckParts } from "./check-parts.ts";
import type { IndexReader } from "./index-reader.ts";
import { isPruned } from "./is-pruned.ts";
import type { SeenPackages } from "./seen-packages.ts";

const unlisted = `SELECT seen_order, path, sha256, job FROM seen
  WHERE seen_order > ? AND NOT is_listed AND store IN (SELECT value FROM json_each(?)) ORDER BY seen_order LIMIT ?`;

/**
 * Selects packages of the index's own store that the index does not list. They may have been archived while it was
 * read, or be about to be listed. `ofCopy` is given where the store's own packages are elsewhere: what was deleted there because of
 * its age, and is kept in the copy that is checked, is a note.
 */
export async function* checkUnlisted(
  index: IndexReader,
  parts: CheckParts,
  ofCopy: ArchiveNote[] | undefined,
): AsyncGenerator<Finding> {
  let kept = 0;
  for await (const row of parts.seen.pages(unlisted, [JSON.stringify(index.chains)])) {
    const [path, sha256] = [String(row["path"]), String(row["sha256"])];
    const isKnown = await index.isKnown({ job: String(row["job"]), sha256, path });
    // It may have been deleted since, or it was deleted and restored.
    if (!isKnown && ofCopy !== undefined && (await parts.pruned?.isKeptCopy(sha256)) === true) {
      kept += 1;
    } else if (!isKnown && !(await isPruned({ path, sha256 }, parts))) {
      const problem =
        "the index does not list this package: the database is an older copy, or the package was copied or restored";
      yield { kind: "unlisted", path, problem };
    }
  }
  if (kept > 0) {
    ofCopy?.push({ kind: "kept-here", path: index.file, text: sayKept(kept, index.folder ?? "") });
  }
}

function sayKept(count: number, folder: string): string {
  return count === 1
    ? `1 package that was deleted in ${folder} because of its age is still here`
    : `${count} packages that were deleted in ${folder} because of their age are still here`;
}

/**
 * For stores whose own database was not given, the end of their chains is not known, unless another index lists their
 * packages: a rebuilt index lists those of earlier stores.
 */
export async function checkOthers(indexes: readonly IndexReader[], seen: SeenPackages): Promise<Unchecked[]> {
  const own = JSON.stringify(indexes.flatMap(({ chains }) => chains));
  const stores = await seen.select(
    `SELECT store, count(*) AS packages, path, max(archived) FROM seen
      WHERE NOT is_listed AND (store IS NULL OR store NOT IN (SELECT value FROM json_each(?)))
      GROUP BY store ORDER BY store LIMIT 1000`,
    [own],
  );
  return stores.map(({ store, packages, path }) => ({
    kind: "later-packages",
    path: String(path),
    problem:
      indexes.length === 0
        ? "whether packages after this one, the last of its store, are missing: only the store's database shows it. Specify it with --database"
        : `whether packages of ${sayStore(store ?? null)} are missing: ${indexes.map(({ file }) => basename(file)).join(", ")} does not list ${String(packages)} of them`,
  }));
}

function sayStore(store: SqlValue): string {
  return store === null ? "version 0.1" : `the store ${store.toString()}`;
}
