import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { LogTable } from "../database/log-table.ts";
import { ToolThread } from "../database/tool-database.ts";
import { VerificationTable } from "../database/verification-table.ts";
import { DimensionerError, type FailureFacts, isDimensionerError } from "../errors/dimensioner-error.ts";
import { field, onOneLine, phrase } from "../errors/interpolation.ts";
import type {
  ArchiveNote,
  ArchiveProgress,
  Finding,
  PackageFilter,
  PackageLookup,
  VerifyReport,
} from "../model/archive-reports.ts";
import { parseFields, recordLimits } from "../model/parse-json.ts";
import { sha256Of } from "../model/sha256.ts";
import type { EvidencePackage } from "../model/shapes.ts";
import { wordsOf } from "../rules/search-words.ts";
import { longestNameLength } from "../rules/logins.ts";
import { type Period, readPeriod } from "../rules/periods.ts";
import { usualWork } from "../rules/works.ts";
import { type ReadDisk, asFileError, manifestFileName, measurementFileName } from "../vault/archive-disk.ts";
import { vaultKey } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { namedVault, openVault } from "../vault/open-vault.ts";
import { findDatabases, openForTool } from "../vault/index-reader.ts";
import { TimeNotes, timesInDoubt } from "../vault/packages/package-times.ts";
import { heldPaths, prunedOf } from "../vault/log/log-state.ts";
import { type ProvenPackage, explainCover, provePackages } from "../vault/log/package-proof.ts";
import { coveringTimestamp } from "../vault/timestamp/timestamp-folder.ts";
import {
  type Measured,
  shownReferences,
  archivedFiles,
  measuredOf,
  mostMeasurementBytes,
} from "../vault/packages/manifest.ts";
import { readPlain } from "../vault/packages/package-files.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";
import { type CheckedTotals, checkIndexed } from "../vault/upkeep/verify.ts";
import { loadManifestWithin } from "../vault/walk.ts";
import {
  type HoldChange,
  type HoldSource,
  type HoldTarget,
  type OpenedPackage,
  goneError,
  holdPackage,
  longestReason,
  openPackage,
  readHold,
  releasePackage,
  type AddedNumber,
  longestNumber,
  mostNumbers,
  namePackage,
  readNumbers,
} from "./hold.ts";
import { type Filter, type Query, type SoughtSize, readSize, searchIndex } from "./search.ts";

/** Where packages are looked up. */
export interface EvidenceSource extends HoldTarget {
  /** For errors. */
  readonly operation: string;
}

/** What is looked up, as people give it. */
export interface Sought {
  readonly by: PackageLookup;
  /** Not needed for `all`. */
  readonly value?: string | undefined;
  readonly filter?: PackageFilter | undefined;
  readonly limit: number;
}

/** No text of a package is longer. */
const longestValue = 10_000;
const longestShown = 60;
/** A parcel has fewer packages that supplement one another. */
const mostOfOneParcel = 20;
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
  const { database } = source;
  const { limit } = sought;
  const query = queryOf(source, sought);
  const filter = await filterOf(source, sought.filter);
  const found = await searchIndex(database, query, limit, filter);
  const described = await describeAll(source, found, signal);
  // Somebody may have removed the file of a hold by hand, which the log does not know.
  const isWanted = ({ hold }: EvidencePackage): boolean => sought.filter?.onHold !== true || hold !== null;
  if (described.length === found.length || found.length < limit || signal?.aborted === true) {
    return described.filter(isWanted);
  }
  // Older ones that are on hold must not be missing because of those that were deleted.
  const more = await searchIndex(database, query, limit + mostSpareRows, filter);
  const known = new Set(found.map(({ id }) => id));
  const left = await leaveOutPruned(
    source,
    more.filter(({ id }) => !known.has(id)),
  );
  const others = await describeAll(source, left.slice(0, limit - described.length), signal);
  return [...described, ...others].filter(isWanted);
}

