import { DimensionerError, type FailureFacts } from "../../errors/dimensioner-error.ts";
import { field, onOneLine, phrase } from "../../errors/interpolation.ts";
import type { PackageLookup } from "../../model/archive-reports.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import type { Database } from "../../store/database.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { IndexedPackage } from "../packages/package-index.ts";
import { describeIndexed } from "./describe.ts";
import { holdPackage, releasePackage, type HoldChange } from "./hold.ts";
import { openPackage, type OpenedPackage } from "./open-package.ts";
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

/** How many packages are read at the same time: a disk does not become faster, and a bucket is waited for. */
const readAtOnce: Readonly<Record<ArchiveFiles["kind"], number>> = { folder: 2, s3: 8 };
const longestShown = 60;

/** Finds packages, the newest first, and reads each of them. Throws ERR_INPUT, ERR_STORE and ERR_FILE. */
export async function findPackages(
  source: EvidenceSource,
  sought: Sought,
  signal?: AbortSignal,
): Promise<EvidencePackage[]> {
  const found = await searchIndex(source.database, queryOf(source, sought), sought.limit);
  return describeAll(source, found, signal);
}

/** The same, but ERR_NOT_FOUND if there are none, and ERR_INPUT if there are more than the limit. */
export async function demandPackages(
  source: EvidenceSource,
  sought: Sought,
): Promise<readonly IndexedPackage[]> {
  const { value = sought.by, limit } = sought;
  const found = await searchIndex(source.database, queryOf(source, sought), limit + 1);
  if (found.length === 0) {
    throw new DimensionerError("evidenceNotFound", factsOf(source), { value: shown(value) });
  }
  if (found.length > limit) {
    throw new DimensionerError("evidenceTooMany", factsOf(source), { value: shown(value), most: limit });
  }
  return found;
}

/** Puts packages on hold, or releases them, and returns them as they are then. */
export async function changeHold(
  source: EvidenceSource,
  sought: Sought,
  change: HoldChange & { readonly what: "hold" | "release" },
): Promise<EvidencePackage[]> {
  const { files } = source;
  const { what, reason, person } = change;
  const found = await demandPackages(source, sought);
  // All are opened before the first one is changed.
  const opened: OpenedPackage[] = [];
  for (const some of batchesOf(found, files)) {
    opened.push(...(await Promise.all(some.map((one) => openPackage(files, one)))));
  }
  for (const one of opened) {
    await (what === "hold" ? holdPackage : releasePackage)(one, { reason, person }, files);
  }
  return describeAll(source, found);
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

async function describeAll(
  { files }: EvidenceSource,
  found: readonly IndexedPackage[],
  signal?: AbortSignal,
): Promise<EvidencePackage[]> {
  const described: EvidencePackage[] = [];
  for (const some of batchesOf(found, files)) {
    if (signal?.aborted === true) {
      break;
    }
    described.push(...(await Promise.all(some.map((one) => describeIndexed(files, one)))));
  }
  return described;
}

function* batchesOf<T>(found: readonly T[], { kind }: ArchiveFiles): Generator<readonly T[]> {
  const most = readAtOnce[kind];
  for (let first = 0; first < found.length; first += most) {
    yield found.slice(first, first + most);
  }
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

function factsOf({ operation }: Pick<EvidenceSource, "operation">): FailureFacts {
  return { surface: "store", operation, outcome: null };
}

function shown(value: string): string {
  return onOneLine(value.slice(0, longestShown)).toWellFormed();
}
