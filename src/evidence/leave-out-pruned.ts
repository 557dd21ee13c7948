import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { manifestFileName } from "../vault/archive-disk.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import { loadManifestWithin } from "../vault/maintenance/load-manifest-within.ts";
import { findPruned } from "../vault/maintenance/prune-log.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";

/** How many packages are read at the same time: a disk does not become faster, and a bucket is waited for. */
const readAtOnce: Readonly<Record<ArchiveFiles["kind"], number>> = { folder: 2, s3: 8 };

/** Reads something of each package, some at a time, until the signal is aborted. */
export async function readEach<T>(
  { kind }: Pick<ArchiveFiles, "kind">,
  packages: readonly IndexedPackage[],
  read: (one: IndexedPackage) => Promise<T>,
  signal?: AbortSignal,
): Promise<T[]> {
  const results: T[] = [];
  const most = readAtOnce[kind];
  for (let first = 0; first < packages.length; first += most) {
    if (signal?.aborted === true) {
      break;
    }
    results.push(...(await Promise.all(packages.slice(first, first + most).map(read))));
  }
  return results;
}

/**
 * Leaves out the packages that were deleted because of their age: where that was done without the database, their rows stay. One
 * that is gone otherwise is not left out. The log of deleted packages is read if one is gone only.
 */
export async function leaveOutPruned(
  files: ArchiveFiles,
  packages: readonly IndexedPackage[],
): Promise<readonly IndexedPackage[]> {
  const gone = (
    await readEach(files, packages, async (one) => ((await isGone(files, one)) ? [one] : []))
  ).flat();
  const [since] = gone.map(({ archivedAt }) => archivedAt).toSorted();
  const pruned = await findPruned(files, "sha256", new Set(gone.map(({ sha256 }) => sha256)), since);
  return packages.filter((one) => !gone.includes(one) || !pruned.has(one.sha256));
}

/** Whether the package that the index lists is not there, or another one is in its place: one of another job. */
async function isGone({ root, disk }: ArchiveFiles, { id, path }: IndexedPackage): Promise<boolean> {
  try {
    const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk);
    return found === "none" || (found !== "damaged" && found.manifest.job !== id);
  } catch (error) {
    // A bucket that fails would fail for each package. What cannot be read is there.
    if (isDimensionerError(error)) {
      throw error;
    }
    return false;
  }
}
