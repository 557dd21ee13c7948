import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import type { Row, SqlValue } from "../database/database.ts";
import { ToolThread } from "../database/tool-database.ts";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { documentBytes, sayDocument } from "../media/formats.ts";
import type {
  ArchiveNote,
  ArchiveProgress,
  Finding,
  PackageFinding,
  Unchecked,
  VerifyReport,
} from "../model/archive-reports.ts";
import { isTextType } from "../model/documents.ts";
import { type ArchiveDisk, type ReadFile, holdName, manifestFileName } from "./archive-disk.ts";
import { checkExport, exportedPackagesName, findExport, noteNeighbours } from "./export-check.ts";
import { FileHasher } from "./file-hasher.ts";
import type { FilesLocation } from "./files-location.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import type { HashAnswer } from "./hash-thread.ts";
import { IndexReader, findDatabases, isFolder } from "./index-reader.ts";
import { UnfinishedPackages, findLeftovers } from "./leftovers.ts";
import { type OpenedPlace, openPlace } from "./open-place.ts";
import type { PlacedPackage } from "./packages/intent.ts";
import { keepMs } from "./packages/known-measurements.ts";
import { type Manifest, filesOf } from "./packages/manifest.ts";
import { openPlain } from "./packages/package-files.ts";
import { findPruned } from "./prune-log.ts";
import { type CheckParts, IndexCheck, PrunedPackages, SeenPackages, seenOf } from "./seen-packages.ts";
import { TimestampFolder, readRoots } from "./timestamp-folder.ts";
import {
  type WalkEntry,
  type WalkedPackage,
  damagedManifest,
  findingOf,
  inParallel,
  loadManifestWithin,
  sayUnreadable,
  straysOf,
  walkPackages,
} from "./walk.ts";

/** If this many files and folders belong to no package, and no package was found, the folder is not an archive. */
const mostStrays = 1_000;
/** While a file of one is hashed, one of the other is hashed by another core, or comes from a bucket. */
const packagesAtOnce = 2;

export interface VerifyOptions {
  /** The databases of the stores that have archived into the folder, or folders that contain them. */
  readonly databases?: readonly string[];
  /** A PEM file with the root certificates that signers are checked against. */
  readonly timestampRoots?: string | undefined;
  /** Aborting ends the verification with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whether a second core may be used if there is much to hash; where the computer has one, if it is not given. */
  readonly mayUseThread?: boolean;
  /** For tests. */
  readonly disk?: ArchiveDisk;
}

/** What all steps of one verification use. */
interface Work extends CheckParts {
  readonly place: OpenedPlace;
  /** The path of the checked folder, with a slash at the end; empty for the folder of packages itself. */
  readonly below: string;
  readonly hasher: FileHasher;
}

/**
 * Checks an archive, one of its folders, one package, or an extracted export: every file against its manifest, every manifest against the
 * one that follows it, the folders for files that do not belong there, and the index in the store's database for
 * missing packages. It reports what is wrong and, separately, what could not be checked. It only reads, and takes no
 * more memory for more packages. Throws the system's error if the folder itself cannot be read.
 */
export class Verification {
  readonly #folder: string | FilesLocation;
  readonly #options: VerifyOptions;
  readonly #totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  readonly #unchecked: Unchecked[] = [];
  readonly #notes: ArchiveNote[] = [];
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #thread = new ToolThread();
  readonly #indexes = new OpenedIndexes(this.#thread, { unchecked: this.#unchecked, notes: this.#notes });

