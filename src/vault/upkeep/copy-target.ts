import type { Vault, NotPutFile } from "../vault.ts";
import type { FoundFile } from "../packages/package-files.ts";

/** A file of a package, as its manifest has it. */
export interface CopiedFile extends FoundFile {
  /** Its name in the package. */
  readonly path: string;
  readonly contentType: string | undefined;
}

/** A package that is to be copied. */
export interface CopiedPackage {
  /** Where it is: an absolute path. */
  readonly folder: string;
  /** Where it goes: below the folder of packages, with slashes. */
  readonly location: string;
  readonly manifest: FoundFile;
  readonly files: readonly CopiedFile[];
}

/** Why a file was not put into a copy: it is not what its manifest says, is not there, or the place is somebody else's. */
export interface NotPut {
  readonly what: NotPutFile | "taken";
  readonly path: string;
}

/**
 * Where packages are copied to, a folder or a bucket. Files are compared with what their manifest says before they are there. Methods reject
 * with ERR_STORE or ERR_FILE if the copy cannot be written, and with the system's error if the file cannot be read.
 */
export interface CopyTarget {
  readonly vault: Vault;
  /** Until when nobody without a special right can delete the packages; undefined: they can be deleted. */
  readonly retainUntil: Date | undefined;
  /**
   * Reads what is there below a location, and removes what runs that were interrupted more than a day ago have begun. Returns how much that was; null if it
   * cannot be known.
   */
  begin(below: string): Promise<number | null>;
  /** Shows that the packages are an archive of their own, also before they have a log. */
  mark(): Promise<void>;
  /** The lengths of the files in a folder, by their names: as `begin` has found them, or as they are now. */
  lengthsOf(location: string): Promise<ReadonlyMap<string, number>>;
  /** Puts a package there, so that it is there completely or not at all. Undefined if it is there now. */
  putPackage(one: CopiedPackage): Promise<NotPut | undefined>;
  close(): Promise<void>;
}
