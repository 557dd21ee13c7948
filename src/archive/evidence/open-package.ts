import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { manifestFileName, type ArchiveDisk } from "../archive-disk.ts";
import { loadManifestWithin } from "../maintenance/load-manifest-within.ts";
import type { IndexedPackage } from "../packages/package-index.ts";
import type { Manifest } from "../packages/manifest.ts";

/** A package of the index that is in the folder. */
export interface OpenedPackage {
  /** The folder of packages, without links. */
  readonly root: string;
  /** The package's folder below it, with slashes. */
  readonly location: string;
  /** Its absolute path. */
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
  root: string,
  { path: location }: Pick<IndexedPackage, "path">,
  disk: ArchiveDisk,
): Promise<OpenedPackage> {
  const found = await loadManifestWithin(root, `${location}/${manifestFileName}`, disk);
  if (typeof found === "string") {
    const facts = { surface: "disk", operation: "find" } as const;
    throw new DimensionerError("evidenceGone", facts, { path: location });
  }
  return { root, location, folder: join(root, location), ...found };
}
