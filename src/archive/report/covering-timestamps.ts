import { plainDisk } from "../archive-disk.ts";
import type { PackageTimestamp } from "../maintenance/package-timestamp.ts";
import { TimestampFolder } from "../maintenance/timestamp-folder.ts";
import type { PlacedPackage } from "../packages/intent.ts";

/** Finds the time stamp that covers a package; null if there is none that is valid. */
export type FindTimestamp = (placed: PlacedPackage) => Promise<PackageTimestamp | null>;

/**
 * Returns what finds the time stamps of an archive. `rootsFile` has the certificates that are trusted, in PEM form. What
 * reads time stamps is loaded only if there are some. Throws ERR_CONFIG for a file that cannot be used.
 */
export async function timestampsIn(
  root: string,
  rootsFile: string | undefined,
  signal: AbortSignal | undefined,
): Promise<FindTimestamp> {
  if (!(await new TimestampFolder(root, plainDisk).hasAny())) {
    return () => Promise.resolve(null);
  }
  const { readRoots, timestampOf } = await import("../maintenance/package-timestamp.ts");
  const roots = await readRoots(rootsFile);
  return (placed) => timestampOf(root, placed, { disk: plainDisk, roots, signal });
}