/** The same without reading them, but ERR_NOT_FOUND if there are none, and ERR_INPUT if there are more than the limit. */
export async function demandPackages(
  source: EvidenceSource,
  sought: Sought,
): Promise<readonly IndexedPackage[]> {
  const there = await leaveOutPruned(source, await demandListed(source, sought));
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
  const filter = await filterOf(source, sought.filter);
  const found = await searchIndex(source.database, queryOf(source, sought), limit + 1, filter);
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
  const { vault } = source;
  const { what, reason, person } = change;
  demandLength(source, "reason", reason, longestReason);
  demandLength(source, "person", person ?? "", longestNameLength);
  const found = await demandPackages(source, sought);
  // All are opened before the first one is changed.
  const opened = await readEach(vault, found, (one) => unlessGone(openPackage(vault, one)));
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
    const work = (what === "hold" ? holdPackage : releasePackage)(there, { reason, person }, source);
    // It may have been deleted meanwhile.
    if ((await unlessGone(work)) === undefined) {
      gone ??= one;
    } else {
      changed.push(there);
    }
  }
  if (gone !== undefined) {
    throw changed.length === 0
      ? goneError(gone.path)
      : new DimensionerError("evidenceGoneOthersHeld", factsOf(source), { path: gone.path });
  }
  return describeAll(source, found);
}

/** The numbers that are added to a package, by whom, and where they come from. */
export interface AddedNumbers extends Pick<AddedNumber, "person" | "reason"> {
  readonly numbers: readonly string[];
}

/**
 * Adds numbers to the package that is found, and returns it as it is then. Of a package and its supplements, the first one gets them.
 * A number that it has already is not added again. Throws ERR_INPUT if there is no number, if one is too long or if there are too many, and
 * if packages of several parcels are found; ERR_NOT_FOUND if none is.
 */
export async function addNumbers(
  source: EvidenceSource,
  sought: Omit<Sought, "limit">,
  { numbers, person, reason }: AddedNumbers,
): Promise<EvidencePackage> {
  // What has nothing to see would never be found, and the log keeps it.
  const readable = numbers.filter((number) => wordsOf(number).length > 0);
  const given = [...new Set(readable.map((number) => number.trim()))];
  if (given.length === 0) {
    throw new DimensionerError("inputMissing", factsOf(source), { field: field("numbers") });
  }
  given.forEach((number) => demandLength(source, "numbers", number, longestNumber));
  demandLength(source, "reason", reason ?? "", longestReason);
  demandLength(source, "person", person ?? "", longestNameLength);
  const found = await searchIndex(
    source.database,
    queryOf(source, { ...sought, limit: mostOfOneParcel }),
    mostOfOneParcel,
  );
  const there = await leaveOutPruned(source, found);
  const one = there.find(({ supplements }) => supplements === null) ?? there.at(-1);
  if (one === undefined) {
    throw notFoundError(source, { ...sought, limit: 1 });
  }
  if (new Set(there.map(({ sha256, supplements }) => supplements ?? sha256)).size > 1) {
    throw new DimensionerError("evidenceSeveral", factsOf(source), {
      value: shown(sought.value ?? sought.by),
    });
  }
  const opened = await openPackage(source.vault, one);
  const before = (await readNumbers(source.database, [one.id])).get(one.id) ?? [];
  const more = given.filter((number) => !before.some((known) => known.number === number));
  if (before.length + more.length > mostNumbers) {
    throw new DimensionerError("evidenceManyNumbers", factsOf(source), { path: one.path, most: mostNumbers });
  }
  if (more.length > 0) {
    await namePackage(opened, more, { person, reason }, source);
  }
  return describeIndexed(source, one);
}

