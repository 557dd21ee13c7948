import { dirname, join } from "node:path";
import { systemCode, type Disk } from "./disk.ts";
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
  /** Remembers an unfinished file of this process that could not be removed; the next sweep of its folder tries again. */
  leave(part: string): void;
}

export function createMediaFolders(): MediaFolders {
  /** The folder that was swept longest ago comes first. */
  const sweptAtMs = new Map<string, number>();
  const leftParts = new Map<string, string[]>();

  async function removeIfLeftOver(path: string, nowMs: number, disk: Disk): Promise<void> {
    const stats = await disk.lstat(path);
    if (stats.isFile() && nowMs - stats.mtimeMs > leftOverMs) {
      await disk.unlink(path);
    }
  }

  async function removeLeft(parts: readonly string[], disk: Disk): Promise<void> {
    for (const part of parts) {
      await disk.unlink(part).catch((error: unknown) => {
        if (systemCode(error) !== "ENOENT") {
          leave(part);
        }
      });
    }
  }

  function leave(part: string): void {
    const folder = dirname(part);
    leftParts.set(folder, [...(leftParts.get(folder) ?? []), part]);
  }

  return {
    leave,
    async sweep(folder, disk) {
      const nowMs = Date.now();
      const left = leftParts.get(folder);
      if (left !== undefined) {
        leftParts.delete(folder);
        await removeLeft(left, disk);
      }
      for (const [swept, atMs] of sweptAtMs) {
        if (Math.abs(nowMs - atMs) < hourMs) {
          break;
        }
        sweptAtMs.delete(swept);
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
