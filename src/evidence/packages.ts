import { DimensionerError, isDimensionerError, type FailureFacts } from "../errors/dimensioner-error.ts";
import { field, onOneLine, phrase } from "../errors/interpolation.ts";
import type { PackageLookup } from "../model/archive-reports.ts";
import type { EvidencePackage } from "../model/shapes.ts";
import { longestNameLength } from "../rules/logins.ts";
import type { Database } from "../database/database.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";
import { describeIndexed } from "./describe.ts";
import { holdPackage, longestReason, releasePackage, takeBackHeld, type HoldChange } from "./hold.ts";
import { leaveOutPruned, readEach } from "./leave-out-pruned.ts";
import { goneError, openPackage, type OpenedPackage } from "./open-package.ts";
import { readPeriod, type Period } from "./period.ts";
import { readSize, type SoughtSize } from "./size.ts";
import { searchIndex, type Query } from "./search.ts";

/** Where packages are looked up. */
export interface EvidenceSource {
  readonly database: Pick<Database, "transaction">;
  readonly files: ArchiveFiles;
  /** For errors. */
  readonly operation: string;
}

/** What is looked up, as people give it. */
export interface Sought {
  readonly by: PackageLookup;
  /** Not needed for `all`. */
  readonly value?: string | undefined;
  readonly limit: number;
}

const longestShown = 60;
/** How many more rows are looked at where some are of packages that were deleted because of their age. */
const mostSpareRows = 200;

/**
 * Finds packages, the newest first, and reads each of them. Those that were deleted because of their age are left out. Throws
 * ERR_INPUT, ERR_STORE and ERR_FILE.
 */
export async function findPackages(
  source: EvidenceSource,
  sought: Sought,
  signal?: AbortSignal,
): Promise<EvidencePackage[]> {
  const { database, files } = source;
  const { limit } = sought;
  const query = queryOf(source, sought);
  const found = await searchIndex(database, query, limit);
  const described = await describeAll(source, found, signal);
  if (described.length === found.length || found.length < limit || signal?.aborted === true) {
    return described;
  }
  // Older ones that are on hold must not be missing because of those that were deleted.
  const more = await searchIndex(database, query, limit + mostSpareRows);
  const known = new Set(found.map(({ id }) => id));
  const left = await leaveOutPruned(
    files,
    more.filter(({ id }) => !known.has(id)),
  );
  return [...described, ...(await describeAll(source, left.slice(0, limit - described.length), signal))];
}

/** The same without reading them, but ERR_NOT_FOUND if there are none, and ERR_INPUT if there are more than the limit. */
export async function demandPackages(
  source: EvidenceSource,
  sought: Sought,
): Promise<readonly IndexedPackage[]> {
  const there = await leaveOutPruned(source.files, await demandListed(source, sought));
  if (there.length === 0) {
    throw notFoundError(source, sought);
  }
  return there;
}

/** The same, also with those that were deleted because of their age and are still in the index. */
export async function demandListed(
  source: EvidenceSource,
  sought: Sought,
): Promise<readonly IndexedPackage[]> {
  const { value = sought.by, limit } = sought;
  const found = await searchIndex(source.database, queryOf(source, sought), limit + 1);
  if (found.length === 0) {
    throw notFoundError(source, sought);
  }
  if (found.length > limit) {
    throw new DimensionerError("evidenceTooMany", factsOf(source), { value: shown(value), most: limit });
  }
  return found;
}

/**
 * Puts packages on hold, or releases them, and returns them as they are then. If one is gone, none is released; but the others are
 * put on hold first, because nothing is lost by that. Throws ERR_INPUT if it is too long who does so or why.
 */
