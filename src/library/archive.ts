import { checkArguments } from "../errors/check.ts";
import { saveExport } from "../evidence/export/export-packages.ts";
import { listMissing as listMissingIn } from "../evidence/missing.ts";
import * as packages from "../evidence/packages.ts";
import { withPackages, withSource } from "../evidence/packages.ts";
import type {
  ArchiveOptions,
  PackageFilter,
  PackageLookup,
  PruneArchiveOptions,
  PruneReport,
  ReportHeading,
  RebuildIndexOptions,
  RebuildReport,
  VerifyArchiveOptions,
  VerifyReport,
} from "../model/archive-reports.ts";
import type {
  EvidencePackage,
  MissingEvidence,
  SavedFile,
  TimestampResult,
  VerifyResult,
} from "../model/shapes.ts";
import type { Language } from "../rules/languages.ts";
import * as commands from "../vault/upkeep/upkeep.ts";
import { TimestampServer, type TimestampServerOptions } from "../vault/timestamp-server/client.ts";
import {
  exportArguments,
  findArguments,
  holdArguments,
  missingArguments,
  nameArguments,
  pruneArguments,
  rebuildArguments,
  timestampArguments,
  verifyArguments,
} from "./arguments.ts";

/**
 * Checks the packages in a folder or a bucket, as `dimensioner verify` does: packages are only read, and Node-RED may be writing. The database
 * notes when each was verified. Findings go to `onFinding`; what could not be checked is in the report.
 *
 * Rejects with ERR_CONFIG (a blank folder), ERR_INPUT (an argument that cannot be right), ERR_FILE (no such folder, denied) and
 * ERR_CANCELLED.
 *
 *     const { verdict } = await verifyArchive("/srv/archive", { database: "/data/dimensioner", onFinding: console.log });
 */
export async function verifyArchive(
  folder: string,
  options: VerifyArchiveOptions = {},
): Promise<VerifyReport> {
  checkArguments({ surface: "disk", operation: "verify" }, { folder, options }, verifyArguments);
  return commands.verifyArchive(folder, options);
}

/**
 * Deletes packages because of their age, or the oldest because space is needed, as `dimensioner prune` does; of a bucket also what belongs to no package. What became of each goes to
 * `onPackage`. Where the index cannot be written the packages are deleted all the same, and the report says why their rows stay.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE (no such folder, denied), ERR_STORE (the bucket) and ERR_CANCELLED, between two packages.
 *
 *     await pruneArchive("/srv/archive", { before: new Date(Date.now() - 90 * 86_400_000), dryRun: true });
 */
export async function pruneArchive(folder: string, options: PruneArchiveOptions): Promise<PruneReport> {
  checkArguments(
    { surface: "disk", operation: "prune" },
    { folder, options },
    pruneArguments({ ...options }),
  );
  return commands.pruneArchive(folder, options);
}

/**
 * Puts the packages of a folder into the index of a database, as `dimensioner rebuild` does; a damaged database is moved aside. No other
 * process may have it open. What could not be put there goes to `onNotIndexed`.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE (no such folder, denied), ERR_STORE (the database is in use, of a newer version, of
 * another folder, or of something else) and ERR_CANCELLED; then nothing has changed, or some rows of a whole database.
 *
 *     const { movedTo } = await rebuildIndex("/srv/archive", { database: "/data/dimensioner/a1b2.sqlite" });
 */
export async function rebuildIndex(folder: string, options: RebuildIndexOptions): Promise<RebuildReport> {
  checkArguments({ surface: "store", operation: "rebuild" }, { folder, options }, rebuildArguments);
  return commands.rebuildIndex(folder, options);
}

/** Which packages of a store. */
export interface FindPackagesOptions {
  /** The file of the store's database, or the folder that holds it. Node-RED may have it open. */
  readonly database: string;
  /** What `value` is; `text` is any part of references, barcodes, transaction IDs and device names, each of its words. */
  readonly by: PackageLookup;
  /** What is looked up; of a `period` a text such as `2026-11-22`, `2026-11-01/2026-11-07`, `today` or `24h`. */
  readonly value?: string | undefined;
  /** What else is true of the packages. */
  readonly filter?: PackageFilter | undefined;
  /** How many packages at most; 100 if it is not given. */
  readonly limit?: number | undefined;
}

