import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import type { Row, SqlValue } from "../../database/database.ts";
import { ToolThread } from "../../database/tool-database.ts";
import { VerificationTable } from "../../database/verification-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { documentBytes, sayDocument } from "../../media/formats.ts";
import {
  type ArchiveNote,
  type ArchiveProgress,
  type CheckedLog,
  type Finding,
  type PackageFinding,
  type TimesInDoubt,
  type Unchecked,
  type Verdict,
  type VerifyReport,
  packageFindingKinds,
} from "../../model/archive-reports.ts";
import { isTextType } from "../../model/documents.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import {
  type ArchiveDisk,
  type ReadDisk,
  type ReadFile,
  holdFileName,
  holdName,
  manifestFileName,
  measurementFileName,
  plainDisk,
  stateFolderName,
  trashFolderName,
  BlockingDisk,
} from "../archive-disk.ts";
import { checkExport, exportedPackagesName, findExport, noteNeighbours } from "./export-check.ts";
import { FileHasher, type ReadWhole } from "../file-hasher.ts";
import type { VaultLocation } from "../store.ts";
import type { Vault } from "../vault.ts";
import type { HashAnswer } from "../hash-thread.ts";
import { IndexReader, findDatabases, isFolder, isOfPlace, openForTool } from "../index-reader.ts";
import { UnfinishedPackages, checkTrash, findLeftovers, trashOf } from "./leftovers.ts";
import { type OpenedScope, openScope } from "../open-vault.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { keepMs } from "../packages/package-keys.ts";
import { type Manifest, filesOf, measuredOf, mostMeasurementBytes } from "../packages/manifest.ts";
import { openPlain } from "../packages/package-files.ts";
import { TimeNotes, timesInDoubt } from "../packages/package-times.ts";
import { LogCheck } from "../log/check-log.ts";
import { Checkpoints } from "../log/checkpoints.ts";
import type { PackageProof, ProvenPackage } from "../log/package-proof.ts";
import type { ReplayedLog } from "../log/replay.ts";

import {
  type CheckParts,
  IndexCheck,
  PrunedPackages,
  SeenPackages,
  compareRow,
  compareWords,
  seenOf,
} from "./seen-packages.ts";
import { readRoots, timestampsOf } from "../timestamp/timestamp-folder.ts";
import type { NewestTimestamps, TimestampChecks } from "../timestamp/timestamps.ts";
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
} from "../walk.ts";
import { dayMs } from "../../time/clocks.ts";

/** If this many files and folders belong to no package, and no package was found, the folder is not an archive. */
const mostStrays = 1_000;
/** While a file of one is hashed, one of the other is hashed by another core, or comes from a bucket. */
const packagesAtOnce = 2;

export interface VerifyOptions {
  /** The databases of the stores that have archived into the folder, or folders that contain them. */
  readonly databases?: readonly string[];
  /** A PEM file with the root certificates that signers are checked against. */
  readonly timestampRoots?: string | undefined;
  /** Files with checkpoints of the logs, which somebody has kept elsewhere. */
  readonly checkpoints?: readonly string[] | undefined;
  /** Aborting ends the verification with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whether a second core may be used if there is much to hash; where the computer has one, if it is not given. */
  readonly mayUseThread?: boolean;
  /** Whether this thread has nothing else to do, so that it may wait for the disk: small files take a third of the processor's time then. */
  readonly mayBlock?: boolean;
  /** For tests. */
  readonly disk?: ArchiveDisk;
}

/** What all steps of one verification use. */
interface Work extends CheckParts {
  readonly scope: OpenedScope;
  /** The path of the checked folder, with a slash at the end; empty for the folder of packages itself. */
  readonly below: string;
  readonly hasher: FileHasher;
}

/**
 * Checks an archive, one of its folders, one package, or an extracted export: every file against its manifest, every manifest against the
 * one that follows it, the folders for files that do not belong there, and the index in the store's database for
 * missing packages. It reports what is wrong and, separately, what could not be checked. Packages are only read; the database notes when
 * each was verified. It takes no more memory for more packages. Throws the system's error if the folder itself cannot be read.
 */
