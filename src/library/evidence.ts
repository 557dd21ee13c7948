import { listMissing as listMissingIn } from "../archive/evidence/missing.ts";
import * as packages from "../archive/evidence/packages.ts";
import { withSource } from "../archive/evidence/with-source.ts";
import { checkArguments } from "../errors/check.ts";
import type { PackageLookup } from "../model/archive-reports.ts";
import type { EvidencePackage, MissingEvidence } from "../model/shapes.ts";
import { findArguments, holdArguments, missingArguments } from "./arguments.ts";

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

const defaultLimit = 100;

/**
 * Finds packages in the index of a store, the newest first, and reads each from its folder.
 *
 * Rejects with ERR_CONFIG (a blank folder), ERR_INPUT, ERR_FILE (no such folder, denied) and ERR_STORE (no such database, or it cannot
 * be read).
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
 * Puts packages on hold, so that they are not deleted for their age, and returns them.
 *
 * Rejects as `findPackages` does, with ERR_NOT_FOUND if there are none, and with ERR_INPUT if there are more than `limit`.
 */
export async function holdPackages(folder: string, options: HoldPackagesOptions): Promise<EvidencePackage[]> {
  return changeHold("hold", folder, options);
}

/** Ends the hold of packages, and returns them. Rejects as `holdPackages` does, and with ERR_INPUT if a file holds one that somebody has put there. */
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
    listMissingIn(source.database, packages.periodOf(source, period), limit),
  );
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
