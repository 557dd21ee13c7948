import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { isOwnPart, partName } from "./file-names.ts";

const hourMs = 3_600_000;
const leftOverMs = 24 * hourMs;

/**
 * What saves know of each other: where they have looked for the unfinished files that a killed process left. Whoever saves
 * again and again shares one; without one, each save looks anew.
 */
export interface MediaFolders {
  /**
   * Removes unfinished files in this folder that are older than a day and another process's, once an hour at most: a clock
   * that is put forward makes old what is being written. What can't be removed stays; this never throws.
   */
  sweep(folder: string, disk: Disk): Promise<void>;
}

export function createMediaFolders(): MediaFolders {
  const sweptAtMs = new Map<string, number>();

  async function removeIfLeftOver(path: string, nowMs: number, disk: Disk): Promise<void> {
    const stats = await disk.lstat(path);
    if (stats.isFile() && nowMs - stats.mtimeMs > leftOverMs) {
      await disk.unlink(path);
    }
  }

  return {
    async sweep(folder, disk) {
      const nowMs = Date.now();
      for (const [swept, atMs] of sweptAtMs) {
        if (Math.abs(nowMs - atMs) >= hourMs) {
          sweptAtMs.delete(swept);
        }
      }
      if (sweptAtMs.has(folder)) {
        return;
      }
      sweptAtMs.set(folder, nowMs);
      try {
        const parts = (await disk.readdir(folder)).filter((name) => partName.test(name) && !isOwnPart(name));
        await Promise.allSettled(parts.map((name) => removeIfLeftOver(join(folder, name), nowMs, disk)));
      } catch {
        // A folder that can be written but not listed keeps its leftovers.
      }
    },
  };
}
