import { dirname, join, sep } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { isAbsent, type ReadDisk } from "../archive-disk.ts";
import { loadManifest, type FoundManifest } from "../packages/package-files.ts";

/**
 * Loads the manifest at a path that a manifest or a database names. Neither is trusted: a path that leads out of the
 * root, by links or upwards, counts as missing. `root` has no links in it.
 */
export async function loadManifestWithin(
  root: string,
  path: string,
  disk: Pick<ReadDisk, "open" | "realpath">,
): Promise<FoundManifest | "damaged" | "none"> {
  if (path.split(/[/\\]/).includes("..") || /^(?:[/\\]|[a-z]:)/i.test(path) || path.includes("\0")) {
    return "none";
  }
  const file = join(root, path);
  try {
    const folder = await disk.realpath(dirname(file));
    const isInside = folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
    return isInside ? await loadManifest(file, disk) : "none";
  } catch (error) {
    if (isAbsent(error) || systemCode(error) === "ELOOP") {
      return "none";
    }
    throw error;
  }
}
