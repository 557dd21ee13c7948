/** The reports of the commands that maintain an archive, and of the library's functions for the same. */

/** Something that is not as it was archived. */
export interface Finding {
  readonly kind:
    | "base-missing"
    | "begun-twice"
    | "changed"
    | "database"
    | "incomplete"
    | "index"
    | "manifest"
    | "missing"
    | "missing-package"
    | "previous-changed"
    | "previous-missing"
    | "stray"
    | "timestamp"
    | "two-successors"
    | "unlisted"
    | "unreadable";
  /** Below the folder of packages, with slashes; of a finding in the database the database's file. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** What the verification of one package can find. Pages and reports have a text for each kind, in each language. */
export interface PackageFinding extends Finding {
  readonly kind:
    | "changed"
    | "manifest"
    | "missing"
    | "missing-package"
    | "previous-changed"
    | "stray"
    | "timestamp"
    | "unreadable";
}

/** Something that could not be checked. */
export interface Unchecked {
  readonly kind:
    | "base-package"
    | "database"
    | "earlier-packages"
    | "later-packages"
    | "no-packages"
    | "no-timestamps"
    | "some-packages"
    | "timestamp-signer";
  /** Below the folder of packages, with slashes; empty for the folder itself. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** Something that somebody may want to know, and that is not wrong. */
export interface ArchiveNote {
  readonly kind:
    | "aside"
    | "earlier-version"
    | "kept-here"
    | "neighbours"
    | "not-known"
    | "other-folder"
    | "timestamp"
    | "trash"
    | "uploads"
    | "work";
  /** Below the folder of packages, with slashes; of a note on a database its file. */
  readonly path: string;
  /** A sentence for people. */
  readonly text: string;
  /** Of a verified package: the earliest valid time stamp that covers it; null if there is none. */
  readonly timestamp?: CoveringTimestamp | null;
}

/** A verified time stamp that covers a package. */
export interface CoveringTimestamp {
  /** When it was signed, by the clock of its server: ISO 8601, UTC. */
  readonly atUtc: string;
  /** The name in the certificate of the signer. */
  readonly signer: string;
  /** The name of the root certificate that the signer was checked against; null if none was given. */
  readonly root: string | null;
  /** How many manifests lead from the one that was signed to this package; 0: it is this package's own. */
  readonly links: number;
}

/** The progress of a command. */
export interface ArchiveProgress {
  readonly packages: number;
  readonly bytes: number;
  /** How many packages, and bytes in them, the index lists; null where nobody knows. */
  readonly expectedPackages: number | null;
  readonly expectedBytes: number | null;
}

/**
 * `ok`: all is as it was archived. `wrong`: something is not. `unchecked`: what could be checked is, but not all could be.
 */
export type Verdict = "ok" | "unchecked" | "wrong";

/** The result of a verification. */
export interface VerifyReport {
  readonly verdict: Verdict;
  /** How many findings there were; each was given to `onFinding`. */
  readonly findings: number;
  readonly unchecked: readonly Unchecked[];
  readonly notes: readonly ArchiveNote[];
  readonly packages: number;
  readonly files: number;
  readonly bytes: number;
  /** Packages that were kept without all their media. */
  readonly incomplete: number;
  /** How many packages the index lists; null where no database says. */
  readonly expected: number | null;
}

/**
 * What pruning did with a package that is old enough to be deleted, or with a folder of a bucket that belongs to no package:
 * `leftover` if that was removed.
 */
export interface PrunedPackage {
  readonly what: "deleted" | "failed" | "held" | "kept" | "leftover";
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Why it was kept, or could not be deleted; what a leftover was left of. */
  readonly reason?: string;
}

/** The result of pruning. */
export interface PruneReport {
  readonly deleted: number;
  readonly held: number;
  readonly kept: number;
  readonly failed: number;
  /** Of the packages that were deleted. */
  readonly bytes: number;
  /** Folders of a bucket that were removed because they belonged to no package, such as those of interrupted uploads. */
  readonly leftovers: number;
  /** Why what belongs to no package was not searched for to the end; null where it was, and for a folder. */
  readonly leftoversKept: string | null;
  /** Rows that were removed from the index; null without a database, or where it could not be written. */
  readonly rowsRemoved: number | null;
  /** Why rows stay in the index; null where none had to. The next run removes them. */
  readonly rowsKept: string | null;
}

/** Something that a rebuild could not put into the index. */
export interface NotIndexed {
  readonly kind: "archive" | "copy" | "damaged" | "refused" | "unreadable";
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** The result of a rebuild. */
export interface RebuildReport {
  /** `made`: there was none, or a damaged one. `completed`: it was whole, and all in it has stayed. */
  readonly database: "completed" | "made";
  /** Where the damaged one is now; null where there was none. */
  readonly movedTo: string | null;
  /** Packages that the index lists now, as their manifests say. */
  readonly packages: number;
  readonly bytes: number;
  /** How many could not be put into the index; each was given to `onNotIndexed`. */
  readonly notIndexed: number;
  /** What the packages cannot say, and what else lies in the folder. */
  readonly notes: readonly ArchiveNote[];
}

/** Something that could not be copied to a bucket. */
export interface NotCopied {
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** The result of copying packages to a bucket. */
export interface CopyReport {
  /** Packages that are in the bucket now and were not before. */
  readonly copied: number;
  /** Packages that an earlier run had copied. */
  readonly alreadyThere: number;
  /** Each of them was given to `onNotCopied`. */
  readonly failed: number;
  /** Sent to the bucket. */
  readonly bytes: number;
  /** Uploads of earlier runs that were never completed, and were ended now; null if the store does not list them. */
  readonly endedUploads: number | null;
}

/**
 * What packages are looked up by; `text` is any part of references, barcodes, transaction IDs and names of devices, of which each word has to
 * be there, `size` sides or a weight.
 */
export type PackageLookup =
  | "all"
  | "barcode"
  | "packageId"
  | "period"
  | "reference"
  | "size"
  | "text"
  | "transactionId";

/** What else is true of the packages that are looked up. */
export interface PackageFilter {
  /** The name of the device, as the packages have it. */
  readonly device?: string | undefined;
  /** When they were archived: a text such as `2026-11-22`, `2026-11-01/2026-11-07`, `today` or `24h`. */
  readonly period?: string | undefined;
  /** Whether only those with a video are wanted. */
  readonly film?: boolean | undefined;
  /** Whether only those on hold are wanted, as the log of holds says. */
  readonly onHold?: boolean | undefined;
  /** Whether only those are wanted of which media are missing. */
  readonly incomplete?: boolean | undefined;
}

/** Options of all three commands. */
export interface ArchiveOptions {
  /** Called some times a second, and once at the end. */
  readonly onProgress?: ((progress: ArchiveProgress) => void) | undefined;
  /** Aborting ends it with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

export interface VerifyArchiveOptions extends ArchiveOptions {
  /**
   * The file of the store's database, or of each store that uses the folder; or the folder that holds them: then those that name this folder
   * of packages.
   */
  readonly database?: string | readonly string[] | undefined;
  /** Packages that were kept without all their media are no finding. */
  readonly allowIncomplete?: boolean | undefined;
  /** A PEM file with the root certificates that the signers of time stamps are checked against. */
  readonly timestampRoots?: string | undefined;
  /** What is not as it was archived, as it is found; a promise is waited for. */
  readonly onFinding?: ((finding: Finding) => unknown) | undefined;
}

export interface PruneArchiveOptions extends ArchiveOptions {
  /** Packages archived before this are deleted. */
  readonly before: Date;
  /** Only tells what would be deleted. */
  readonly dryRun?: boolean | undefined;
  /**
   * The file of the store's database, or the folder that holds it: rows of deleted packages are removed from its index. In a
   * bucket, it also says what belongs to no package.
   */
  readonly database?: string | undefined;
  /** What became of each package that is old enough; a promise is waited for. */
  readonly onPackage?: ((one: PrunedPackage) => unknown) | undefined;
}

export interface RebuildIndexOptions extends ArchiveOptions {
  /** The database's file. */
  readonly database: string;
  /** What could not be put into the index; a promise is waited for. */
  readonly onNotIndexed?: ((one: NotIndexed) => unknown) | undefined;
}

export interface CopyArchiveOptions extends ArchiveOptions {
  /** How many days nobody without a special right can delete the copies, in a bucket with Object Lock. */
  readonly retainDays?: number | undefined;
  /** What was not copied, as it is found; a promise is waited for. */
  readonly onNotCopied?: ((one: NotCopied) => unknown) | undefined;
}
