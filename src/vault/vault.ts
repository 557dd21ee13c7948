import type { LogLine } from "../database/log-table.ts";
import type { ReadDisk } from "./archive-disk.ts";
import type { Space } from "../media/disk-guard.ts";
import type { FoundFile, FoundManifest } from "./packages/package-files.ts";
import type { Condition, Statement } from "../database/database.ts";
import type { PlacedPackage } from "./packages/intent.ts";
import type { Manifest } from "./packages/manifest.ts";
import type { IndexKeys } from "./packages/package-index.ts";

/** A file that somebody is sent, whole or in part. */
export interface SentFile {
  readonly bytes: number;
  /** Reads the bytes from the first to the last one, both included. */
  read(first: number, last: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** A file that is put into an archive: what its content has to be, and what a bucket notes of it. */
export interface PutFile extends FoundFile {
  readonly contentType?: string | undefined;
  /** Until when nobody without a special right can delete it from a bucket (Object Lock). */
  readonly retainUntil?: Date | undefined;
}

/** Why a file was not put there: it is not what was expected, or is not there. */
export type NotPutFile = "changed" | "missing";

/** A file with the time at which it was stored, in milliseconds since 1970. */
export interface StoredFile {
  readonly path: string;
  readonly storedAtMs: number;
}

/**
 * Where the packages of a store are, opened: a folder or a bucket. Packages are read by `disk`; these methods are the only ones that
 * change what is archived, besides a `Committer`, which gives new packages their names. All paths are absolute on `disk`. They reject with the system's error, or with ERR_STORE.
 */
export interface Vault {
  readonly kind: "folder" | "s3";
  /** How many packages are read at the same time: a disk hardly becomes faster, and an object store is waited for. */
  readonly readsAtOnce: number;
  /** How many are hashed, or removed, at the same time. */
  readonly worksAtOnce: number;
  /**
   * Whether a package comes and goes file by file: then what is not a package yet, or not any more, is seen among the packages. In a folder it
   * gets and loses its name in one step.
   */
  readonly showsUnfinished: boolean;
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
  /**
   * Puts a copy of the file `from` of another disk there, or in the place of one of its name. It is there completely or not at all, and
   * durable; undefined if it is there. A link in a folder on the way to it rejects with ERR_FILE, as does a disk that cannot be written.
   */
  putFile(
    from: string,
    path: string,
    expected: PutFile,
    source: Pick<ReadDisk, "open">,
  ): Promise<NotPutFile | undefined>;
  /**
   * The SHA-256 of a file, in a bucket as its writer has noted it; undefined if there is none. One with more than `most` bytes is not the
   * one that is sought, and is not read to its end.
   */
  sha256Of(path: string, most: number): Promise<string | undefined>;
  /** The files two levels below a folder of the archive's own one, some at a time. */
  filesBelow(folder: string): AsyncIterable<readonly StoredFile[]>;
  /** Removes a file if it is there. */
  remove(path: string): Promise<void>;
  /** Removes a folder if there is nothing in it. A bucket has none. */
  removeEmpty(folder: string): Promise<void>;
  /**
   * The time by this computer's clock, or by the one that tells when something was stored here, if that is earlier: one of the two may be
   * ahead. In a folder that is as late as something was last begun in it.
   */
  leastTimeMs(): Promise<number>;
  /** Removes what `putFile` has begun before a time and a kill has interrupted. Returns how much that was; null if it cannot be known. */
  removeInterrupted(beforeMs: number): Promise<number | null>;
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
  /**
   * Ends removals that a kill has interrupted. `isDeleted`: whether a log says that a package was deleted. All others stay, as do those
   * that are on hold: returns their paths, from the archive's folder. Rejects with ERR_FILE if what is being removed lies behind a link.
   */
  emptyTrash(isDeleted: (found: FoundManifest) => Promise<boolean>): Promise<readonly string[]>;
  /** Until when nobody can delete all of a package (Object Lock), in milliseconds since 1970; 0 if everybody can. */
  retainedUntilMs(folder: string): Promise<number>;
  /** What is free and what there is where the packages are; undefined where that is not said, as by an object store. */
  space(): Promise<Space | undefined>;
  /** Ends all requests to a bucket. */
  close(): Promise<void>;
}

/** A package with its final name. */
export interface FoundPackage extends PlacedPackage {
  readonly manifest: Manifest;
}

/** A file of a package, as it is in the work folder. */
export interface SealedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Undefined where it is not known. */
  readonly contentType?: string | undefined;
}

/** A sealed job: all that its package will be. */
export interface SealedPackage {
  readonly job: string;
  /** The folder on this computer's disk that contains them. */
  readonly folder: string;
  /** The folder that the layout names for the package, in its parts. */
  readonly parts: readonly string[];
  /** Its files without its manifest. */
  readonly files: readonly SealedFile[];
  readonly manifest: SealedFile;
  /** As `retainUntil` has returned it. */
  readonly retainUntil: Date | null;
}

/** To be called before a package gets its name. What it returns is to be called if it certainly has not got it. */
export type MaybePlaced = (path: string) => () => void;

/** How an existing package is recognised that contains everything of a new one. */
export interface SamePackage {
  /** The key of the new one: the same one has the same key. */
  readonly key: string;
  readonly keyOf: (manifest: Manifest) => string;
  readonly isSame: (manifest: Manifest) => boolean;
}

/** How a package is noted in the database, in one transaction. */
export interface NotedPackage {
  /** Whether the job may end with this package. */
  readonly condition: Condition;
  /** Adds the package to the index, after the statement that gives the job its location. */
  readonly statements: readonly Statement[];
}

/** What gives packages their names in a vault, for the jobs of one worker: by a rename in a folder, by the upload of the manifest in a bucket. */
export interface Committer {
  readonly vault: Vault;
  /** The same for the same vault. Rejects with ERR_FILE. */
  key(): Promise<string>;
  /**
   * Returns the manifest of a package whose files are all as it was archived. Undefined if there is no package, "damaged" if
   * it is not what was archived. Throws ERR_FILE and ERR_STORE.
   */
  find(placed: PlacedPackage): Promise<Manifest | "damaged" | undefined>;
  /** Finds the package that an attempt at a job has placed before its process ended. Throws ERR_FILE and ERR_STORE. */
  seek(job: string, parts: readonly string[]): Promise<FoundPackage | undefined>;
  /**
   * Until when nobody without a special right will be able to delete the package of a job (Object Lock), so that its manifest can say it;
   * null if everybody can. It is the same for all attempts of a process whose files are used again.
   */
  retainUntil(job: string): Promise<Date | null>;
  /**
   * Brings the files of a package where they have to be, and gives it its name: from then on it exists, complete. An existing package
   * that is the same one is returned instead. Throws ERR_FILE, ERR_STORE, ERR_CANCELLED if another worker has the job, or the system's
   * error; if `maybePlaced` was called before, the package may have its name nevertheless, unless what that returned was called.
   */
  commit(
    sealed: SealedPackage,
    same: SamePackage,
    maybePlaced: MaybePlaced,
  ): Promise<FoundPackage | { readonly path: string }>;
  /**
   * How a placed package is noted in the database. `known`: the ids of the packages with the same keys that it was compared
   * with; with any other, it may not be the package of its job.
   */
  note(found: FoundPackage, keys: IndexKeys, known: readonly string[]): NotedPackage;
  /**
   * Gives up a package that could not be noted, or may not have its name. Returns false if it stays nevertheless: it has its
   * name in a folder, or another worker has noted it. Rejects with ERR_FILE or ERR_STORE.
   */
  discard(placed: PlacedPackage): Promise<boolean>;
  /** To be called when a job has ended, or another worker has it. */
  forget(job: string): void;
}