/** Which packages are put on hold or released, why, and by whom. */
export interface HoldPackagesOptions extends FindPackagesOptions {
  readonly reason: string;
  readonly person?: string | undefined;
}

/** Which numbers are added to which package, by whom, and where they come from. */
export interface AddNumbersOptions extends Omit<FindPackagesOptions, "filter" | "limit"> {
  readonly numbers: readonly string[];
  readonly reason?: string | undefined;
  readonly person?: string | undefined;
}

/** Of which period what is missing is listed. */
export interface ListMissingOptions {
  /** As in `FindPackagesOptions`. */
  readonly database: string;
  /** A text such as `2026-11-22`, `2026-11-01/2026-11-07`, `today` or `24h`. */
  readonly period: string;
  /** How many at most; 100 if it is not given. */
  readonly limit?: number | undefined;
}

/** Which packages are exported, and where to. */
export interface ExportPackagesOptions extends FindPackagesOptions, ArchiveOptions {
  /** The folder that the ZIP is saved in. It must exist, and be outside of the packages. */
  readonly to: string;
  /** May contain sub-folders, which are created. If it is not given: a name made of the reference. */
  readonly filename?: string | undefined;
  /** `rename` (a number behind the name; this if it is not given), `replace` or `error`. */
  readonly ifExists?: "error" | "rename" | "replace" | undefined;
  /** Of the reports; `en-US` if it is not given. */
  readonly language?: Language | undefined;
  /** A PEM file with the root certificates that the signers of time stamps are checked against. */
  readonly timestampRoots?: string | undefined;
  /** Above the reports. */
  readonly heading?: ReportHeading | undefined;
  /** The number of the claim that the export is for, in the reports; at most 100 characters. */
  readonly claim?: string | undefined;
}

/** A ZIP with packages, and what was found when they were verified. */
export interface ExportedPackages extends SavedFile {
  readonly verification: VerifyResult;
}

const defaultLimit = 100;

/**
 * Finds packages in the index of a store, the newest first, and reads each from its folder. In the place of a folder, this and the
 * other functions take the address of a bucket: `s3://bucket/prefix?endpoint=https://s3.example.com`.
 *
 * Rejects with ERR_CONFIG (a blank folder), ERR_INPUT, ERR_FILE (no such folder, denied) and ERR_STORE (no such database, or it or the
 * bucket cannot be read).
 *
 *     const [newest] = await findPackages("/srv/archive", { database: "/data/dimensioner", by: "reference", value: "ORDER-4711" });
 */
export async function findPackages(folder: string, options: FindPackagesOptions): Promise<EvidencePackage[]> {
  checkArguments({ surface: "store", operation: "find" }, { folder, options }, findArguments);
  return withSource({ folder, database: options.database, operation: "find" }, (source) =>
    packages.findPackages(source, soughtOf(options)),
  );
}

/**
 * Puts packages on hold, so that they are not deleted because of their age, and returns them.
 *
 * Rejects as `findPackages` does, with ERR_NOT_FOUND if there are none, and with ERR_INPUT if there are more than `limit`. It also rejects
 * with ERR_NOT_FOUND if one is gone that was not deleted because of its age: the others are on hold then.
 */
export async function holdPackages(folder: string, options: HoldPackagesOptions): Promise<EvidencePackage[]> {
  return changeHold("hold", folder, options);
}

/**
 * Ends the hold of packages, and returns them. Rejects as `holdPackages` does, and with ERR_INPUT if a file holds one that somebody has put
 * there; if one is gone, none is released.
 */
export async function releasePackages(
  folder: string,
  options: HoldPackagesOptions,
): Promise<EvidencePackage[]> {
  return changeHold("release", folder, options);
}

/**
 * Adds numbers to a package that were not known when its parcel was packed, such as the tracking number of a label that was bought later,
 * and returns it. It is found by them from then on; the package and its manifest stay as they are. Of a package and its supplements, the
 * first one gets them.
 *
 * Rejects as `findPackages` does, with ERR_NOT_FOUND if there is none, and with ERR_INPUT if packages of several parcels are found.
 */
export async function addNumbers(folder: string, options: AddNumbersOptions): Promise<EvidencePackage> {
  checkArguments({ surface: "store", operation: "name" }, { folder, options }, nameArguments);
  const { database, by, value, numbers, reason = null, person = null } = options;
  return withSource(
    { folder, database, operation: "name" },
    (source) => packages.addNumbers(source, { by, value }, { numbers, reason, person }),
    { access: "write" },
  );
}