export class Verification {
  readonly #folder: string | VaultLocation;
  readonly #options: VerifyOptions;
  readonly #totals: CheckedTotals = { packages: 0, files: 0, bytes: 0, incomplete: 0 };
  readonly #unchecked: Unchecked[] = [];
  readonly #notes: ArchiveNote[] = [];
  #logs: readonly CheckedLog[] = [];
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #timeNotes = new TimeNotes(this.#notes);
  readonly #thread = new ToolThread();
  #seen: SeenPackages | undefined;
  readonly #indexes = new OpenedIndexes(this.#thread, { unchecked: this.#unchecked, notes: this.#notes });

  constructor(folder: string | VaultLocation, options: VerifyOptions = {}) {
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
    return {
      verdict: verdictOf(findings, this.#unchecked),
      findings,
      unchecked: this.#unchecked,
      notes: this.#notes,
      logs: this.#logs,
      ...this.#totals,
      expected: this.#indexes.expected?.packages ?? null,
      part: null,
    };
  }

  async *run(): AsyncGenerator<Finding> {
    try {
      for await (const finding of this.#verify()) {
        if (ofPackages.has(finding.kind)) {
          await this.#seen?.addFound(finding);
        }
        yield finding;
      }
    } finally {
      try {
        await Promise.all(this.#opened.map((one) => one.close()));
      } finally {
        await this.#thread.close();
      }
    }
  }

  async *#verify(): AsyncGenerator<Finding> {
    const { databases = [], mayUseThread = availableParallelism() > 1, signal } = this.#options;
    const named = this.#folder;
    const exported = typeof named === "string" ? await findExport(named, this.#options.disk) : undefined;
    const scope =
      exported === undefined
        ? await openScope(named, this.#options)
        : await openScope(join(exported, exportedPackagesName), { ...this.#options, isExport: true });
    const { root, start, hasState } = scope;
    if (exported !== undefined && root !== join(exported, exportedPackagesName)) {
      this.#opened.push(scope);
      const problem = "this is a link: an export has none, and what it leads to was not read";
      yield { kind: "stray", path: exportedPackagesName, problem };
      return;
    }
    const disk =
      this.#options.mayBlock === true && scope.disk === plainDisk ? new BlockingDisk() : scope.disk;
    const hasher = new FileHasher({ disk, signal, mayUseThread });
    this.#opened.push(scope, hasher, this.#indexes);
    const seen = await SeenPackages.open(this.#thread);
    this.#seen = seen;
    this.#opened.push(seen);
    const checkpoints = await Checkpoints.read(timestampsOf({ root, disk }), this.#options.checkpoints ?? []);
    const logs = hasState ? await LogCheck.begin({ root, disk, seen }, checkpoints) : undefined;
    const pruned = logs === undefined ? undefined : new PrunedPackages(seen);
    const below = start === root ? "" : `${start.slice(root.length + 1).replaceAll("\\", "/")}/`;
    const work: Work = { scope, below, root, disk, seen, pruned, exported, hasher };
    for (const given of databases) {
      yield* this.#indexes.open(given, scope, below);
    }
    yield* this.#walk(work);
    this.#timeNotes.end();
    await seen.index();
    yield* checkComplete(seen, this.#totals);
    let replayed: readonly ReplayedLog[] = [];
    if (logs !== undefined) {
      const trash = yield* this.#trashIn(scope);
      const [originals = [], databases = []] = [true, false].map((is) =>
        this.#indexes.readable.filter((one) => this.#indexes.isOfOtherPlace(one) === is),
      );
      const checks = { below, databases, originals, unchecked: this.#unchecked, notes: this.#notes };
      replayed = yield* logs.checkLines(checks);
      yield* logs.checkPackages(checks);
      yield* checkTrash(trash, work, scope.vault.kind);
    }
    yield* checkpoints.check(replayed, this.#unchecked);
    yield* checkSupplements(work, this.#unchecked);
    yield* this.#checkIndexes(work);
    if (exported !== undefined) {
      yield* checkExport({ folder: exported, hasher, seen });
      const { unchecked, notes } = noteNeighbours(this.#unchecked.splice(0));
      this.#unchecked.push(...unchecked);
      this.#notes.push(...notes);
      yield* this.#checkProof(exported, work);
    }
    if (exported === undefined) {
      const checks = { logs: replayed, checkpoints, seen, unchecked: this.#unchecked };
      this.#logs = yield* checkCovered(checks, this.#options.timestampRoots);
    }
    if (hasState) {
      this.#notes.push(...(await findLeftovers(root, disk)));
    }
    if (exported === undefined) {
      await this.#noteVerified(work, this.#indexes.readable);
    }
  }

  async *#trashIn({ root, disk }: OpenedScope): AsyncGenerator<Finding, readonly string[]> {
    try {
      return await trashOf({ root, disk });
    } catch (error) {
      if (!isDimensionerError(error) || error.sentence !== "fileOutside") {
        throw error;
      }
      yield { kind: "stray", path: `${stateFolderName}/${trashFolderName}`, problem: error.message };
      return [];
    }
  }

  /** Notes in the databases when each package was verified, and with what result: the next verification of a limited time goes on there. */
  async #noteVerified({ scope, seen }: Work, indexes: readonly IndexReader[]): Promise<void> {
    const at = new Date().toISOString();
    await this.#indexes.close();
    for (const index of indexes) {
      try {
        if (await isOfPlace(index, scope.key, typeof this.#folder !== "string")) {
          await noteVerified(index.file, { thread: this.#thread, seen, at });
        }
      } catch (error) {
        const reason = isDimensionerError(error) ? error.message : sayUnreadable(error);
        const text = `when these packages were verified was not noted: ${reason}`;
        this.#notes.push({ kind: "not-noted", path: index.file, text });
      }
    }
  }

  async *#walk(work: Work): AsyncGenerator<Finding> {
    const { root, start, hasState } = work.scope;
    let isArchive = hasState || work.exported !== undefined;
    const strays: Finding[] = [];
    const unfinished = new UnfinishedPackages(work.scope.vault, work.pruned);
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
    let hasHold = false;
    const onHold = (): void => {
      hasHold = true;
    };
    for await (const finding of checkPackage(entry, hasher, this.#totals, onHold)) {
      findings.push(finding);
    }
    const isMissing = findings.some(({ kind }) => kind === "missing" || kind === "unreadable");
    if (isMissing && !(await isThere(entry, work))) {
      // It was deleted while it was checked. The log says whether it may have been.
      this.#totals.packages -= 1;
      return [];
    }
    this.#timeNotes.add(entry.path, timesInDoubt(entry.manifest));
    await seen.add(seenOf(entry, hasHold));
    return findings;
  }

  async *#checkProof(folder: string, { hasher, seen }: Work): AsyncGenerator<Finding> {
    const { checkExportProof } = await import("../export-proof.ts");
    const roots = await readRoots(this.#options.timestampRoots);
    const [unchecked, notes] = [this.#unchecked, this.#notes];
    yield* checkExportProof({ folder, disk: hasher.disk, seen, roots, unchecked, notes });
  }

  async *#checkIndexes(work: Work): AsyncGenerator<Finding> {
    const { below, seen } = work;
    const { readable } = this.#indexes;
    for (const index of readable) {
      this.#options.signal?.throwIfAborted();
      yield* readDatabase(index, this.#unchecked, new IndexCheck(index, work).run(below));
      yield* readDatabase(index, this.#unchecked, index.damagedRows());
      yield* readDatabase(index, this.#unchecked, checkUnlisted(index, work));
      yield* readDatabase(index, this.#unchecked, checkMeasurements(index, seen));
    }
    this.#unchecked.push(...(await checkOthers(readable, seen)));
  }
}

/** What is found of packages, and not of time stamps that many of them share. */
const ofPackages: ReadonlySet<string> = new Set(packageFindingKinds.filter((kind) => kind !== "timestamp"));

/** Notes when packages were verified. Rejects with ERR_STORE where the database cannot be written. */
async function noteVerified(
  file: string,
  { thread, seen, at }: { readonly thread: ToolThread; readonly seen: SeenPackages; readonly at: string },
): Promise<void> {
  const database = await openForTool(file, "write", thread);
  try {
    const table = new VerificationTable(database);
    for await (const packages of seen.verified(file)) {
      await table.note(packages, at);
    }
    for await (const found of seen.foundElsewhere(file)) {
      await table.noteBy("location", new Map(found), at);
    }
    await table.addNew();
  } finally {
    await database.close();
  }
}

/** What follows from the number of findings, and from what could not be checked. */
export function verdictOf(findings: number, unchecked: readonly Unchecked[]): Verdict {
  return findings > 0 ? "wrong" : unchecked.length > 0 ? "unchecked" : "ok";
}

/** The disk by which packages of a place are read. */
export function diskFor({ disk }: Pick<OpenedScope, "disk">, { mayBlock = false }: VerifyOptions): ReadDisk {
  return mayBlock && disk === plainDisk ? new BlockingDisk() : disk;
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
  async *open(given: string, scope: OpenedScope, below: string): AsyncGenerator<Finding> {
    try {
      for (const file of await findDatabases(given, { key: scope.key, name: scope.location }, this.#thread)) {
        yield* this.#openOne(file, scope, below);
      }
    } catch (error) {
      this.#leaveUnchecked(given, error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
  }

  async *#openOne(file: string, { key }: OpenedScope, below: string): AsyncGenerator<Finding> {
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

/**
 * Checks each file of a package against its manifest, and its folder for files that do not belong there. `onHold` is called if a file says
 * that it is on hold.
 */
async function* checkPackage(
  { path, folder, manifest }: WalkedPackage,
  hasher: FileHasher,
  totals: CheckedTotals,
  onHold = (): void => undefined,
): AsyncGenerator<PackageFinding> {
  totals.packages += 1;
  const files = filesOf(manifest);
  const claimed = new Map(manifest.complete ? manifest.items.map((item) => [item.path, item]) : []);
  if (manifest.measurement === null) {
    yield* compareFigures(manifest, null, below(path, manifestFileName));
  }
  for (const file of files) {
    const isMeasurement = file.path === manifest.measurement?.path;
    const found: HashAnswer | ReadWhole = isMeasurement
      ? await hasher.read(join(folder, file.path), mostMeasurementBytes, file.bytes)
      : await hasher.hash(join(folder, file.path), file.bytes);
    totals.files += 1;
    totals.bytes += typeof found === "object" ? found.bytes : 0;
    const finding =
      compare(file, found) ?? (await compareMedium(join(folder, file.path), claimed.get(file.path), hasher));
    if (finding !== undefined) {
      yield { ...finding, path: below(path, file.path) };
    } else if (isMeasurement && typeof found === "object") {
      const { content }: ReadWhole = found;
      yield* compareFigures(manifest, content, below(path, manifestFileName));
    }
  }
  yield* checkRetention({ path, folder, manifest }, hasher.disk);
  const named = new Set([manifestFileName, ...files.map((file) => file.path)]);
  try {
    for await (const name of straysOf(folder, named, hasher.disk)) {
      if (name === holdFileName) {
        onHold();
      }
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

/** An object store may have dropped a retention, or somebody with a special right has shortened it. It may keep whole seconds only. */
async function* checkRetention(
  { path, folder, manifest }: Pick<WalkedPackage, "folder" | "manifest" | "path">,
  disk: ReadDisk,
): AsyncGenerator<PackageFinding> {
  const { retainedUntil } = manifest.times;
  const untilMs = retainedUntil === undefined ? 0 : Date.parse(retainedUntil) - 1_000;
  if (disk.retainedUntilMs === undefined || untilMs <= Date.now()) {
    return;
  }
  for (const name of [...filesOf(manifest).map((file) => file.path), manifestFileName]) {
    const foundMs = await disk.retainedUntilMs(join(folder, name));
    if (foundMs < untilMs) {
      const found = foundMs === 0 ? "not at all" : `until ${new Date(foundMs).toISOString()}`;
      const problem = `it was to be protected from being deleted until ${retainedUntil} (Object Lock), and is ${found}; or the access key lacks s3:GetObjectRetention`;
      yield { kind: "retention", path: below(path, name), problem };
    }
  }
}

/** A manifest that says other figures than the measurement beside it was not written with it. */
function* compareFigures(
  { measured }: WalkedPackage["manifest"],
  content: Buffer | null | undefined,
  path: string,
): Generator<PackageFinding> {
  // The first packages had none.
  if (measured !== undefined && content !== undefined) {
    const fields = content === null ? null : parseFields(String(content), recordLimits);
    const there = Object.entries(measuredOf(fields ?? {}));
    const said = new Map<string, unknown>(Object.entries(measured ?? {}));
    const differing = there
      .filter(([name, value]) => (said.get(name) ?? null) !== value)
      .map(([name]) => name);
    if (differing.length > 0) {
      const problem = `it says something else than ${measurementFileName}: ${differing.join(", ")}. One of the two is not the one that was archived`;
      yield { kind: "manifest", path, problem };
    }
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

/** Checks the time stamps of logs, and counts what each log has and the newest time stamp covers. */
export async function* checkCovered(
  { seen, ...checks }: Omit<TimestampChecks, "roots"> & Pick<CheckParts, "seen">,
  rootsFile: string | undefined,
): AsyncGenerator<Finding, readonly CheckedLog[]> {
  const { logs, checkpoints } = checks;
  const hasAny = checkpoints.timestamps.size > 0 || logs.some(({ stamped }) => stamped.length > 0);
  let newest: NewestTimestamps = new Map();
  if (rootsFile !== undefined || hasAny) {
    // What reads time stamps is loaded only if there are some: most archives have none.
    const { checkTimestamps } = await import("../timestamp/timestamps.ts");
    newest = yield* checkTimestamps({ ...checks, roots: await readRoots(rootsFile) });
  }
  const counted: CheckedLog[] = [];
  for (const { store, held } of logs) {
    const timestamp = newest.get(store) ?? null;
    const [row] = await seen.select(
      `SELECT count(*) - count(pruned_n) AS packages, count(pruned_n) AS pruned,
          coalesce(sum(pruned_n IS NULL AND n < ?), 0) AS covered FROM logged WHERE store = ?`,
      [timestamp?.logSize ?? 0, store],
    );
    const [packages, covered] = [Number(row?.["packages"]), Number(row?.["covered"])];
    const pruned = Number(row?.["pruned"]);
    counted.push({
      store,
      packages,
      pruned,
      held: held.size,
      covered,
      uncovered: packages - covered,
      timestamp,
    });
  }
  return counted;
}

/** Reports packages that were archived incomplete and were not completed since. */
async function* checkComplete(seen: SeenPackages, looked: CheckedTotals): AsyncGenerator<Finding> {
  for await (const row of seen.pages(incomplete)) {
    looked.incomplete += 1;
    const problem = `archived without: ${String(row["missing"])}`;
    yield { kind: "incomplete", path: String(row["path"]), problem };
  }
}

/**
 * Checks one package of the index: its files, its row, its line in the log, and that line by the time stamps. `onTimes` is called with those
 * of its times that do not fit together.
 */
export async function* checkIndexed(
  { root, disk }: Pick<Vault, "disk" | "root">,
  { path, sha256, row, numbers, proof }: ProvenPackage,
  totals: CheckedTotals,
  signal: AbortSignal | undefined,
  onTimes: (times: TimesInDoubt[]) => void,
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
  } else {
    yield* compareRow(row, found);
  }
  const words = compareWords(row, numbers);
  if (words !== undefined) {
    yield words;
  }
  onTimes(timesInDoubt(manifest, proof));
  yield* checkLine(path, found.sha256, proof);
  const folder = join(root, path);
  const hasher = new FileHasher({ disk, signal, mayUseThread: false });
  yield* checkPackage({ kind: "package", path, folder, ...found }, hasher, totals);
  yield* proof.findings;
  if (!manifest.complete) {
    totals.incomplete += 1;
  }
}

function* checkLine(path: string, sha256: string, { line }: PackageProof): Generator<PackageFinding> {
  if (line === null) {
    const problem = "the log does not know this package: somebody has put it there, or the log was changed";
    yield { kind: "not-logged", path, problem };
  } else if (line.sha256 !== sha256) {
    yield { kind: "manifest", path, problem: "the manifest is not the one that the log names" };
  } else if (line.path !== path) {
    const problem = `the log has this package in ${line.path}: it was moved, or the index was changed`;
    yield { kind: "not-logged", path, problem };
  }
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
const slackMs = dayMs;

/**
 * Compares the database's table of measurements with the packages: a measurement has to have the transaction that its manifest names, and no
 * transaction may have been given to two measurements.
 */
async function* checkMeasurements(index: IndexReader, seen: SeenPackages): AsyncGenerator<Finding> {
  for (const { transactionId, count } of await index.givenTwice()) {
    const problem = `the transaction ${transactionId} was given to ${count} measurements`;
    yield { kind: "database", path: index.file, problem };
  }
  const [newest] = await seen.select("SELECT max(archived) AS archived FROM seen");
  // With a clock that is behind, the database would have to know measurements that it has forgotten long ago.
  const nowMs = Math.max(Date.now(), Date.parse(String(newest?.["archived"])) || 0);
  let packages: Row[] = [];
  for await (const one of seen.pages(measured)) {
    packages.push(one);
    if (packages.length === atOnce) {
      yield* compareMeasurement(packages, index, nowMs);
      packages = [];
    }
  }
  // PostgreSQL has no empty lists.
  if (packages.length > 0) {
    yield* compareMeasurement(packages, index, nowMs);
  }
}

async function* compareMeasurement(
  packages: readonly Row[],
  index: IndexReader,
  nowMs: number,
): AsyncGenerator<Finding> {
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
    const isOwn = one["store"] === index.store && one["is_listed"] === 1;
    const isKept = nowMs - Date.parse(String(one["accepted"])) < keepMs - slackMs;
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
  WHERE seen_order > ? AND NOT is_listed AND store = ? ORDER BY seen_order LIMIT ?`;

/**
 * Selects packages of the index's own store that the index does not list. They may have been archived while it was
 * read, or be about to be listed. One that was deleted and is there is said of the log.
 */
async function* checkUnlisted(index: IndexReader, parts: CheckParts): AsyncGenerator<Finding> {
  for await (const row of parts.seen.pages(unlisted, [index.store])) {
    const [path, sha256] = [String(row["path"]), String(row["sha256"])];
    const isKnown = await index.isKnown({ job: String(row["job"]), sha256, path });
    if (!isKnown && (await parts.pruned?.has(sha256)) !== true && (await isThere({ path }, parts))) {
      const problem =
        "the index does not list this package: the database is an older copy, or the package was copied or restored";
      yield { kind: "unlisted", path, problem };
    }
  }
}

/**
 * For stores whose own database was not given, the end of their logs is not known, unless another index lists their
 * packages: a rebuilt index lists those of earlier stores.
 */
async function checkOthers(indexes: readonly IndexReader[], seen: SeenPackages): Promise<Unchecked[]> {
  const own = JSON.stringify(indexes.map(({ store }) => store));
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

/** Whether a package that was seen is still there. */
async function isThere(
  { path }: Pick<PlacedPackage, "path">,
  { root, disk }: Pick<CheckParts, "disk" | "root">,
): Promise<boolean> {
  const found = await loadManifestWithin(root, below(path, manifestFileName), disk).catch(sayUnreadable);
  return found !== "none";
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
