/** The reports of the commands that maintain an archive, and of the library's functions for the same. */

/** Something that is not as it was archived. */
export interface Finding {
  readonly kind:
    | "base-missing"
    | "changed"
    | "checkpoint"
    | "database"
    | "hold"
    | "document"
    | "incomplete"
    | "index"
    | "log"
    | "manifest"
    | "missing"
    | "missing-package"
    | "not-logged"
    | "retention"
    | "stray"
    | "timestamp"
    | "unlisted"
    | "unreadable";
  /** Below the folder of packages, with slashes; of a finding in the database the database's file. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** What the verification of one package can find. Pages and reports have a text for each kind, in each language. */
export const packageFindingKinds = [
  "changed",
  "index",
  "document",
  "manifest",
  "missing",
  "missing-package",
  "not-logged",
  "retention",
  "stray",
  "timestamp",
  "unreadable",
] as const;

/** A finding of one package. */
export interface PackageFinding extends Finding {
  readonly kind: (typeof packageFindingKinds)[number];
}

/** Something that could not be checked. */
export interface Unchecked {
  readonly kind:
    | "base-package"
    | "checkpoint"
    | "database"
    | "later-packages"
    | "no-log"
    | "no-packages"
    | "no-timestamps"
    | "not-logged-yet"
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
    | "begun-anew"
    | "kept-here"
    | "log"
    | "neighbours"
    | "not-known"
    | "not-noted"
    | "not-there"
    | "other-log"
    | "other-folder"
    | "times"
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
  /** Of a package whose times do not fit together: which. */
  readonly times?: TimesInDoubt[];
}

/**
 * A time of a package: of a recording, of the measurement by the device's clock (as UTC, and as local time), when its message was
 * received, when it was archived, of a later line of the log, of the earliest time stamp, and until when the object store keeps it.
 */
export const packageTimes = [
  "accepted",
  "archived",
  "logged",
  "measured",
  "measuredLocal",
  "recorded",
  "retained",
  "stamped",
] as const;
export type PackageTime = (typeof packageTimes)[number];

/**
 * Two times of a package that do not fit together: what comes first is later than what comes then, or too long before it, or of a clock that
 * was never set.
 */
export interface TimesInDoubt {
  readonly first: PackageTime;
  /** As the package has it. */
  readonly firstAt: string;
  readonly second: PackageTime;
  readonly secondAt: string;
}

/** A verified time stamp that covers a package. */
export interface CoveringTimestamp {
  /** When it was signed, by the clock of its server: ISO 8601, UTC. */
  readonly atUtc: string;
  /** The name in the certificate of the signer. */
  readonly signer: string;
  /** The name of the root certificate that the signer was checked against; null if none was given. */
  readonly root: string | null;
  /** How many lines of the store's log were signed; the line of this package is one of them. */
  readonly logSize: number;
}

/** The newest valid time stamp of a log. */
export interface NewestTimestamp extends CoveringTimestamp {
  /** Its folder below the folder of packages, with slashes. */
  readonly location: string;
}

/** What a log says of a store, after a verification has read all of it. */
export interface CheckedLog {
  /** The ID of the store. */
  readonly store: string;
  /** How many packages it says were archived and not deleted since, and how many were deleted. */
  readonly packages: number;
  readonly pruned: number;
  /** How many are on hold. */
  readonly held: number;
  /** How many of its packages the newest valid time stamp covers, and how many not yet. */
  readonly covered: number;
  readonly uncovered: number;
  /** That time stamp; null if there is none. */
  readonly timestamp: NewestTimestamp | null;
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
  /** The logs that were read; empty for an export, and for packages that were verified on their own. */
  readonly logs: readonly CheckedLog[];
  readonly packages: number;
  readonly files: number;
  readonly bytes: number;
  /** Packages that were kept without all their media. */
  readonly incomplete: number;
  /** How many packages the index lists; null where no database says. */
  readonly expected: number | null;
  /** Only of a verification that was limited in time: how much of the store it and those before it have verified. */
  readonly part: VerifiedPart | null;
}

/** How much of a store was verified by verifications of a limited time, as its database knows it. */
export interface VerifiedPart {
  /** When the package was verified that was not for the longest time (ISO 8601, UTC); null if none ever was. */
  readonly oldestAtUtc: string | null;
  /** How many packages were never verified; of more than 10,000, 10,000 are counted. */
  readonly never: number;
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
  /** What has become of a rule about space; null without one. */
  readonly space: PrunedSpace | null;
}

/** What has become of a rule about space. */
export interface PrunedSpace {
  /** The bytes of all packages before the run, as the index has them: without manifests, which have a few kB each. */
  readonly usedBytes: number;
  /** Free on the disk before the run; null if it does not say, and for a bucket. */
  readonly freeBytes: number | null;
  /** How much more has to be deleted; 0 if there is enough space now. */
  readonly missingBytes: number;
  /** Why there is not enough space now; a sentence for people. Null if there is. */
  readonly problem: string | null;
  /** If nothing had to be deleted: in how many days something has to be, at the pace of the last seven days. Null if nothing came in these. */
  readonly daysLeft: number | null;
}

/** Something that a rebuild could not put into the index. */
export interface NotIndexed {
  readonly kind: "archive" | "damaged" | "log" | "refused" | "unknown" | "unreadable";
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

/** Something that could not be copied. */
export interface NotCopied {
  /** Below the folder of packages, with slashes. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** The result of copying packages to a bucket. */
export interface CopyReport {
  /** Packages that are in the copy now and were not before, or not as they were archived. */
  readonly copied: number;
  /** Packages that an earlier run had copied. */
  readonly alreadyThere: number;
  /** Each of them was given to `onNotCopied`. */
  readonly failed: number;
  /** Written to the copy. */
  readonly bytes: number;
  /**
   * What earlier runs that were interrupted had begun more than a day ago, and was removed now: uploads to a bucket, or folders; null if the
   * object store does not list them.
   */
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
  /** What kind of work it was: `packing`, `return`, `inspection` or a word of your own. */
  readonly work?: string | undefined;
  /** When they were archived: a text such as `2026-11-22`, `2026-11-01/2026-11-07`, `today` or `24h`. */
  readonly period?: string | undefined;
  /** Whether only those with a video are wanted. */
  readonly film?: boolean | undefined;
  /** Whether only those on hold are wanted, as the log of holds says. */
  readonly onHold?: boolean | undefined;
  /** Whether only those are wanted of which media are missing. */
  readonly incomplete?: boolean | undefined;
}

/** What a shop puts above the reports of an export. */
export interface ReportHeading {
  readonly name: string;
  /** One line. */
  readonly address?: string | undefined;
  /** The path of a PNG or JPEG file of at most 512 kB. */
  readonly logo?: string | undefined;
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
  /**
   * For how long packages are verified, in milliseconds: those that were damaged before, and those whose last verification is the oldest. The
   * database, which is needed then, notes when each was verified, so the next run goes on there. The log is checked as a whole.
   */
  readonly forMs?: number | undefined;
  /** Packages that were kept without all their media are no finding. */
  readonly allowIncomplete?: boolean | undefined;
  /** A PEM file with the root certificates that the signers of time stamps are checked against. */
  readonly timestampRoots?: string | undefined;
  /** Files with checkpoints of the log that were kept elsewhere: the log has to begin with what each of them is of. */
  readonly checkpoints?: readonly string[] | undefined;
  /** What is not as it was archived, as it is found; a promise is waited for. */
  readonly onFinding?: ((finding: Finding) => unknown) | undefined;
}

export interface PruneArchiveOptions extends ArchiveOptions {
  /** Packages archived before this are deleted; with a rule about space, none that was archived later. Needed without such a rule. */
  readonly before?: Date | undefined;
  /** How many bytes stay free on the disk of the packages: the oldest packages are deleted until they are. Not for a bucket. */
  readonly keepFree?: number | undefined;
  /** How many bytes all packages may have: the oldest are deleted until they have no more. */
  readonly useAtMost?: number | undefined;
  /** Deletes also where the clock of this computer and the archive contradict each other, which is ERR_CONFIG otherwise. */
  readonly despiteClock?: boolean | undefined;
  /** Only tells what would be deleted. */
  readonly dryRun?: boolean | undefined;
  /**
   * The file of the store's database, or the folder that holds it: it says what is due, and each deletion is in its log before it
   * happens.
   */
  readonly database: string;
  /** What became of each package that is old enough; a promise is waited for. */
  readonly onPackage?: ((one: PrunedPackage) => unknown) | undefined;
}

export interface RebuildIndexOptions extends ArchiveOptions {
  /** The database's file. */
  readonly database: string;
  /** The ID of the store whose log is used, where there are several beside the packages. */
  readonly log?: string | undefined;
  /** Begins a new log where the one beside the packages was lost: with the packages that are there, of which nothing else is known. */
  readonly newLog?: boolean | undefined;
  /** What could not be put into the index; a promise is waited for. */
  readonly onNotIndexed?: ((one: NotIndexed) => unknown) | undefined;
}

export interface CopyArchiveOptions extends ArchiveOptions {
  /** How many days nobody without a special right can delete the copies, in a bucket with Object Lock. */
  readonly retainDays?: number | undefined;
  /** The file of the store's database, or the folder that holds it: its log says then that there is a copy. */
  readonly database?: string | undefined;
  /** What was not copied, as it is found; a promise is waited for. */
  readonly onNotCopied?: ((one: NotCopied) => unknown) | undefined;
}
