import type { CoveringTimestamp } from "../model/archive-reports.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import type { PlacedPackage } from "./packages/intent.ts";
import { TimestampFolder, locationOf, readRoots } from "./timestamp-folder.ts";
import type { PackageTimestamp, SoughtTimestamp } from "./timestamps.ts";

/** The time stamps of an archive. */
export interface ArchiveTimestamps {
  /** The certificates that signers are checked against, in PEM form; empty if none were given. */
  readonly roots: string;
  /** Finds the time stamp that covers a package, and what is wrong with others. */
  readonly find: (placed: PlacedPackage) => Promise<SoughtTimestamp>;
}

/**
 * Opens the time stamps of an archive. `rootsFile` has the certificates that are trusted, in PEM form. What
 * reads time stamps is loaded only if there are some; undefined if there have never been any. Throws ERR_CONFIG for a file that cannot be used.
 */
export async function timestampsIn(
  files: Pick<ArchiveFiles, "disk" | "root">,
  rootsFile: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ArchiveTimestamps | undefined> {
  if (!(await new TimestampFolder(files.root, files.disk).hasAny())) {
    return undefined;
  }
  const { PackageTimestamps } = await import("./timestamps.ts");
  const roots = await readRoots(rootsFile);
  const timestamps = new PackageTimestamps(files, { roots, signal });
  return { roots: roots.map(String).join(""), find: (placed) => timestamps.find(placed) };
}

/** What a message and a page say of a time stamp. */
export function coveringTimestamp({ at, signer, root, links }: PackageTimestamp): CoveringTimestamp {
  return { atUtc: at.toISOString(), signer, root, links };
}

/** Says in English what a time stamp shows of a package. */
export function explainTimestamp(found: PackageTimestamp | null): string {
  if (found === null) {
    return "no valid time stamp covers this package";
  }
  const { at, signer, root, links, kept } = found;
  const checked = root === null ? "not checked against a root certificate" : `root certificate: “${root}”`;
  const way = links === 0 ? "" : ` through the chain of ${links} later package${links === 1 ? "" : "s"}`;
  return `the time stamp ${locationOf(kept.name)} covers this package${way}: ${at.toISOString()}, signed by “${signer}” (${checked})`;
}
