import { dirname, join } from "node:path";
import { systemCode, type Disk } from "./disk.ts";
import { isOwnPart, partName } from "./file-names.ts";

const hourMs = 3_600_000;
const leftOverMs = 24 * hourMs;

/**
 * The state that saves share: which folders were searched for the unfinished files of a killed process. Without a
 * shared state, each save searches anew.
 */
export interface MediaFolders {
  /**
   * Removes files of other processes that are unfinished for more than a day, at most once an hour in each folder: a
   * clock that is put forward makes files look old that are being written. A file that cannot be removed stays; this
   * never throws.
   */
  sweep(folder: string, disk: Disk): Promise<void>;
  /**
   * Remembers an unfinished file of this process that could not be removed; the next sweep of its folder tries again.
   */
  addLeftover(part: string): void;
}

export function createMediaFolders(): MediaFolders {
  /** By folder, the one that was swept longest ago first. */
  const sweptAtMs = new Map<string, number>();
  const leftParts = new Map<string, string[]>();

  async function removeIfLeftOver(path: string, nowMs: number, disk: Disk): Promise<void> {
    const stats = await disk.lstat(path);
    if (stats.isFile() && nowMs - stats.mtimeMs > leftOverMs) {
      await disk.unlink(path);
    }
  }

  async function removeLeftovers(parts: readonly string[], disk: Disk): Promise<void> {
    for (const part of parts) {
      await disk.unlink(part).catch((error: unknown) => {
        if (systemCode(error) !== "ENOENT") {
          addLeftover(part);
        }
      });
    }
  }

  function addLeftover(part: string): void {
    const folder = dirname(part);
    leftParts.set(folder, [...(leftParts.get(folder) ?? []), part]);
  }

  return {
    addLeftover,
    async sweep(folder, disk) {
      const nowMs = Date.now();
      const left = leftParts.get(folder);
      if (left !== undefined) {
        leftParts.delete(folder);
        await removeLeftovers(left, disk);
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
        // A folder that can be written but not listed keeps its unfinished files.
      }
    },
  };
}
