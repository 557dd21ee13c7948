import type { LogLine } from "../../database/log-table.ts";
import type { ReadDisk } from "../archive-disk.ts";

/** A file that somebody is sent, whole or in part. */
export interface SentFile {
  readonly bytes: number;
  /** Reads the bytes from the first to the last one, both included. */
  read(first: number, last: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/**
 * The files of an archive, opened: a folder or a bucket. Packages are read by `disk`; these methods are the only ones that
 * change what is archived. All paths are absolute on `disk`. They reject with the system's error, or with ERR_STORE.
 */
export interface ArchiveFiles {
  readonly kind: "folder" | "s3";
  readonly disk: ReadDisk;
  /** The folder of packages on `disk`, without links. */
  readonly root: string;
  /** For people: the path of the folder of packages, or `s3://bucket/prefix`. */
  readonly name: string;
  /** The path or address by which people know a package or a file of it; `location` is below the root, with slashes. */
  addressOf(location: string): string;
  /**
   * Opens a plain file to send it, or a part of it: a bucket sends no more of it than is read, and with `isWhole` all of it at
   * once. Undefined if there is none.
   */
  openToSend(path: string, isWhole: boolean): Promise<SentFile | undefined>;
  /** Writes a small file. It is there completely or not at all, and replaces one of its name. */
  write(path: string, content: string | Buffer): Promise<void>;
  /** Writes a new folder of small files. In a bucket the last file comes last. */
  writeFolder(path: string, files: readonly (readonly [name: string, content: Buffer])[]): Promise<void>;
  /** Removes a file if it is there. */
  remove(path: string): Promise<void>;
  /** To be called before a database says that its packages are here: from then on the folder of its log is, whatever it contains. */
  beginLog(store: string): Promise<void>;
  /**
   * Adds lines to the log of a store, durably: to a file of the writer, or in a bucket, where nothing can be added to a file, as an
   * object of their own. The lines are in the order of their numbers.
   */
  appendLog(store: string, writer: string, lines: readonly LogLine[]): Promise<void>;
  /**
   * Makes one object of each full block of lines below a number, where each addition is an object, and removes those that have come into
   * it. `linesOf`: all lines from a number up to another one, which is not included. Returns false if nothing can be removed. In a folder
   * there is nothing to do. A kill leaves lines that are there twice.
   */
  compactLog(
    store: string,
    size: number,
    linesOf: (first: number, end: number) => Promise<readonly LogLine[]>,
  ): Promise<boolean>;
  /**
   * Removes a package, so that nobody takes what is left of it after a kill for a package. `start`: folders above it that
   * become empty are removed as far as this one. Returns false if it stays, because a hold lies in it that was set at the last moment.
   */
  removePackage(folder: string, start: string): Promise<boolean>;
  /** Ends all requests to a bucket. */
  close(): Promise<void>;
}
