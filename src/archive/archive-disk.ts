import * as fsPromises from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, ProblemError, problemOf } from "../errors/interpolation.ts";
import { diskError, fileError, systemCode, type Disk, type TransferFacts } from "../media/disk.ts";

/** The file system as the archive uses it. Another one can be passed, to slow it down or to make it fail. */
export type ArchiveDisk = Disk & Pick<typeof fsPromises, "readlink" | "rmdir" | "utimes">;

/** The file system as the command-line tools use it: they may wait for it. */
export const plainDisk: ArchiveDisk = fsPromises;

/** Where a store keeps its unfinished packages and the log of deleted ones, below its folder. */
export const stateFolderName = ".dimensioner-archive";
export const pruneLogName = "pruned.jsonl";
export const manifestFileName = "manifest.json";
export const measurementFileName = "measurement.json";
export const rawFileName = "measurement.raw";

/** A file or folder of this name in a package keeps it from being pruned. */
export const holdName = /^hold(?:\.|$)/i;

/** What the errors of an archive say of where they come from. */
export const diskFacts = {
  operation: "archive",
  surface: "disk",
  host: "archive",
} as const satisfies TransferFacts;

/** Every failed file operation as the ERR_FILE that the archive ends in. */
export function asFileError(error: unknown, path: string, folder = dirname(path)): DimensionerError {
  const explained = diskError(error, path, diskFacts, folder);
  return explained instanceof DimensionerError
    ? explained
    : fileError("fileOther", path, diskFacts, problemOf(explained), explained);
}

/** Writes a small file and waits until it is on the disk; a file of that name is replaced, not safely. */
export async function writeDurably(path: string, text: string, disk: ArchiveDisk): Promise<void> {
  const file = await disk.open(path, "w");
  try {
    await writeWhole(file, Buffer.from(text), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes all bytes: a single write may be short. */
export async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) {
      throw new ProblemError(phrase("diskTakesNothing"));
    }
    done += bytesWritten;
  }
}

/**
 * Makes a folder in one that exists, and says whether it was not there; its name is not synced. Throws ERR_FILE for a link: it
 * could lead anywhere.
 */
export async function makeStateFolder(path: string, disk: ArchiveDisk): Promise<boolean> {
  try {
    await disk.mkdir(path);
    return true;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
    if (!(await disk.lstat(path)).isDirectory()) {
      throw fileError("fileOutside", path, diskFacts);
    }
    return false;
  }
}

/**
 * Removes what stands at a path, if there is anything, and what is in it; links are removed, not followed. One call at a time:
 * Node's own recursive removal sends a folder's files to the thread pool all at once.
 */
export async function removeTree(path: string, disk: ArchiveDisk): Promise<void> {
  try {
    if (!(await disk.lstat(path)).isDirectory()) {
      await disk.unlink(path);
      return;
    }
    for (const name of await disk.readdir(path)) {
      await removeTree(join(path, name), disk);
    }
    await disk.rmdir(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") {
      throw error;
    }
  }
}

export async function exists(path: string, disk: ArchiveDisk): Promise<boolean> {
  try {
    await disk.lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") {
      return false;
    }
    throw error;
  }
}