/**
 * Lists the webhook records and archive jobs of a period that have no complete package, and why.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE and ERR_STORE.
 */
export async function listMissing(
  folder: string,
  options: ListMissingOptions,
): Promise<readonly MissingEvidence[]> {
  checkArguments({ surface: "store", operation: "missing" }, { folder, options }, missingArguments);
  const { period, limit = defaultLimit } = options;
  return withSource({ folder, database: options.database, operation: "missing" }, (source) =>
    listMissingIn(source, packages.periodOf(source, period), limit),
  );
}

/**
 * Exports packages as a ZIP: their folders, a report for people about each of them and about all together, the result of their
 * verification, and the SHA-256 of every file. A package that is not as it was archived is exported, too, and named in the reports and in
 * `verification`. Under its name the ZIP is whole, or it is not there.
 *
 * Rejects as `holdPackages` does, with ERR_CONFIG if `to` is in the folder of the packages or the logo cannot be used, and with
 * ERR_CANCELLED.
 *
 *     const { path } = await exportPackages("/srv/archive", { database, by: "reference", value: "ORDER-4711", to: "/srv/claims" });
 */
export async function exportPackages(
  folder: string,
  options: ExportPackagesOptions,
): Promise<ExportedPackages> {
  checkArguments({ surface: "store", operation: "export" }, { folder, options }, exportArguments);
  const {
    to,
    filename,
    ifExists = "rename",
    language = "en-US",
    timestampRoots,
    heading,
    claim,
    onProgress,
    signal,
  } = options;
  const { verification, output } = await withPackages(
    { folder, database: options.database, operation: "export" },
    soughtOf(options),
    (vault, found) =>
      saveExport(vault, found, {
        language,
        target: { folder: to, filename, ifExists },
        timestampRoots,
        heading,
        claim,
        onProgress: (progress) => onProgress?.(progress),
        signal,
      }),
    { roots: timestampRoots, signal },
  );
  return { ...output, verification };
}

function changeHold(
  what: "hold" | "release",
  folder: string,
  options: HoldPackagesOptions,
): Promise<EvidencePackage[]> {
  checkArguments({ surface: "store", operation: what }, { folder, options }, holdArguments);
  const { reason, person = null } = options;
  return withSource(
    { folder, database: options.database, operation: what },
    (source) => packages.changeHold(source, soughtOf(options), { what, reason, person }),
    { access: "write" },
  );
}

function soughtOf({ by, value, filter, limit = defaultLimit }: FindPackagesOptions): packages.Sought {
  return { by, value, filter, limit };
}

/** Whose log is time-stamped, and by which server. */
export interface TimestampArchiveOptions extends TimestampServerOptions {
  /** The file of the store's database, or the folder that holds it. Node-RED may have it open. */
  readonly database: string;
  /** A PEM file with the root certificates that the server's signer is checked against. */
  readonly roots?: string | undefined;
  /** Aborting ends it with ERR_CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Has the log of a store time-stamped (RFC 3161), which covers all packages in it, and keeps the time stamp in the folder of packages. It is
 * verified before it is kept. In the place of a folder, it takes the address of a bucket, as `findPackages` does. If no package has come,
 * and nothing has happened to one, since the server's last time stamp, nothing is sent, and that time stamp is returned.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE, ERR_STORE, ERR_NOT_FOUND (no package), ERR_BAD_RESPONSE (a time stamp that cannot be
 * verified, or none), and the errors of a connection.
 *
 *     const { atUtc, signer } = await timestampArchive("/srv/archive", { database: "/data/dimensioner", server: "https://freetsa.org/tsr" });
 */
export async function timestampArchive(
  folder: string,
  options: TimestampArchiveOptions,
): Promise<TimestampResult> {
  checkArguments({ surface: "store", operation: "timestamp" }, { folder, options }, timestampArguments);
  const { database, roots, signal, ...server } = options;
  const authority = new TimestampServer(server);
  try {
    // Loaded only now: what reads and writes time stamps is seldom needed.
    const { makeTimestamp } = await import("../evidence/make-timestamp.ts");
    return await withSource(
      { folder, database, operation: "timestamp" },
      (source) => makeTimestamp(source, authority, { roots, signal }),
      { signal, access: "write" },
    );
  } finally {
    await authority.close();
  }
}