  constructor(folder: string | FilesLocation, options: VerifyOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  progress(): ArchiveProgress {
    const { packages, bytes } = this.#totals;
    return {
      packages,
      bytes,
      expectedPackages: this.#indexes.expected?.packages ?? null,
      expectedBytes: this.#indexes.expected?.bytes ?? null,
    };
  }

  /** The result, after `run` has ended with this number of findings. */
  report(findings: number): VerifyReport {
    const isOpen = this.#unchecked.length > 0;
    return {
      verdict: findings > 0 ? "wrong" : isOpen ? "unchecked" : "ok",
      findings,
      unchecked: this.#unchecked,
      notes: this.#notes,
      ...this.#totals,
      expected: this.#indexes.expected?.packages ?? null,
    };
  }

  async *run(): AsyncGenerator<Finding> {
    const { databases = [], mayUseThread = availableParallelism() > 1, signal } = this.#options;
    const named = this.#folder;
    const exported = typeof named === "string" ? await findExport(named, this.#options.disk) : undefined;
    const place =
      exported === undefined
        ? await openPlace(named, this.#options)
        : await openPlace(join(exported, exportedPackagesName), { ...this.#options, isExport: true });
    const { root, start, hasState, disk } = place;
    const hasher = new FileHasher({ disk, signal, mayUseThread });
    this.#opened.push(place, hasher, this.#indexes);
    try {
      const seen = await SeenPackages.open(this.#thread);
      this.#opened.push(seen);
      const pruned = hasState ? new PrunedPackages(root, disk, seen) : undefined;
      const below = start === root ? "" : `${start.slice(root.length + 1).replaceAll("\\", "/")}/`;
      const work: Work = { place, below, root, disk, seen, pruned, exported, hasher };
      for (const given of databases) {
        yield* this.#indexes.open(given, place, below);
      }
      yield* this.#walk(work);
      await seen.index();
      yield* checkComplete(seen, this.#totals);
      yield* checkChain(work, this.#unchecked);
      yield* checkSupplements(work, this.#unchecked);
      yield* this.#checkIndexes(work);
      if (exported !== undefined) {
        yield* checkExport({ folder: exported, hasher, seen });
        const { unchecked, notes } = noteNeighbours(this.#unchecked.splice(0));
        this.#unchecked.push(...unchecked);
        this.#notes.push(...notes);
      }
      yield* this.#checkTimestamps(work);
      if (hasState) {
        this.#notes.push(...(await findLeftovers(root, disk)));
      }
    } finally {
      try {
        await Promise.all(this.#opened.map((one) => one.close()));
      } finally {
        await this.#thread.close();
      }
    }
  }

  async *#walk(work: Work): AsyncGenerator<Finding> {
    const { root, start, hasState } = work.place;
    let isArchive = hasState || work.exported !== undefined;
    const strays: Finding[] = [];
    const unfinished = new UnfinishedPackages(work.place.files.kind, work.pruned);
    const check = async (entry: WalkEntry): Promise<readonly Finding[]> => {
      this.#options.signal?.throwIfAborted();
      if (entry.kind === "package") {
        isArchive = true;
        return this.#checkPackage(entry, work);
      }
      if (entry.kind === "stray") {
        if (!(await unfinished.has(entry.path))) {
          strays.push(findingOf(entry));
        }
        return [];
      }
      return [findingOf(entry)];
    };
    for await (const findings of inParallel(walkPackages(root, start, work.disk), packagesAtOnce, check)) {
      yield* findings;
      if (isArchive) {
        yield* strays.splice(0);
      } else if (strays.length > mostStrays) {
        break;
      }
    }
    this.#notes.push(...unfinished.notes);
    if (this.#totals.packages === 0) {
      const problem = hasState
        ? "there are no packages here"
        : "there are no packages here: this is not an archive, or all of its packages are missing";
      this.#unchecked.push({ kind: "no-packages", path: work.below.slice(0, -1), problem });
    }
  }

  async #checkPackage(entry: WalkedPackage, work: Work): Promise<readonly Finding[]> {
    const { seen, hasher } = work;
    const findings: Finding[] = [];
    for await (const finding of checkPackage(entry, hasher, this.#totals)) {
      findings.push(finding);
    }
    const isMissing = findings.some(({ kind }) => kind === "missing" || kind === "unreadable");
    if (isMissing && (await isPruned(entry, work))) {
      // It was deleted while it was checked.
      this.#totals.packages -= 1;
      return [];
    }
    await seen.add(seenOf(entry));
    return findings;
  }

  /** What reads time stamps is loaded only if there are some: most archives have none. */
  async *#checkTimestamps(work: Work): AsyncGenerator<Finding> {
    const { timestampRoots } = this.#options;
    if (
      timestampRoots !== undefined ||
      (await new TimestampFolder(work.root, work.disk, work.exported).hasAny())
    ) {
      const { checkTimestamps } = await import("./timestamps.ts");
      const roots = await readRoots(timestampRoots);
      yield* checkTimestamps(work, roots, { unchecked: this.#unchecked, notes: this.#notes });
    }
  }

  async *#checkIndexes(work: Work): AsyncGenerator<Finding> {
    const { below, seen } = work;
    const { readable } = this.#indexes;
    for (const index of readable) {
      this.#options.signal?.throwIfAborted();
      const ofCopy = this.#indexes.isOfOtherPlace(index) ? this.#notes : undefined;
      yield* readDatabase(index, this.#unchecked, new IndexCheck(index, work).run(below));
      yield* readDatabase(index, this.#unchecked, index.damagedRows());
      yield* readDatabase(index, this.#unchecked, checkUnlisted(index, work, ofCopy));
      yield* readDatabase(index, this.#unchecked, checkMeasurements(index, seen));
    }
    this.#unchecked.push(...(await checkOthers(readable, seen)));
  }
}

/** The indexes in the databases that a verification was given. */
class OpenedIndexes {
  /** Those that can be read. */
  readonly readable: IndexReader[] = [];
  readonly #opened: IndexReader[] = [];
  readonly #ofOtherPlaces = new Set<IndexReader>();
  readonly #thread: ToolThread;
  readonly #unchecked: Unchecked[];
  readonly #notes: ArchiveNote[];
  #expected: { readonly packages: number; readonly bytes: number } | null = null;

  /** Adds to these what cannot be checked, and what is worth knowing. Files are opened in the thread. */
  constructor(
    thread: ToolThread,
    { unchecked, notes }: { readonly unchecked: Unchecked[]; readonly notes: ArchiveNote[] },
  ) {
    this.#thread = thread;
    this.#unchecked = unchecked;
    this.#notes = notes;
  }

  /** How many packages they list below the checked folder, with how many bytes; null if none can be read. */
  get expected(): { readonly packages: number; readonly bytes: number } | null {
    return this.#expected;
  }

  /** Whether the packages of its store are elsewhere: this is a copy of them. */
  isOfOtherPlace(index: IndexReader): boolean {
    return this.#ofOtherPlaces.has(index);
  }

  /** Opens the databases of a path. `below` is the path of the checked folder, as the indexes have it. */
  async *open(given: string, place: OpenedPlace, below: string): AsyncGenerator<Finding> {
    try {
      for (const file of await findDatabases(given, { key: place.key, name: place.location }, this.#thread)) {
        yield* this.#openOne(file, place, below);
      }
    } catch (error) {
      this.#leaveUnchecked(given, error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
  }

  async *#openOne(file: string, { key }: OpenedPlace, below: string): AsyncGenerator<Finding> {
    try {
      const index = await IndexReader.open(file, this.#thread);
      this.#opened.push(index);
      await index.check("whole");
      this.readable.push(index);
      const { packages, bytes } = await index.count(below);
      const { packages: before = 0, bytes: bytesBefore = 0 } = this.#expected ?? {};
      this.#expected = { packages: packages + before, bytes: bytes + bytesBefore };
      if (index.folder !== null && !(await isFolder(index.folder, key))) {
        this.#ofOtherPlaces.add(index);
        const text = `the store of this database last used the folder ${index.folder}`;
        this.#notes.push({ kind: "other-folder", path: file, text });
      }
    } catch (error) {
      if (isDimensionerError(error) && error.sentence === "storeDamaged") {
        yield { kind: "database", path: file, problem: error.message };
      } else {
        this.#leaveUnchecked(file, error);
      }
    }
  }

  #leaveUnchecked(file: string, error: unknown): void {
    const problem = isDimensionerError(error) ? error.message : sayUnreadable(error);
    this.#unchecked.push({ kind: "database", path: file, problem });
  }
}

/** The totals of a verification, which grow while it runs. */
export interface CheckedTotals {
  packages: number;
  files: number;
  bytes: number;
  incomplete: number;
}

/** Checks each file of a package against its manifest, and its folder for files that do not belong there. */
async function* checkPackage(
  { path, folder, manifest }: WalkedPackage,
  hasher: FileHasher,
  totals: CheckedTotals,
): AsyncGenerator<PackageFinding> {
  totals.packages += 1;
  const files = filesOf(manifest);
  const claimed = new Map(manifest.complete ? manifest.items.map((item) => [item.path, item]) : []);
  for (const file of files) {
    const found = await hasher.hash(join(folder, file.path));
    totals.files += 1;
    totals.bytes += typeof found === "object" ? found.bytes : 0;
    const finding =
      compare(file, found) ?? (await compareMedium(join(folder, file.path), claimed.get(file.path), hasher));
    if (finding !== undefined) {
      yield { ...finding, path: below(path, file.path) };
    }
  }
  const named = new Set([manifestFileName, ...files.map((file) => file.path)]);
  try {
    for await (const name of straysOf(folder, named, hasher.disk)) {
      if (!holdName.test(name)) {
        yield { kind: "stray", path: below(path, name), problem: "this does not belong to the package" };
      }
    }
  } catch (error) {
    if (isDimensionerError(error)) {
      throw error;
    }
    yield { kind: "unreadable", path, problem: sayUnreadable(error) };
  }
}

type ManifestFile = ReturnType<typeof filesOf>[number];

function compare(file: ManifestFile, found: HashAnswer): Omit<PackageFinding, "path"> | undefined {
  if (found === undefined) {
    return { kind: "missing", problem: "the file is not there" };
  }
  if (typeof found === "string") {
    return { kind: "unreadable", problem: found };
  }
  if (found.bytes !== file.bytes) {
    return { kind: "changed", problem: `the file has ${found.bytes} bytes instead of ${file.bytes}` };
  }
  return found.sha256 === file.sha256
    ? undefined
    : { kind: "changed", problem: "the content is not what was archived (sha256)" };
}

/** Version 0.1 took an error message with the status of success for the picture or the video that was asked for, and called its package complete. */
async function compareMedium(
  path: string,
  item: Manifest["items"][number] | undefined,
  { disk }: FileHasher,
): Promise<Omit<PackageFinding, "path"> | undefined> {
  if (item === undefined || item.contentTypeFound !== null || item.recognized === false) {
    return undefined;
  }
  const announced = item.contentTypeAnnounced ?? "";
  if (isTextType(announced) || (item.source !== "device" && !/^(?:image|video)\//i.test(announced))) {
    return undefined;
  }
  let file: ReadFile | undefined;
  try {
    file = await openPlain(path, disk);
    const head = Buffer.alloc(documentBytes);
    const { bytesRead } = (await file?.read(head, 0, head.length, 0)) ?? { bytesRead: 0 };
    const words = sayDocument(head.subarray(0, bytesRead));
    return words === undefined
      ? undefined
      : { kind: "document", problem: `this is not an image or a video, but ${words}` };
  } catch (error) {
    if (isDimensionerError(error)) {
      throw error;
    }
    return { kind: "unreadable", problem: sayUnreadable(error) };
  } finally {
    await file?.close();
  }
}

/** A path in a package; the path of a package that is verified alone is empty. */
function below(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}

interface Gap {
  readonly path: string;
  readonly archived: string;
  readonly store: string | null;
  /** The path of the missing manifest. */
  readonly previous: string;
  /** Whether another manifest is there. */
  readonly isReplaced: boolean;
}

/**
 * Selects each package, the first package of the same store that names the same predecessor or none, and whether the
 * predecessor was seen. If it was seen at another path, the packages were copied out of their archive.
 */
const links = `SELECT seen_order, path, archived, store, previous_path, previous_sha256,
    (SELECT other.path FROM seen AS other
      WHERE other.previous_sha256 IS link.previous_sha256 AND other.store IS link.store
      ORDER BY other.archived, other.path LIMIT 1) AS first_path,
    EXISTS (SELECT 1 FROM seen AS before WHERE before.sha256 = link.previous_sha256) AS is_seen
  FROM seen AS link
  WHERE seen_order > ? AND (path <> first_path OR (previous_sha256 IS NOT NULL AND NOT is_seen))
  ORDER BY seen_order LIMIT ?`;

/**
 * Checks that each manifest is the one that the next manifest of its store names; the first one of a store may name one
 * of another store. The names are hashes, so there can be no circle, and a missing package leaves a gap before the one
 * that names it. A missing last package cannot be seen in the chain, and what is missing in an export was not exported. Findings are yielded; what cannot be checked is
 * added to `unchecked`.
 */
async function* checkChain(parts: CheckParts, unchecked: Unchecked[]): AsyncGenerator<Finding> {
  // If packages were copied out of their archive, the chain of each store begins with a package that names another one
  // before it.
  const beginnings = new Map<string | null, Gap>();
  let firstOutside: Gap | undefined;
  let outside = 0;
  for await (const row of parts.seen.pages(links)) {
    const path = String(row["path"]);
    const first = String(row["first_path"]);
    if (first !== path) {
      yield explainFork(path, first, row["previous_sha256"] === null);
      continue;
    }
    const gap = await findGap(row, parts).catch((error: unknown) => sayUnreadable(error));
    if (typeof gap === "string") {
      yield { kind: "unreadable", path: String(row["previous_path"]), problem: gap };
    } else if (gap !== undefined && parts.exported !== undefined && !gap.isReplaced) {
      firstOutside ??= gap;
      outside += 1;
    } else if (gap !== undefined) {
      const other = await replaceBeginning(gap, beginnings, parts);
      if (other !== undefined) {
        yield explainGap(other, parts.pruned !== undefined);
      }
    }
  }
  if (firstOutside !== undefined) {
    const { path, previous } = firstOutside;
    const others = outside === 1 ? "" : `, and so are those before ${outside - 1} others`;
    const problem = `the previous package, ${previous}, is not in this export${others}: the chain was checked between the exported packages only`;
    unchecked.push({ kind: "earlier-packages", path, problem });
  }
  for (const { path, previous } of beginnings.values()) {
    const problem = `whether packages before this one are missing: the previous one, ${previous}, is not here`;
    unchecked.push({ kind: "earlier-packages", path, problem });
  }
}

async function findGap(row: Row, { root, disk, pruned }: CheckParts): Promise<Gap | undefined> {
  const [path, archived] = [String(row["path"]), String(row["archived"])];
  const previous = String(row["previous_path"]);
  const sha256 = String(row["previous_sha256"]);
  const store = row["store"] === null ? null : String(row["store"]);
  // It may be outside the checked folder, or have got its name after the walk passed.
  const found = await loadManifestWithin(root, previous, disk);
  const isThere = typeof found === "object" && found.sha256 === sha256;
  if (isThere || (await pruned?.has(sha256)) === true) {
    return undefined;
  }
  return { path, archived, store, previous, isReplaced: found !== "none" };
}

/** If a store was begun elsewhere, its oldest gap is its beginning; returns this gap, which is none. */
async function replaceBeginning(
  gap: Gap,
  beginnings: Map<string | null, Gap>,
  { pruned, seen }: CheckParts,
): Promise<Gap | undefined> {
  const { store, archived, isReplaced } = gap;
  if (pruned !== undefined || isReplaced) {
    return gap;
  }
  const before = beginnings.get(store);
  if (before === undefined) {
    const first = await seen.select(
      "SELECT 1 FROM seen WHERE previous_sha256 IS NULL AND store IS ? LIMIT 1",
      [store],
    );
    if (first.length > 0) {
      return gap;
    }
  }
  if (before !== undefined && before.archived <= archived) {
    return gap;
  }
  beginnings.set(store, gap);
  return before;
}

function explainFork(path: string, first: string, isBeginning: boolean): Finding {
  const problem = isBeginning
    ? `neither this package nor ${first} of the same store names a previous one: the archive was started twice, and packages in between may be missing`
    : `${first} of the same store names the same package before it: one of them is a copy, or was not archived here`;
  return { kind: isBeginning ? "begun-twice" : "two-successors", path, problem };
}

function explainGap({ path, previous, isReplaced }: Gap, hasLog: boolean): Finding {
  if (isReplaced) {
    const problem = `the previous manifest, ${previous}, is not the original one`;
    return { kind: "previous-changed", path, problem };
  }
  const state = hasLog ? "missing and was not pruned" : "not here";
  return {
    kind: "previous-missing",
    path,
    problem: `the previous package, ${previous}, is ${state}`,
  };
}

/**
 * Selects incomplete packages without a complete supplement to the same package. A supplement is complete by all that was asked for
 * before it, so a later one that lacks something is not completed by an earlier one.
 */
const incomplete = `SELECT seen_order, path, missing FROM seen AS one
  WHERE seen_order > ? AND missing IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM seen AS other
    WHERE other.supplements = coalesce(one.supplements, one.sha256) AND other.missing IS NULL
      AND (one.supplements IS NULL OR other.archived >= one.archived))
  ORDER BY seen_order LIMIT ?`;

/** Reports packages that were archived incomplete and were not completed since. */
async function* checkComplete(seen: SeenPackages, looked: CheckedTotals): AsyncGenerator<Finding> {
  for await (const row of seen.pages(incomplete)) {
    looked.incomplete += 1;
    const problem = `archived without: ${String(row["missing"])}`;
    yield { kind: "incomplete", path: String(row["path"]), problem };
  }
}

/** Checks one package of the index, and the manifest before it. */
export async function* checkIndexed(
  { root, disk }: Pick<ArchiveFiles, "disk" | "root">,
  { path, sha256 }: PlacedPackage,
  totals: CheckedTotals,
  signal: AbortSignal | undefined,
): AsyncGenerator<PackageFinding> {
  const found = await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(explain);
  if (typeof found === "string") {
    totals.packages += 1;
    yield found === "none"
      ? { kind: "missing-package", path, problem: "the package is gone" }
      : { kind: "manifest", path, problem: found === "damaged" ? damagedManifest : found };
    return;
  }
  const { manifest } = found;
  if (found.sha256 !== sha256) {
    yield { kind: "manifest", path, problem: "the manifest is not the one that the index lists" };
  }
  const folder = join(root, path);
  const hasher = new FileHasher({ disk, signal, mayUseThread: false });
  yield* checkPackage({ kind: "package", path, folder, ...found }, hasher, totals);
  if (!manifest.complete) {
    totals.incomplete += 1;
  }
  const { previous } = manifest;
  if (previous !== null && (await isReplaced({ root, disk }, previous))) {
    const problem = "the manifest before this one is not the one that it names";
    yield { kind: "previous-changed", path, problem };
  }
}

/** Whether another manifest is in the place of this one, which was not deleted because of its age before. */
async function isReplaced(
  files: Pick<ArchiveFiles, "disk" | "root">,
  { path, sha256 }: PlacedPackage,
): Promise<boolean> {
  const there = await loadManifestWithin(files.root, path, files.disk);
  return (
    typeof there === "object" &&
    there.sha256 !== sha256 &&
    (await findPruned(files, "sha256", new Set([sha256]))).size === 0
  );
}

/** A bucket that fails would fail for each package. */
function explain(error: unknown): string {
  if (isDimensionerError(error)) {
    throw error;
  }
  return sayUnreadable(error);
}

/** The packages of measurements whose transaction is known. */
const measured = `SELECT seen_order, path, store, accepted, is_listed, measurement_key, transaction_id, legacy_id FROM seen
  WHERE seen_order > ? AND measurement_key IS NOT NULL ORDER BY seen_order LIMIT ?`;

const atOnce = 500;
/** The database forgets measurements when it is opened, not at a moment of its own. */
const slackMs = 24 * 3_600_000;

/**
 * Compares the database's table of measurements with the packages: a measurement has to have the transaction that its manifest names, and no
 * transaction may have been given to two measurements.
 */
async function* checkMeasurements(index: IndexReader, seen: SeenPackages): AsyncGenerator<Finding> {
  for (const { transactionId, count } of await index.givenTwice()) {
    const problem = `the transaction ${transactionId} was given to ${count} measurements`;
    yield { kind: "database", path: index.file, problem };
  }
  let packages: Row[] = [];
  for await (const one of seen.pages(measured)) {
    packages.push(one);
    if (packages.length === atOnce) {
      yield* compareMeasurement(packages, index);
      packages = [];
    }
  }
  // PostgreSQL has no empty lists.
  if (packages.length > 0) {
    yield* compareMeasurement(packages, index);
  }
}

async function* compareMeasurement(packages: readonly Row[], index: IndexReader): AsyncGenerator<Finding> {
  const keys = packages.map((one) => String(one["measurement_key"]));
  const rows = await index.measurements(keys, packages.flatMap(idsOf));
  const byKey = new Map(rows.map((row) => [row["measurement_key"], row]));
  const given = new Set(rows.flatMap(idsOf));
  for (const one of packages) {
    const path = String(one["path"]);
    const own = idsOf(byKey.get(one["measurement_key"] ?? null) ?? {});
    const ids = idsOf(one);
    if (own.length > 0 && !ids.some((id) => own.includes(id))) {
      const problem = `the database has given its measurement the transaction ${own[0]}, and the manifest names ${ids[0]}`;
      yield { kind: "index", path, problem };
    }
    // A package that is not in the index has been reported already.
    const isOwn = index.chains.includes(String(one["store"])) && one["is_listed"] === 1;
    const isKept = Date.now() - Date.parse(String(one["accepted"])) < keepMs - slackMs;
    if (isOwn && isKept && !ids.some((id) => given.has(id))) {
      const problem = `the database does not say that the transaction ${ids[0]} was given to this measurement`;
      yield { kind: "index", path, problem };
    }
  }
}

function idsOf(row: Row): string[] {
  return [row["transaction_id"], row["legacy_id"]].filter((id) => typeof id === "string");
}

/** Selects supplements to a package that was not seen. */
const alone = `SELECT seen_order, path, supplements_path, supplements FROM seen AS one
  WHERE seen_order > ? AND supplements IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM seen AS first WHERE first.sha256 = one.supplements)
  ORDER BY seen_order LIMIT ?`;

/**
 * Checks that the package of each supplement exists: a supplement alone is only a part of what was archived. In a copy
 * without its archive it is not known whether it should exist, which is added to `unchecked`.
 */
async function* checkSupplements(
  { seen, root, disk, pruned }: CheckParts,
  unchecked: Unchecked[],
): AsyncGenerator<Finding> {
  for await (const row of seen.pages(alone)) {
    const path = String(row["path"]);
    const first = String(row["supplements_path"]);
    const sha256 = String(row["supplements"]);
    // It may be outside the checked folder.
    const found = await loadManifestWithin(root, first, disk).catch(sayUnreadable);
    const isThere = typeof found === "object" && found.sha256 === sha256;
    if (isThere || (await pruned?.has(sha256)) === true) {
      continue;
    }
    if (typeof found === "object" || found === "damaged") {
      const problem = `the manifest that this package supplements, ${first}, is not the original one`;
      yield { kind: "base-missing", path, problem };
    } else if (found !== "none") {
      yield { kind: "unreadable", path: first, problem: found };
    } else if (pruned === undefined) {
      const problem = `whether the transaction is complete: the package that this one supplements, ${first}, is not here`;
      unchecked.push({ kind: "base-package", path, problem });
    } else {
      const problem = `the package that this one supplements, ${first}, is missing and was not pruned`;
      yield { kind: "base-missing", path, problem };
    }
  }
}

const unlisted = `SELECT seen_order, path, sha256, job FROM seen
  WHERE seen_order > ? AND NOT is_listed AND store IN (SELECT value FROM json_each(?)) ORDER BY seen_order LIMIT ?`;

/**
 * Selects packages of the index's own store that the index does not list. They may have been archived while it was
 * read, or be about to be listed. `ofCopy` is given where the store's own packages are elsewhere: what was deleted there because of
 * its age, and is kept in the copy that is checked, is a note.
 */
async function* checkUnlisted(
  index: IndexReader,
  parts: CheckParts,
  ofCopy: ArchiveNote[] | undefined,
): AsyncGenerator<Finding> {
  let kept = 0;
  for await (const row of parts.seen.pages(unlisted, [JSON.stringify(index.chains)])) {
    const [path, sha256] = [String(row["path"]), String(row["sha256"])];
    const isKnown = await index.isKnown({ job: String(row["job"]), sha256, path });
    // It may have been deleted since, or it was deleted and restored.
    if (!isKnown && ofCopy !== undefined && (await parts.pruned?.isKeptCopy(sha256)) === true) {
      kept += 1;
    } else if (!isKnown && !(await isPruned({ path, sha256 }, parts))) {
      const problem =
        "the index does not list this package: the database is an older copy, or the package was copied or restored";
      yield { kind: "unlisted", path, problem };
    }
  }
  if (kept > 0) {
    ofCopy?.push({ kind: "kept-here", path: index.file, text: sayKept(kept, index.folder ?? "") });
  }
}

function sayKept(count: number, folder: string): string {
  return count === 1
    ? `1 package that was deleted in ${folder} because of its age is still here`
    : `${count} packages that were deleted in ${folder} because of their age are still here`;
}

/**
 * For stores whose own database was not given, the end of their chains is not known, unless another index lists their
 * packages: a rebuilt index lists those of earlier stores.
 */
async function checkOthers(indexes: readonly IndexReader[], seen: SeenPackages): Promise<Unchecked[]> {
  const own = JSON.stringify(indexes.flatMap(({ chains }) => chains));
  const stores = await seen.select(
    `SELECT store, count(*) AS packages, path, max(archived) FROM seen
      WHERE NOT is_listed AND (store IS NULL OR store NOT IN (SELECT value FROM json_each(?)))
      GROUP BY store ORDER BY store LIMIT 1000`,
    [own],
  );
  return stores.map(({ store, packages, path }) => ({
    kind: "later-packages",
    path: String(path),
    problem:
      indexes.length === 0
        ? "whether packages after this one, the last of its store, are missing: only the store's database shows it. Specify it with --database"
        : `whether packages of ${sayStore(store ?? null)} are missing: ${indexes.map(({ file }) => basename(file)).join(", ")} does not list ${String(packages)} of them`,
  }));
}

function sayStore(store: SqlValue): string {
  return store === null ? "version 0.1" : `the store ${store.toString()}`;
}

/**
 * Whether a package that was seen has been deleted because of its age since. One that is in the log of deleted packages and is there
 * all the same was restored from a backup, and is checked like any other.
 */
async function isPruned(
  { path, sha256 }: PlacedPackage,
  { root, disk, pruned }: Pick<CheckParts, "disk" | "pruned" | "root">,
): Promise<boolean> {
  return (
    (await pruned?.has(sha256)) === true &&
    (await loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable)) === "none"
  );
}

/** Reports a database that cannot be read completely: it was damaged meanwhile, or is locked. */
async function* readDatabase(
  { file }: IndexReader,
  unchecked: Unchecked[],
  findings: AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    yield* findings;
  } catch (error) {
    if (!isDimensionerError(error)) {
      throw error;
    }
    if (error.sentence === "storeDamaged") {
      yield { kind: "database", path: file, problem: error.message };
    }
    unchecked.push({ kind: "database", path: file, problem: error.message });
  }
}
