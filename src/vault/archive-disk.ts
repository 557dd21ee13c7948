import * as fsPromises from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, ProblemError, problemOf } from "../errors/interpolation.ts";
import { diskError, fileError, systemCode, type Disk, type TransferFacts } from "../media/disk.ts";
import * as fs from "node:fs";
import { setImmediate } from "node:timers/promises";

/** The functions of node:fs/promises that the archive uses. Tests pass another one that is slow or fails. */
export type ArchiveDisk = Disk &
  Pick<typeof fsPromises, "opendir" | "readlink" | "rmdir" | "statfs" | "utimes">;

/** What reading a package asks of an open file. */
export interface ReadFile {
  stat(): Promise<{ readonly size: number; isFile(): boolean }>;
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number; readonly buffer: Buffer }>;
  close(): Promise<void>;
}

/** What reading a package asks about a file or a folder. */
export interface EntryFacts {
  readonly size: number;
  isDirectory(): boolean;
  isFile(): boolean;
}

/** The functions of node:fs/promises by which packages are read. A bucket has them as well. */
export interface ReadDisk {
  open(path: string, flags: number): Promise<ReadFile>;
  lstat(path: string): Promise<EntryFacts>;
  readdir(path: string): Promise<string[]>;
  opendir(path: string): Promise<AsyncIterable<{ readonly name: string; isDirectory(): boolean }>>;
  realpath(path: string): Promise<string>;
  /** Until when nobody can delete a file (Object Lock), in milliseconds since 1970; 0 if everybody can. Only buckets know. */
  retainedUntilMs?(path: string): Promise<number>;
}

/** The file system for the command-line tools, which may wait for the disk. */
export const plainDisk: ArchiveDisk = fsPromises;

/** The folder, in a store's folder, of its unfinished packages and its log of deleted ones. */
export const stateFolderName = ".dimensioner-archive";
/** The folder, in that one, of the media of open jobs. */
export const workFolderName = "work";
/** The folder, in the same one, of what no open job owns, and of media of jobs that have failed. */
export const asideFolderName = "aside";
/** In the same one: packages, or manifests of packages, that are being removed. */
export const trashFolderName = "trash";
export const manifestFileName = "manifest.json";
export const measurementFileName = "measurement.json";
export const rawFileName = "measurement.raw";

/** The file in a package that says to people that it is on hold. The log says it to the commands. */
export const holdFileName = "hold.json";
/** A file or folder of this name in a package keeps it from being pruned. */
export const holdName = /^hold(?:\.|$)/i;

/** The surface and the operation in the errors of an archive. */
export const diskFacts = {
  operation: "archive",
  surface: "disk",
  host: "archive",
} as const satisfies TransferFacts;

/** Converts the error of a file operation to the ERR_FILE that the archive ends in. */
export function asFileError(error: unknown, path: string, folder = dirname(path)): DimensionerError {
  const explained = diskError(error, path, diskFacts, folder);
  return explained instanceof DimensionerError
    ? explained
    : fileError("fileOther", path, diskFacts, problemOf(explained), explained);
}

