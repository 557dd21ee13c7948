import { availableParallelism } from "node:os";
import { join } from "node:path";
import type {
  ArchiveNote,
  ArchiveProgress,
  Finding,
  Unchecked,
  VerifyReport,
} from "../../model/archive-reports.ts";
import type { FilesLocation } from "../files-location.ts";
import type { ArchiveDisk } from "../archive-disk.ts";
import { ToolThread } from "../../database/tool-database.ts";
import { checkChain } from "./chain-check.ts";
import { checkComplete } from "./incomplete-check.ts";
import { checkExport, exportedPackagesName, findExport, noteNeighbours } from "./export-check.ts";
import { FileHasher } from "./file-hasher.ts";
import { isPruned } from "./is-pruned.ts";
import { inParallel } from "./in-parallel.ts";
import { IndexCheck } from "./index-check.ts";
import { readDatabase } from "./read-database.ts";
import { findLeftovers } from "./leftovers.ts";
import { checkMeasurements } from "./measurement-check.ts";
import type { CheckParts } from "./check-parts.ts";
import { checkPackage, type CheckedTotals } from "./package-check.ts";
import { OpenedIndexes } from "./opened-indexes.ts";
import { openPlace, type OpenedPlace } from "./open-place.ts";
import { PrunedPackages } from "./pruned-packages.ts";
import { seenOf } from "./seen-package.ts";
import { SeenPackages } from "./seen-packages.ts";
import { checkSupplements } from "./supplement-check.ts";
import { TimestampFolder } from "./timestamp-folder.ts";
import { UnfinishedPackages } from "./unfinished-packages.ts";
import { checkOthers, checkUnlisted } from "./unlisted-check.ts";
import { findingOf, walkPackages, type WalkedPackage, type WalkEntry } from "./walk-packages.ts";

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
      const { checkTimestamps, readRoots } = await import("./timestamp-check.ts");
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