export async function changeHold(
  source: EvidenceSource,
  sought: Sought,
  change: HoldChange & { readonly what: "hold" | "release" },
): Promise<EvidencePackage[]> {
  const { files } = source;
  const { what, reason, person } = change;
  demandLength(source, "reason", reason, longestReason);
  demandLength(source, "person", person ?? "", longestNameLength);
  const found = await demandPackages(source, sought);
  // All are opened before the first one is changed.
  const opened = await readEach(files, found, (one) => unlessGone(openPackage(files, one)));
  let [gone] = found.filter((_, index) => opened[index] === undefined);
  if (gone !== undefined && what === "release") {
    throw goneError(gone.path);
  }
  const changed: OpenedPackage[] = [];
  for (const [index, one] of found.entries()) {
    const there = opened[index];
    if (there === undefined) {
      continue;
    }
    const work = (what === "hold" ? holdPackage : releasePackage)(there, { reason, person }, files);
    // It may have been deleted meanwhile.
    if ((await unlessGone(work)) === undefined) {
      gone ??= one;
    } else {
      changed.push(there);
    }
  }
  // All are on hold before one of them is taken from the log of deleted packages, which may fail.
  await takeBackHeld(what === "hold" ? changed : [], files);
  if (gone !== undefined) {
    throw changed.length === 0
      ? goneError(gone.path)
      : new DimensionerError("evidenceGoneOthersHeld", factsOf(source), { path: gone.path });
  }
  return describeAll(source, found);
}

/** Throws ERR_INPUT for a text that is longer than a hold can have it. */
function demandLength(source: EvidenceSource, name: "reason" | "person", text: string, most: number): void {
  if (text.length > most) {
    const values = { field: field(name), value: shown(text), problem: phrase("tooLong", { most }) };
    throw new DimensionerError("inputValue", factsOf(source), values);
  }
}

/** Undefined for a package that the index lists and that is not there. */
async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "evidenceGone") {
      return undefined;
    }
    throw error;
  }
}

/** Reads a period as people give it. Throws ERR_INPUT. */
export function periodOf(
  { operation }: Pick<EvidenceSource, "operation">,
  value: string | undefined,
): Period {
  const text = valueOf({ operation }, value);
  const period = readPeriod(text, new Date());
  if (period === undefined) {
    const values = { field: field("value"), value: shown(text), problem: phrase("period") };
    throw new DimensionerError("inputValue", factsOf({ operation }), values);
  }
  return period;
}

function sizesOf({ operation }: EvidenceSource, value: string | undefined): readonly SoughtSize[] {
  const text = valueOf({ operation }, value);
  const sizes = readSize(text);
  if (sizes === undefined) {
    const values = { field: field("value"), value: shown(text), problem: phrase("size") };
    throw new DimensionerError("inputValue", factsOf({ operation }), values);
  }
  return sizes;
}

/** Describes packages, without those that were deleted because of their age; not all of them after an abort. */
async function describeAll(
  { files }: EvidenceSource,
  found: readonly IndexedPackage[],
  signal?: AbortSignal,
): Promise<EvidencePackage[]> {
  const described = await readEach(files, found, (one) => describeIndexed(files, one), signal);
  const withProblem = found.filter((_, index) => typeof described[index]?.problem === "string");
  const left = new Set(await leaveOutPruned(files, withProblem));
  return described.filter(({ problem }, index) => {
    const one = found[index];
    return problem === null || (one !== undefined && left.has(one));
  });
}

function queryOf(source: EvidenceSource, { by, value }: Sought): Query {
  switch (by) {
    case "all":
      return { by };
    case "period":
      return { by, period: periodOf(source, value) };
    case "size":
      return { by, sizes: sizesOf(source, value) };
    default:
      return { by, value: valueOf(source, value) };
  }
}

function valueOf(source: Pick<EvidenceSource, "operation">, value: string | undefined): string {
  if (value === undefined || value.trim() === "") {
    throw new DimensionerError("inputMissing", factsOf(source), { field: field("value") });
  }
  return value;
}

function notFoundError(source: EvidenceSource, { by, value = by }: Sought): DimensionerError {
  return new DimensionerError("evidenceNotFound", factsOf(source), { value: shown(value) });
}

function factsOf({ operation }: Pick<EvidenceSource, "operation">): FailureFacts {
  return { surface: "store", operation, outcome: null };
}

function shown(value: string): string {
  return onOneLine(value.slice(0, longestShown)).toWellFormed();
}
