import type { X509Certificate } from "node:crypto";
import { ProblemError } from "../../errors/interpolation.ts";
import type { VerifiedTimestamp } from "../../timestamp/verify.ts";
import { manifestFileName, type ArchiveDisk } from "../archive-disk.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { verifyKept } from "./timestamp-check.ts";
import { TimestampFolder, locationOf, type AboutTimestamp } from "./timestamp-folder.ts";

export { readRoots } from "./timestamp-roots.ts";

/** A verified time stamp that covers a package. */
export interface PackageTimestamp extends VerifiedTimestamp {
  /** Its folder below the folder of packages, with slashes. */
  readonly location: string;
  /** The package whose manifest was time-stamped: this one, or a later one of the chain. */
  readonly about: AboutTimestamp;
  /** How many manifests lead from that one to this package, each naming the one before it; 0: it is this package. */
  readonly links: number;
}

export interface PackageTimestampOptions {
  readonly disk: ArchiveDisk;
  /** The root certificates that the signers are checked against. */
  readonly roots: readonly X509Certificate[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds the earliest time stamp that covers a package: one of its own manifest, or of a later one that leads back to it.
 * Every manifest on that way is read and hashed. Null if there is none, also if a package on the way was pruned.
 */
export async function timestampOf(
  root: string,
  { path, sha256 }: PlacedPackage,
  { disk, roots, signal }: PackageTimestampOptions,
): Promise<PackageTimestamp | null> {
  const own = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk);
  if (typeof own === "string" || own.sha256 !== sha256) {
    return null;
  }
  const { archived } = own.manifest.times;
  const folder = new TimestampFolder(root, disk);
  const interrupted = new Set<string | null>();
  for (const name of await folder.names()) {
    const kept = await folder.read(name);
    if (kept === undefined || kept.about.archived < archived || interrupted.has(kept.about.store)) {
      continue;
    }
    const { about } = kept;
    const verified = tryVerify(() => verifyKept(kept, roots));
    if (verified === undefined) {
      continue;
    }
    const links = await countLinks(root, about, { sha256, archived }, { disk, signal });
    if (links !== null) {
      return { ...verified, location: locationOf(name), about, links };
    }
    // The way back from a later time stamp of this store leads through the same gap.
    interrupted.add(about.store);
  }
  return null;
}

/** Says in English what a time stamp shows of a package. */
export function explainTimestamp(found: PackageTimestamp | null): string {
  if (found === null) {
    return "no valid time stamp covers this package";
  }
  const { at, signer, root, links, location } = found;
  const checked = root === null ? "not checked against a root certificate" : `root certificate: “${root}”`;
  const way = links === 0 ? "" : ` through the chain of ${links} later package${links === 1 ? "" : "s"}`;
  return `the time stamp ${location} covers this package${way}: ${at.toISOString()}, signed by “${signer}” (${checked})`;
}

function tryVerify(verify: () => VerifiedTimestamp): VerifiedTimestamp | undefined {
  try {
    return verify();
  } catch (error) {
    if (error instanceof ProblemError) {
      return undefined;
    }
    throw error;
  }
}

/** Goes back along the chain until it meets the package; null if the chain ends or breaks before. */
async function countLinks(
  root: string,
  from: AboutTimestamp,
  to: { readonly sha256: string; readonly archived: string },
  { disk, signal }: { readonly disk: ArchiveDisk; readonly signal: AbortSignal | undefined },
): Promise<number | null> {
  let next: { readonly path: string; readonly sha256: string } | null = {
    path: `${from.package}/${manifestFileName}`,
    sha256: from.manifestSha256,
  };
  for (let links = 0; next !== null; links++) {
    signal?.throwIfAborted();
    if (next.sha256 === to.sha256) {
      return links;
    }
    const found: FoundManifest | "damaged" | "none" = await loadManifestWithin(root, next.path, disk);
    if (typeof found === "string" || found.sha256 !== next.sha256) {
      return null;
    }
    next = found.manifest.previous;
  }
  return null;
}
