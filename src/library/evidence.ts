import { checkArguments } from "../errors/check.ts";
import { saveExport } from "../evidence/export/export-packages.ts";
import { listMissing as listMissingIn } from "../evidence/missing.ts";
import * as packages from "../evidence/packages.ts";
import { withPackages, withSource } from "../evidence/packages.ts";
import type { ArchiveOptions, PackageLookup } from "../model/archive-reports.ts";
import type { EvidencePackage, MissingEvidence, SavedFile, VerifyResult } from "../model/shapes.ts";
import type { Language } from "../rules/languages.ts";
import { exportArguments, findArguments, holdArguments, missingArguments } from "./arguments.ts";

/** Which packages of a store. */
export interface FindPackagesOptions {
  /** The file of the store's database, or the folder that holds it. Node-RED may have it open. */
  readonly database: string;
  /** What `value` is; `text` is the beginning of any reference, barcode or transaction ID. */
  readonly by: PackageLookup;
  /** What is looked up; of a `period` a text such as `2026-11-22`, `2026-11-01/2026-11-07`, `today` or `24h`. */
  readonly value?: string | undefined;
  /** How many packages at most; 100 if it is not given. */
  readonly limit?: number | undefined;
}

/** Which packages are put on hold or released, why, and by whom. */
export interface HoldPackagesOptions extends FindPackagesOptions {
  readonly reason: string;
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
 * Rejects as `holdPackages` does, with ERR_CONFIG if `to` is in the folder of the packages, and with ERR_CANCELLED.
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
    onProgress,
    signal,
  } = options;
  const { verification, output } = await withPackages(
    { folder, database: options.database, operation: "export" },
    soughtOf(options),
    (files, found) =>
      saveExport(files, found, {
        language,
        target: { folder: to, filename, ifExists },
        timestampRoots,
        onProgress: (progress) => onProgress?.(progress),
        signal,
      }),
    signal,
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
  return withSource({ folder, database: options.database, operation: what }, (source) =>
    packages.changeHold(source, soughtOf(options), { what, reason, person }),
  );
}

function soughtOf({ by, value, limit = defaultLimit }: FindPackagesOptions): packages.Sought {
  return { by, value, limit };
}
