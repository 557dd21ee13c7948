import { manifestFileName } from "../archive-disk.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import type { CheckParts } from "./check-parts.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import { sayUnreadable } from "./say-unreadable.ts";

/**
 * Whether a package that was seen has been deleted because of its age since. One that is in the log of deleted packages and is there
 * all the same was restored from a backup, and is checked like any other.
 */
export async function isPruned(
  { path, sha256 }: PlacedPackage,
  { root, disk, pruned }: Pick<CheckParts, "disk" | "pruned" | "root">,
): Promise<boolean> {
  return (
    (await pruned?.has(sha256)) === true &&
    (await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable)) === "none"
  );
}
