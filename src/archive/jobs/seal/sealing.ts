import { DimensionerError } from "../../../errors/dimensioner-error.ts";
import { asFileError, diskFacts, type ArchiveDisk } from "../../archive-disk.ts";
import type { PlacedPackage } from "../../packages/intent.ts";
import type { Manifest } from "../../packages/manifest.ts";
import type { PackageIndex } from "../../packages/package-index.ts";
import { PackageWriter, type Completeness, type WrittenFile } from "../../packages/package-writer.ts";
import type { PackagePlace, PreparedPackage, SealedFile } from "../../place/package-place.ts";
import { additionOf, hasAll, wholeOf, type Addition } from "./addition.ts";
import type { JobTable, SealedJob } from "../table/job-table.ts";
import { findExisting, type Existing, type ExistingPackage } from "./existing-packages.ts";
import { keysOfManifest, keysOfWhole, type Answer } from "../table/job-keys.ts";
import type { OpenJob } from "../table/open-job.ts";
import { searchOf } from "../table/searches.ts";
import type { WorkFolders } from "./work-folders.ts";

/** The result of a job: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** Its absolute path, or its address in a bucket. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
  /** The package with all media and, if it existed before, its supplements. */
  readonly packages: readonly ExistingPackage[];
  /** Whether these contain everything that the job requires. */
  readonly complete: boolean;
}

/** Judges a job that accepts no further media: whether it is complete, together with the existing packages. */
export type Judge = (packages: readonly ExistingPackage[]) => Completeness;

interface SealingParts {
  readonly place: PackagePlace;
  /** The id of the worker, which its packages name: each worker has a chain of its own. */
  readonly chain: string;
  /** The disk of the work folders. */
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly index: PackageIndex;
  /** The last package of the chain, which the next manifest names. */
  readonly last: PlacedPackage | undefined;
}

/** Seals the jobs of one store into packages, and finds packages. */
export class Sealing {
  readonly #parts: SealingParts;
  readonly #writer: PackageWriter;
  #last: PlacedPackage | undefined;
  /** Packages that were found after a kill, by the hash of the one before them. */
  readonly #successors = new Map<string, PlacedPackage>();
  /** Damaged packages that were reported already: a job searches for its package when it begins and when it ends. */
  readonly #toldDamaged = new Set<string>();
  /** The last job that is being sealed, by key. */
  readonly #sealed = new Map<string, Promise<void>>();
  /** Packages get their names one after the other, because each manifest names the one before. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: SealingParts) {
    this.#parts = parts;
    this.#last = parts.last;
    this.#writer = new PackageWriter(parts.disk);
  }

  /** Finds the packages for the keys of a job and its measurement; a damaged one is reported, and stays as it is. */
  async find(keys: readonly string[], answer: Answer, onDamaged: (path: string) => void): Promise<Existing> {
    const { place, index } = this.#parts;
    const reportOnce = (path: string): void => {
      if (!this.#toldDamaged.has(path)) {
        this.#toldDamaged.add(path);
        onDamaged(path);
      }
    };
    return await findExisting(keys, answer, { place, index, onDamaged: reportOnce });
  }

