import { join } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { manifestFileName } from "../vault/archive-disk.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import { loadManifestWithin } from "../vault/maintenance/load-manifest-within.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";
import type { Manifest } from "../vault/packages/manifest.ts";

/** A package of the index that is in the folder or the bucket. */
export interface OpenedPackage {
  /** The package's folder below the folder of packages, with slashes. */
  readonly location: string;
  /** Its absolute path on the disk of the files. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Of its manifest. */
  readonly sha256: string;
}

/**
 * Opens a package that the index lists. A path that leads out of the root counts as missing. Throws ERR_NOT_FOUND if it
 * is not there, or its manifest cannot be read.
 */
export async function openPackage(
  { root, disk }: Pick<ArchiveFiles, "disk" | "root">,
  { path: location }: Pick<IndexedPackage, "path">,
): Promise<OpenedPackage> {
  const found = await loadManifestWithin(root, `${location}/${manifestFileName}`, disk);
  if (typeof found === "string") {
    throw goneError(location);
  }
  return { location, folder: join(root, location), ...found };
}

/** The ERR_NOT_FOUND for a package that the index lists, and that is not there. */
export function goneError(location: string): DimensionerError {
  return new DimensionerError("evidenceGone", { surface: "disk", operation: "find" }, { path: location });
}
