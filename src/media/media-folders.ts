import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { partName } from "./file-names.ts";

const HOUR_MS = 3_600_000;
const LEFT_OVER_MS = 24 * HOUR_MS;

/**
 * What the saves of one process know of each other: which unfinished files are theirs, and where they have looked for
 * those that a killed process left. One object for all of a process's saves; without one, each save looks anew.
 */
export interface MediaFolders {
  /** Marks an unfinished file as being written, until the returned function is called. */
  own(part: string): () => void;
  /**
   * Removes unfinished files in this folder that are older than a day and nobody's here, once an hour at most. What
   * can't be removed stays; this never throws.
   */
  sweep(folder: string, disk: Disk): Promise<void>;
}

export function createMediaFolders(): MediaFolders {
  const owned = new Set<string>();
  const sweptAtMs = new Map<string, number>();

  async function removeIfLeftOver(path: string, nowMs: number, disk: Disk): Promise<void> {
    const stats = await disk.lstat(path);
    if (stats.isFile() && nowMs - stats.mtimeMs > LEFT_OVER_MS && !owned.has(path)) await disk.unlink(path);
  }

  return {
    own(part) {
      owned.add(part);
      return () => owned.delete(part);
    },
    async sweep(folder, disk) {
      const nowMs = Date.now();
      for (const [swept, atMs] of sweptAtMs) if (Math.abs(nowMs - atMs) >= HOUR_MS) sweptAtMs.delete(swept);
      if (sweptAtMs.has(folder)) return;
      sweptAtMs.set(folder, nowMs);
      try {
        const parts = (await disk.readdir(folder)).filter((name) => partName.test(name));
        await Promise.allSettled(parts.map((name) => removeIfLeftOver(join(folder, name), nowMs, disk)));
      } catch {
        // A folder that can be written but not listed keeps its leftovers.
      }
    },
  };
}