  /**
   * Makes the package of a job that has all its media. `judge` is called when the job accepts no more, with the media
   * that it has then. If there is a package for the same measurement already, the result is a supplement to it, or
   * nothing if it would contain nothing new. Throws ERR_FILE or ERR_STORE; may be called again then, after `reopen`.
   */
  async seal(job: OpenJob, judge: Judge, onDamaged: (path: string) => void): Promise<Archived> {
    // Noted before the response of the database: without one, it may have happened nevertheless.
    job.state = "sealing";
    const sealed = await this.#parts.jobs.seal(job.id, searchOf(job)?.key ?? null);
    if (sealed === undefined) {
      throw new Error(`The job ${job.id} was sealed twice.`);
    }
    job.items = sealed.items;
    const keys = keysOfWhole(job);
    return await this.#inTurn(keys, async () => {
      const { packages } = await this.find(keys, job.answer, onDamaged);
      const completeness = judge(packages);
      const [first] = packages;
      const addition = additionOf(job, packages);
      if (first !== undefined && addition === null) {
        return await this.#finish(job, this.existing(first, packages, completeness.complete));
      }
      try {
        return await this.#write(job, sealed, completeness, addition ?? wholeOf(job));
      } catch (error) {
        const { files } = this.#parts.place;
        throw asFileError(error, files.addressOf(job.intent.folder.join("/")), files.name);
      }
    });
  }

  /** Runs jobs with a common key one after the other: the second one has to see the package of the first. */
  async #inTurn<T>(keys: readonly string[], act: () => Promise<T>): Promise<T> {
    const before = keys.map(async (key) => this.#sealed.get(key));
    const done = Promise.all(before).then(act);
    const ended = done.then(
      () => undefined,
      () => undefined,
    );
    keys.forEach((key) => this.#sealed.set(key, ended));
    try {
      return await done;
    } finally {
      for (const key of keys) {
        if (this.#sealed.get(key) === ended) {
          this.#sealed.delete(key);
        }
      }
    }
  }

  /** Finds the package of a job that is resumed after a restart or a failure, if it has its name already. */
  async recover(job: OpenJob): Promise<Archived | undefined> {
    const { place, work, jobs } = this.#parts;
    if (job.placed !== null) {
      const manifest = await place.find(job.placed);
      if (typeof manifest === "object") {
        return this.#result({ ...job.placed, manifest });
      }
      job.placed = null;
    }
    if (job.state === "sealing") {
      const found = await place.seek(job.id, job.intent.folder);
      if (found !== undefined) {
        if (found.manifest.store === this.#parts.chain) {
          this.#follow(found, found.manifest);
        }
        return await this.#finish(job, this.#result(found));
      }
    }
    if (job.state !== "collecting") {
      await jobs.collect(job.id);
      job.state = "collecting";
    }
    await work.make(job.id);
    const names = new Set([...job.items.values()].map(({ path }) => path));
    await work.reopen(job.id, (name) => names.has(name));
    return undefined;
  }

  /** Adds a package that a killed process had placed to the chain, and those that follow it. */
  #follow({ path, sha256 }: PlacedPackage, { previous }: Manifest): void {
    this.#successors.set(previous?.sha256 ?? "", { path, sha256 });
    for (let next; (next = this.#successors.get(this.#last?.sha256 ?? "")) !== undefined;) {
      this.#last = next;
    }
  }

  async #write(
    job: OpenJob,
    { texts: stored, legacyTransactionId }: SealedJob,
    completeness: Completeness,
    addition: Addition,
  ): Promise<Archived> {
    const { work, chain, place } = this.#parts;
    if (stored === undefined) {
      throw new DimensionerError("jobDamaged", diskFacts, { value: job.id });
    }
    const { items, supplements } = addition;
    const texts = addition.hasAnswer ? stored : { ...stored, measurement: null, raw: null };
    const from = await work.seal(
      job.id,
      items.map(({ path }) => path),
    );
    const written = await this.#writer.writeMeasurement(from, texts);
    const files = [
      ...items.map(({ path, bytes, sha256, ...item }) => {
        const contentType = item.contentTypeFound ?? item.contentTypeAnnounced ?? undefined;
        return { path, bytes, sha256, contentType };
      }),
      ...written.map(withType),
    ];
    const prepared = await place.prepare({ job: job.id, folder: from, parts: job.intent.folder, files });
    const { id, acceptedAt, intent, transactionId } = job;
    const content = {
      job: id,
      store: chain,
      acceptedAt,
      transactionId,
      legacyTransactionId,
      intent,
      texts,
      items,
      supplements,
      ...completeness,
    };
    const placing = this.#turn.then(async () => {
      const previous = this.#last ?? null;
      const { manifest, file } = await this.#writer.writeManifest(from, { ...content, previous });
      return await this.#place(job, prepared, manifest, file);
    });
    this.#turn = placing.catch(() => undefined);
    return await placing;
  }

  async #place(
    job: OpenJob,
    prepared: PreparedPackage,
    manifest: Manifest,
    file: WrittenFile,
  ): Promise<Archived> {
    const placed = await prepared.place(withType(file), (there) => hasAll(there, manifest));
    if ("manifest" in placed) {
      return await this.#finish(job, this.existing(placed, [placed], placed.manifest.complete));
    }
    this.#last = { path: placed.path, sha256: file.sha256 };
    return await this.#finish(job, this.#result({ ...this.#last, manifest }));
  }

  async #finish(job: OpenJob, archived: Archived): Promise<Archived> {
    const { path, sha256, manifest } = archived;
    const placed = { path, sha256 };
    const keys = keysOfManifest(manifest);
    const { jobs, place } = this.#parts;
    await jobs.archived(job.id, keys.own, placed, place.index(keys, placed, manifest));
    job.key = keys.own;
    job.state = "archived";
    job.placed = placed;
    return archived;
  }

  #result(one: ExistingPackage): Archived {
    const { path, manifest } = one;
    const folder = this.#parts.place.files.addressOf(path);
    return { ...one, folder, wasThere: false, packages: [one], complete: manifest.complete };
  }

  /** The result of a job that brings nothing new. */
  existing(first: ExistingPackage, packages: readonly ExistingPackage[], complete: boolean): Archived {
    return { ...this.#result(first), wasThere: true, packages, complete };
  }
}

function withType(file: WrittenFile): SealedFile {
  return file.path.endsWith(".json") ? { ...file, contentType: "application/json" } : file;
}
