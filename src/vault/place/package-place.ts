import type { Condition, Statement } from "../../database/database.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import type { Manifest } from "../packages/manifest.ts";
import type { IndexKeys } from "../packages/package-index.ts";

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

/** Where packages get their names: a folder, by a rename, or a bucket, by the upload of the manifest. */
export interface PackagePlace {
  readonly files: ArchiveFiles;
  /** The same for the same place. Rejects with ERR_FILE. */
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
  retainUntil(job: string): Date | null;
  /**
   * Brings the files of a package where they have to be, and gives it its name: from then on it exists, complete. An existing package
   * that is the same one is returned instead. Throws ERR_FILE, ERR_STORE, ERR_CANCELLED if another worker has the job, or the system's
   * error; if `maybePlaced` was called before, the package may have its name nevertheless, unless what that returned was called.
   */
  place(
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