/** Throws ERR_INPUT for a text that is longer than the log, or a package, can have it. */
function demandLength(
  source: Pick<EvidenceSource, "operation">,
  name: "numbers" | "person" | "reason" | "value",
  text: string,
  most: number,
): void {
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
  source: EvidenceSource,
  found: readonly IndexedPackage[],
  signal?: AbortSignal,
): Promise<EvidencePackage[]> {
  const described = await readEach(source.vault, found, (one) => describeIndexed(source, one), signal);
  const withProblem = found.filter((_, index) => typeof described[index]?.problem === "string");
  const left = new Set(await leaveOutPruned(source, withProblem));
  const shown = described.filter(({ problem }, index) => {
    const one = found[index];
    return problem === null || (one !== undefined && left.has(one));
  });
  const last = await new VerificationTable(source.database).of(shown.map(({ packageId }) => packageId));
  return shown.map((one) => {
    const { at = null, finding = null } = last.get(one.packageId) ?? {};
    return { ...one, verifiedAtUtc: at, damage: finding };
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

export async function filterOf(source: EvidenceSource, filter: PackageFilter = {}): Promise<Filter> {
  const { device = "", work = "", period = "", film = false, onHold = false, incomplete = false } = filter;
  return {
    device: device === "" ? undefined : device,
    work: work === "" ? undefined : work,
    period: period.trim() === "" ? undefined : periodOf(source, period),
    marks: [...(film ? (["film"] as const) : []), ...(incomplete ? (["incomplete"] as const) : [])],
    locations: onHold ? await heldPaths(source.database) : undefined,
  };
}

function valueOf(source: Pick<EvidenceSource, "operation">, value: string | undefined): string {
  if (value === undefined || value.trim() === "") {
    throw new DimensionerError("inputMissing", factsOf(source), { field: field("value") });
  }
  demandLength(source, "value", value, longestValue);
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

/** A package of which something is not what was archived. */
const changedTexts = {
  manifest:
    "The manifest is not the one that was archived: its SHA-256 is not that of the index. Verify the package to see what is wrong.",
  measurement: `${measurementFileName} is not what was archived: its SHA-256 is not that of the manifest. Its values are left out. Verify the package to see what is wrong.`,
} as const;

/**
 * Describes a package of the index, from its manifest and its measurement; the package is the truth, not the index. Both
 * are compared with what was archived, the images and videos are not.
 */
export async function describeIndexed(source: HoldSource, indexed: IndexedPackage): Promise<EvidencePackage> {
  const { vault } = source;
  const folder = vault.addressOf(indexed.path);
  try {
    const opened = await openPackage(vault, indexed);
    const described = await describeOpened(opened, folder, source);
    return opened.sha256 === indexed.sha256
      ? described
      : { ...described, problem: changedTexts.manifest, changed: true };
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "evidenceGone") {
      return describeGone(folder, indexed, error.message);
    }
    throw asFileError(error, folder, vault.name);
  }
}

async function describeOpened(
  opened: OpenedPackage,
  folder: string,
  source: HoldSource,
): Promise<EvidencePackage> {
  const { location, manifest } = opened;
  const [{ figures, isChanged }, hold, numbers] = await Promise.all([
    readFigures(opened, source.vault.disk),
    readHold(source, opened),
    readNumbers(source.database, [manifest.job]),
  ]);
  const { times, instrument, billable = null, scan = null, supplements = null } = manifest;
  return {
    packageId: manifest.job,
    location,
    folder,
    transactionId: manifest.transactionId,
    ...shownReferences(manifest),
    scan: scan?.text ?? null,
    numbers: [...(numbers.get(manifest.job) ?? [])],
    device: manifest.device,
    operator: manifest.operator ?? null,
    work: manifest.work ?? usualWork,
    note: manifest.note ?? null,
    deviceSerialNumber: instrument?.serialNumber ?? null,
    deviceCertificate: instrument?.certificate ?? null,
    measuredAtUtc: times.deviceUtc,
    archivedAtUtc: times.archived,
    timesInDoubt: timesInDoubt(manifest),
    ...figures,
    legalForTrade: manifest.legalForTrade,
    billable: billable === null ? null : { weight: billable.weight, unit: billable.unit },
    complete: manifest.complete,
    missing: manifest.missing,
    supplements: supplements?.path ?? null,
    hold,
    files: archivedFiles(folder, manifest),
    problem: isChanged ? changedTexts.measurement : null,
    changed: isChanged,
    ...notVerified,
  };
}

/** A package of which nobody has said yet when it was last verified. */
const notVerified = { verifiedAtUtc: null, damage: null } as const;

/** The index lists it, but its folder or its manifest is gone. */
function describeGone(folder: string, indexed: IndexedPackage, problem: string): EvidencePackage {
  return {
    packageId: indexed.id,
    location: indexed.path,
    folder,
    transactionId: indexed.transactionId,
    transactionReference: indexed.transactionReference,
    customReference1: null,
    customReference2: null,
    customReference3: null,
    barcodeReference: null,
    scan: null,
    numbers: [],
    device: null,
    operator: null,
    work: null,
    note: null,
    deviceSerialNumber: null,
    deviceCertificate: null,
    measuredAtUtc: null,
    archivedAtUtc: indexed.archivedAt,
    timesInDoubt: [],
    ...measuredOf({}),
    legalForTrade: null,
    billable: null,
    complete: indexed.complete,
    missing: [],
    supplements: null,
    hold: null,
    files: [],
    problem,
    changed: false,
    ...notVerified,
  };
}

interface ReadFigures {
  readonly figures: Measured;
  /** Whether measurement.json is not what the manifest says of it, or is gone. */
  readonly isChanged: boolean;
}

async function readFigures(
  { folder, manifest: { measurement } }: OpenedPackage,
  disk: ReadDisk,
): Promise<ReadFigures> {
  const content = measurement === null ? null : await readMeasurement(folder, disk);
  const isChanged = measurement !== null && (content === null || sha256Of(content) !== measurement.sha256);
  const fields = content === null || isChanged ? {} : (parseFields(String(content), recordLimits) ?? {});
  return { figures: measuredOf(fields), isChanged };
}

/** The content of measurement.json; null if it is not there, longer than this package writes, or cannot be read. */
async function readMeasurement(folder: string, disk: ReadDisk): Promise<Buffer | null> {
  try {
    const content = await readPlain(join(folder, measurementFileName), disk, mostMeasurementBytes);
    return typeof content === "string" ? null : content;
  } catch (error) {
    // A bucket that fails does not make it a damaged one.
    if (isDimensionerError(error)) {
      throw error;
    }
    return null;
  }
}

/** Reads something of each package, some at a time, until the signal is aborted. */
async function readEach<T>(
  { readsAtOnce: most }: Pick<Vault, "readsAtOnce">,
  packages: readonly IndexedPackage[],
  read: (one: IndexedPackage) => Promise<T>,
  signal?: AbortSignal,
): Promise<T[]> {
  const results: T[] = [];
  for (let first = 0; first < packages.length; first += most) {
    if (signal?.aborted === true) {
      break;
    }
    results.push(...(await Promise.all(packages.slice(first, first + most).map(read))));
  }
  return results;
}

/**
 * Leaves out the packages that the log says were deleted: their rows go last, and a kill may have left them. One that is gone otherwise
 * is not left out, nor one that was brought back.
 */
export async function leaveOutPruned<T extends IndexedPackage>(
  { database, vault }: HoldSource,
  packages: readonly T[],
): Promise<readonly T[]> {
  const pruned = await prunedOf(
    database,
    packages.map(({ id }) => id),
  );
  const gone = await readEach(
    vault,
    packages.filter(({ id }) => pruned.has(id)),
    async (one) => ((await isGone(vault, one)) ? one.id : ""),
  );
  return packages.filter(({ id }) => !gone.includes(id));
}

/** Whether the package that the index lists is not there, or another one is in its place: one of another job. */
async function isGone({ root, disk }: Vault, { id, path }: IndexedPackage): Promise<boolean> {
  try {
    const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk);
    return found === "none" || (found !== "damaged" && found.manifest.job !== id);
  } catch (error) {
    // A bucket that fails would fail for each package. What cannot be read is there.
    if (isDimensionerError(error)) {
      throw error;
    }
    return false;
  }
}

/** Where the packages of a store are, for a program that does not own its database. */
export interface StorePlace {
  /** The folder of packages, or the address of a bucket. */
  readonly folder: string;
  /** The file of the store's database, the folder that holds it, or the address of a PostgreSQL database. */
  readonly database: string;
  /** For errors. */
  readonly operation: string;
}

/**
 * Opens a store to read its database and to work with its packages, also while Node-RED has it open. Aborting the signal ends
 * all requests to a bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export function withSource<T>(
  place: StorePlace,
  work: (source: EvidenceSource) => Promise<T>,
  {
    signal,
    access = "read",
  }: { readonly signal?: AbortSignal | undefined; readonly access?: "read" | "write" } = {},
): Promise<T> {
  return withFiles(place, signal, (vault, key) => inDatabase(place, { vault, key, access }, work));
}

/**
 * Finds packages with what proves them, and works with them when the database is closed again: an export can take hours. `roots`: a PEM
 * file with the root certificates that the signers of time stamps are checked against. Rejects as `demandPackages` does, and with
 * ERR_CONFIG.
 */
export function withPackages<T>(
  place: StorePlace,
  sought: Sought,
  work: (vault: Vault, packages: readonly ProvenPackage[]) => Promise<T>,
  { roots, signal }: { readonly roots?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  return withFiles(place, signal, async (vault, key) =>
    work(
      vault,
      await inDatabase(place, { vault, key, access: "read" }, async (source) =>
        provePackages(source, await demandPackages(source, sought), roots),
      ),
    ),
  );
}

/** `key`: the folder or the bucket, as the database of a store names it. */
async function withFiles<T>(
  { folder }: StorePlace,
  signal: AbortSignal | undefined,
  work: (vault: Vault, key: string) => Promise<T>,
): Promise<T> {
  const location = namedVault(folder);
  const vault = await openVault(location, { signal });
  try {
    return await work(vault, vault.kind === "folder" ? vault.root : vaultKey(location));
  } finally {
    await vault.close();
  }
}

async function inDatabase<T>(
  { database: given, operation }: StorePlace,
  { vault, key, access }: { readonly vault: Vault; readonly key: string; readonly access: "read" | "write" },
  work: (source: EvidenceSource) => Promise<T>,
): Promise<T> {
  const thread = new ToolThread();
  try {
    const [file = given] = await findDatabases(given, { key }, thread);
    const database = await openForTool(file, access, thread);
    try {
      const [[store] = []] = await database.transaction([{ sql: "SELECT store_id FROM store" }]);
      const log = new LogTable(database, String(store?.["store_id"]), `${operation}-${randomUUID()}`);
      return await work({ database, vault, log, operation });
    } finally {
      await database.close();
    }
  } finally {
    await thread.close();
  }
}

/** What was found first of a package that was verified. */
export interface NotedPackage {
  readonly id: string;
  /** The kind of the first finding; null if it is as it was archived. */
  readonly finding: string | null;
}

/** Notes that packages were verified now. Throws ERR_STORE. */
export async function noteVerified(
  { database }: Pick<EvidenceSource, "database">,
  packages: readonly NotedPackage[],
): Promise<void> {
  const findings = new Map(packages.map(({ id, finding }) => [id, finding]));
  await new VerificationTable(database).noteBy("package_id", findings, new Date().toISOString());
}

export interface VerifyPackagesOptions {
  readonly onFinding: (finding: Finding) => void;
  readonly onProgress: (progress: ArchiveProgress) => void;
  readonly signal: AbortSignal;
}

/**
 * Verifies some packages of the index: each file and the figures against the manifest, the manifest against the index and the log, and its
 * line in the log by the time stamps that cover it. The whole archive is checked by `verifyArchive`. Throws ERR_STORE if the bucket fails.
 */
export async function verifyPackages(
  vault: Pick<Vault, "disk" | "root">,
  packages: readonly ProvenPackage[],
  { onFinding, onProgress, signal }: VerifyPackagesOptions,
): Promise<VerifyReport & { readonly verified: readonly NotedPackage[] }> {
  const totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  let findings = 0;
  const notes: ArchiveNote[] = [];
  const timeNotes = new TimeNotes(notes);
  const verified: NotedPackage[] = [];
  // One time stamp covers many packages.
  const named = new Set<string>();
  for (const proven of packages) {
    signal.throwIfAborted();
    let damage: string | null = null;
    for await (const finding of checkIndexed(vault, proven, totals, signal, (times) =>
      timeNotes.add(proven.path, times),
    )) {
      damage ??= finding.kind === "timestamp" ? null : finding.kind;
      if (finding.kind !== "timestamp" || !named.has(finding.path)) {
        findings += 1;
        onFinding(finding);
      }
      if (finding.kind === "timestamp") {
        named.add(finding.path);
      }
    }
    verified.push({ id: proven.id, finding: damage });
    const { first } = proven.proof;
    const timestamp = first === null ? null : coveringTimestamp(first);
    notes.push({ kind: "timestamp", path: proven.path, text: explainCover(first), timestamp });
    const { packages: done, bytes } = totals;
    onProgress({ packages: done, bytes, expectedPackages: packages.length, expectedBytes: null });
  }
  timeNotes.end();
  return {
    verdict: findings > 0 ? "wrong" : "ok",
    findings,
    unchecked: [],
    notes,
    logs: [],
    ...totals,
    expected: packages.length,
    part: null,
    verified,
  };
}
