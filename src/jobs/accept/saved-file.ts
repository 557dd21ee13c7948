import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { guardedDisk } from "../../media/disk-guard.ts";
import { systemCode } from "../../media/disk.ts";
import { stateFolderName, type ArchiveDisk } from "../../vault/archive-disk.ts";
import { openPlain } from "../../vault/packages/package-files.ts";

/** How many links are followed, as in Linux. */
const mostLinks = 40;

/**
 * Opens a file that a message names. Undefined unless it is a regular file in one of these folders: nothing outside of
 * them is accessed, and no link is followed out of them.
 */
export async function openSavedFile(
  path: string,
  folders: readonly string[],
): Promise<FileHandle | undefined> {
  if (!isAbsolute(path) || path.includes("\0")) {
    return undefined;
  }
  const folder = folders.map((one) => resolve(one)).find((one) => isBelow(path, one));
  if (folder === undefined) {
    return undefined;
  }
  const disk = guardedDisk(folder);
  const real = await realPathBelow(folder, relative(folder, resolve(path)), disk);
  return real === undefined ? undefined : await openPlain(real, disk);
}

/** Resolves the links of a path; undefined if it does not exist or leads out of the folder. */
async function realPathBelow(folder: string, path: string, disk: ArchiveDisk): Promise<string | undefined> {
  try {
    const root = await disk.realpath(folder);
    let current = root;
    let parts = path.split(sep);
    for (let links = 0; parts.length > 0;) {
      const [part = "", ...rest] = parts;
      const next = join(current, part);
      if (part === stateFolderName) {
        return undefined;
      }
      if (!(await disk.lstat(next)).isSymbolicLink()) {
        current = next;
        parts = rest;
        continue;
      }
      links += 1;
      const target = resolve(dirname(next), await disk.readlink(next));
      const base = [root, folder].find((one) => isBelow(target, one));
      // A folder may be a link to another one in the folder; a saved file is never a link itself.
      if (base === undefined || rest.length === 0 || links > mostLinks) {
        return undefined;
      }
      current = root;
      parts = [...relative(base, target).split(sep), ...rest];
    }
    return current;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EINVAL" || code === "ENAMETOOLONG") {
      return undefined;
    }
    throw error;
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, resolve(path));
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