/** Writes a small file and syncs it; an existing file of that name is overwritten, not safely. */
export async function writeDurably(path: string, content: string | Buffer, disk: ArchiveDisk): Promise<void> {
  const file = await disk.open(path, "w");
  try {
    await writeWhole(file, typeof content === "string" ? Buffer.from(content) : content, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes all bytes, because a single write may write only a part. */
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
 * Creates a folder in an existing one, and returns whether it was missing; its name is not synced. Throws ERR_FILE for
 * a link, which could lead anywhere.
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
 * Removes a file, or a folder and its content, if it exists; links are removed, not followed. It makes one call at a
 * time, because Node's own recursive removal gives the thread pool all files of a folder at once. `last`: the name of the file in the
 * folder that goes last.
 */
export async function removeTree(path: string, disk: ArchiveDisk, last?: string): Promise<void> {
  try {
    if (!(await disk.lstat(path)).isDirectory()) {
      await disk.unlink(path);
      return;
    }
    const names = await disk.readdir(path);
    for (const name of names.toSorted((one, other) => Number(one === last) - Number(other === last))) {
      await removeTree(join(path, name), disk);
    }
    await disk.rmdir(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") {
      throw error;
    }
  }
}

/** Whether there is nothing at a path, or nothing can be there, because its name is too long. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG";
}

/** The names in a folder; none if there is no such folder. */
export async function namesIn(folder: string, disk: Pick<ReadDisk, "readdir">): Promise<string[]> {
  try {
    return await disk.readdir(folder);
  } catch (error) {
    if (isAbsent(error)) {
      return [];
    }
    throw error;
  }
}

/**
 * The names in a folder of the archive's own one, which is named by its parts; none if there is no such folder. `root` has no links in it.
 * Throws ERR_FILE if a link is on the way, which could lead anywhere.
 */
export async function namesInState(
  root: string,
  parts: readonly string[],
  disk: Pick<ReadDisk, "readdir" | "realpath">,
): Promise<string[]> {
  const folder = join(root, stateFolderName, ...parts);
  const real = await disk.realpath(folder).catch((error: unknown) => {
    if (isAbsent(error)) {
      return null;
    }
    if (systemCode(error) === "ELOOP") {
      return undefined;
    }
    throw error;
  });
  if (real === null) {
    return [];
  }
  if (real !== folder) {
    throw fileError("fileOutside", folder, diskFacts);
  }
  return await namesIn(folder, disk);
}

/** Whether a folder is there, and no link is on the way to it. */
export async function isReal(folder: string, disk: Pick<ReadDisk, "realpath">): Promise<boolean> {
  try {
    return (await disk.realpath(folder)) === folder;
  } catch (error) {
    if (isAbsent(error) || systemCode(error) === "ELOOP") {
      return false;
    }
    throw error;
  }
}

export async function exists(path: string, disk: Pick<ReadDisk, "lstat">): Promise<boolean> {
  try {
    await disk.lstat(path);
    return true;
  } catch (error) {
    if (isAbsent(error)) {
      return false;
    }
    throw error;
  }
}

/** How many names of a folder are read at once: one folder may have a million. */
const namesAtOnce = 1_000;
/** After so long, what else the thread has to do gets its turn, such as to hear that it should stop. */
const turnEveryMs = 25;

/**
 * The file system for a thread or a process that has nothing else to do: each call waits for the disk. Handing a call over to another
 * thread costs several times what reading a small file does.
 */
export class BlockingDisk implements ReadDisk {
  #turnedAt = performance.now();

  async open(path: string, flags: number): Promise<ReadFile> {
    await this.#turn();
    return new BlockingFile(fs.openSync(path, flags), () => this.#turn());
  }

  async lstat(path: string): Promise<EntryFacts> {
    return fs.lstatSync(path);
  }

  async readdir(path: string): Promise<string[]> {
    return fs.readdirSync(path);
  }

  async opendir(path: string): ReturnType<ReadDisk["opendir"]> {
    return entriesOf(fs.opendirSync(path, { bufferSize: namesAtOnce }));
  }

  async realpath(path: string): Promise<string> {
    return fs.realpathSync.native(path);
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#turnedAt > turnEveryMs) {
      await setImmediate();
      this.#turnedAt = performance.now();
    }
  }
}

async function* entriesOf(folder: fs.Dir): AsyncGenerator<fs.Dirent> {
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      yield entry;
    }
  } finally {
    folder.closeSync();
  }
}

class BlockingFile implements ReadFile {
  readonly #file: number;
  readonly #turn: () => Promise<void>;

  constructor(file: number, turn: () => Promise<void>) {
    this.#file = file;
    this.#turn = turn;
  }

  async stat(): Promise<EntryFacts> {
    return fs.fstatSync(this.#file);
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number; readonly buffer: Buffer }> {
    await this.#turn();
    return { bytesRead: fs.readSync(this.#file, buffer, offset, length, position), buffer };
  }

  async close(): Promise<void> {
    fs.closeSync(this.#file);
  }
}
