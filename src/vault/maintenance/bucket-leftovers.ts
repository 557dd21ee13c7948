import { join } from "node:path";
import { dirname } from "node:path/posix";
import type { PrunedPackage } from "../../model/archive-reports.ts";
import type { Database } from "../../database/database.ts";
import { manifestFileName } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { filesOf } from "../packages/manifest.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import { endedUploads, forgetUpload, LeftoverRows, mostValues, type EndedUpload } from "./leftover-rows.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { listAll, removeLeftover, type LeftoverOptions } from "./remove-leftover.ts";
import { isUploadLocation } from "./upload-location.ts";
import { damagedManifest } from "./walk-packages.ts";

/** The packages and the database of a store whose packages are in a bucket. */
export interface BucketStore {
  readonly files: BucketFiles;
  readonly database: Pick<Database, "transaction">;
}

/**
 * Removes what jobs that have ended have left in the bucket: the locations in the table `uploads` at which no package is
 * listed. The bucket is not listed for that, so a worker may call it often. Several may at the same time, and the next run
 * continues one that was interrupted. A whole package is removed only if another one of the same job is listed
 * and there. Yields what was removed, and what was kept and why. Throws ERR_STORE.
 *
 *     for await (const one of removeUploads({ files, database }, { beforeMs: Date.now() - dayMs, signal })) …
 */
export async function* removeUploads(
  { files, database }: BucketStore,
  options: LeftoverOptions,
): AsyncGenerator<PrunedPackage> {
  const begunBefore = new Date(options.beforeMs);
  let rows: readonly EndedUpload[] = [];
  do {
    rows = await endedUploads(database, rows.at(-1)?.location ?? "", begunBefore);
    for (const upload of rows) {
      options.signal?.throwIfAborted();
      const { result, isSettled } = upload.isListed
        ? { result: undefined, isSettled: true }
        : await removeUpload({ files, database }, upload.location, options);
      // The row goes last: what a kill leaves is found again by it.
      if (isSettled && options.isDryRun !== true) {
        await forgetUpload(database, upload);
      }
      if (result !== undefined) {
        yield result;
      }
    }
  } while (rows.length === mostValues);
}

async function removeUpload(
  { files, database }: BucketStore,
  location: string,
  options: LeftoverOptions,
): Promise<{ readonly result: PrunedPackage | undefined; readonly isSettled: boolean }> {
  const kept = (reason: string): PrunedPackage => ({ what: "kept", path: location, bytes: 0, reason });
  if (!isUploadLocation(location)) {
    return { result: kept("this is not the place of an upload"), isSettled: false };
  }
  const found = await loadManifestWithin(files.root, `${location}/${manifestFileName}`, files.disk);
  if (found === "damaged") {
    return { result: kept(damagedManifest), isSettled: false };
  }
  const rows = new LeftoverRows([{ database, hasUploads: true }]);
  if (found !== "none" && !(await isReplaced(files, rows, { location, found }))) {
    // Without its row, a verification reports it.
    const reason = "it is a whole package that the database does not list: dimensioner rebuild adds it";
    return { result: kept(reason), isSettled: true };
  }
  const leftover =
    found === "none" ? { location, reason: neverCompleted } : { location, reason: placedAgain, found };
  const result = await removeLeftover(files, leftover, options);
  return { result, isSettled: result?.what === "leftover" };
}

export const neverCompleted = "an upload that was never completed";
export const placedAgain = "a second package of a job whose package is another one";

/**
 * Whether a package is one that a worker has placed for a job that has ended with another package: that one is listed beside
 * this one, or it is the one of another job, and it is there with all its files. A copy that somebody has made has the
 * same manifest.
 */
export async function isReplaced(
  files: BucketFiles,
  rows: LeftoverRows,
  { location, found }: { readonly location: string; readonly found: FoundManifest },
): Promise<boolean> {
  for (const { location: other, sha256, isOwn } of await rows.packagesOf(found.manifest.job)) {
    const isOther = other !== location && sha256 !== found.sha256;
    const isExpected = !isOwn || dirname(other) === dirname(location);
    if (isOther && isExpected && (await isWhole(files, { location: other, sha256 }))) {
      return true;
    }
  }
  return false;
}

async function isWhole(
  files: BucketFiles,
  { location, sha256 }: { readonly location: string; readonly sha256: string },
): Promise<boolean> {
  const found = await loadManifestWithin(files.root, `${location}/${manifestFileName}`, files.disk);
  if (typeof found === "string" || found.sha256 !== sha256) {
    return false;
  }
  const folder = join(files.root, location);
  const objects = await listAll(files, folder);
  const bytesOfKey = new Map(objects.map(({ key, bytes }) => [key, bytes]));
  return filesOf(found.manifest).every(
    ({ path, bytes }) => bytesOfKey.get(keyOf(join(folder, path))) === bytes,
  );
}
