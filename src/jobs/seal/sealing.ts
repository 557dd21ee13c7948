import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { isRefused } from "../../database/postgres-failures.ts";
import { asFileError, diskFacts, type ArchiveDisk } from "../../vault/archive-disk.ts";
import type { PlacedPackage, StoredItem } from "../../vault/packages/intent.ts";
import type { PackageIndex } from "../../vault/packages/package-index.ts";
import { PackageWriter, type Completeness } from "../../vault/packages/package-writer.ts";
import type { PackagePlace, SealedFile } from "../../vault/place/package-place.ts";
import { JobResults, withType, type Archived } from "./job-results.ts";
import { KeyTurns } from "./key-turns.ts";
import { additionOf, throwIfPartIsLate, wholeOf, type Addition } from "./addition.ts";
import type { JobTable, SealedJob } from "../table/job-table.ts";
import { findExisting, type Existing, type ExistingPackage } from "./existing-packages.ts";
import { keysOfWhole, type Answer } from "../table/job-keys.ts";
import type { OpenJob } from "../table/open-job.ts";
import { searchOf } from "../table/searches.ts";
import type { WorkFolders } from "./work-folders.ts";

/** Judges a job that accepts no further media: whether it is complete, together with the existing packages. */
export type Judge = (packages: readonly ExistingPackage[]) => Completeness;

/** What the package of a job is to contain. */
interface Wanted {
  readonly completeness: Completeness;
  readonly addition: Addition;
  /** The ids of the packages with the same keys that it was compared with. */
  readonly known: readonly string[];
}

interface SealingParts {
  readonly place: PackagePlace;
  /** The id of the worker, which its packages name: each worker has a chain of its own. */
  readonly worker: string;
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
  readonly results: JobResults;
  /** Damaged packages that were reported already: a job searches for its package when it begins and when it ends. */
  readonly #toldDamaged = new Set<string>();
  /** The second job of a key has to see the package of the first. */
  readonly #turns = new KeyTurns();

  constructor(parts: SealingParts) {
    this.#parts = parts;
    this.results = new JobResults(parts);
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
   * nothing if it would contain nothing new. If the job has a package in the index already, because the database has forgotten that the
   * job is sealed, it ends with that one: the row of a second package would replace the first one's. Throws ERR_FILE or ERR_STORE; may
   * be called again then, after `reopen`. Throws ERR_EXPIRED for a part that was accepted after its package had its name.
   */
  async seal(job: OpenJob, judge: Judge, onDamaged: (path: string) => void): Promise<Archived> {
    // Noted before the response of the database: without one, it may have happened nevertheless.
    job.state = "sealing";
    for (;;) {
      const sealed = await this.#close(job);
      job.items = sealed.items;
      const keys = keysOfWhole(job);
      const archived = await this.#turns.run(keys, async () => {
        await this.results.settle(job);
        const { packages, known } = await this.find(keys, job.answer, onDamaged);
        // Not by its keys: those of a sequence change with each part.
        const own = await this.#ownOf(job);
        if (own !== undefined) {
          throwIfPartIsLate(job, [own, ...packages]);
          return await this.results.endWith(job, this.results.of(own));
        }
        const completeness = judge(packages);
        const [first] = packages;
        const addition = additionOf(job, packages, completeness.leftOut);
        return first !== undefined && addition === null
          ? await this.results.endWith(job, this.results.existing(first, packages, completeness.complete))
          : await this.#writeOrExplain(job, sealed, {
              completeness,
              addition: addition ?? wholeOf(job, completeness.leftOut),
              known,
            });
      });
      if (archived !== undefined) {
        return archived;
      }
      // Another worker has made a package of the same parcel meanwhile: it is found now. Or the database does not know any more that
      // the job is sealed.
      await this.#parts.work.reopen(job.id, isMediumOf(job));
      await this.#parts.jobs.collect(job.id);
    }
  }

  /**
   * Closes a job to further media. What memory has was confirmed by the database before, and is still on the disk: if rows lack some of
   * it, as after a failover to a server that had not received the last ones, it is added again.
   */
  async #close(job: OpenJob): Promise<SealedJob> {
    const { jobs } = this.#parts;
    const measurement = searchOf(job)?.key ?? null;
    for (let sealed = await jobs.seal(job.id, measurement); sealed !== undefined;) {
      const { items } = sealed;
      const lacking = [...job.items].filter(([slot]) => !items.has(slot));
      if (lacking.length === 0) {
        return sealed;
      }
      await jobs.collect(job.id);
      await jobs.addItems(job.id, new Map(lacking));
      sealed = await jobs.seal(job.id, measurement);
    }
    throw new Error(`The job ${job.id} was sealed twice.`);
  }

  async #writeOrExplain(job: OpenJob, sealed: SealedJob, wanted: Wanted): Promise<Archived | undefined> {
    try {
      return await this.#write(job, sealed, wanted);
    } catch (error) {
      const { files } = this.#parts.place;
      throw asFileError(error, files.addressOf(job.intent.folder.join("/")), files.name);
    }
  }

  /**
   * Finds the packages that were being placed when the process ended, before another one takes their place in the
   * chain. A job whose package the database refuses tries again by itself.
   */
  async recoverAll(jobs: readonly OpenJob[]): Promise<void> {
    for (const job of jobs) {
      if (job.state === "sealing") {
        await this.recover(job).catch(asRefusal);
      }
    }
  }

  /**
   * Ends a job of an earlier process with its own package, if the index has one although the job is open: it is so in an older
   * database that was restored, and completed by `dimensioner rebuild`. Its media are in the package, and not in its folder.
   */
  async findOwn(job: OpenJob): Promise<Archived | undefined> {
    const own = job.state === "archived" ? undefined : await this.#ownOf(job);
    if (own === undefined) {
      return undefined;
    }
    if (job.state !== "sealing") {
      await this.#parts.jobs.seal(job.id, null);
      job.state = "sealing";
    }
    return await this.results.endWith(job, this.results.existing(own, [own], own.manifest.complete));
  }

  /** The package of a job that the index has, if it is whole. */
  async #ownOf({ id }: OpenJob): Promise<ExistingPackage | undefined> {
    const { place, index } = this.#parts;
    const placed = await index.ofJob(id);
    const manifest = placed === undefined ? undefined : await place.find(placed);
    return placed === undefined || typeof manifest !== "object" || manifest.job !== id
      ? undefined
      : { path: placed.path, sha256: placed.sha256, manifest };
  }

  /** Finds the package of a job that is resumed after a restart or a failure, if it has its name already. */
  async recover(job: OpenJob): Promise<Archived | undefined> {
    const { place, work, jobs } = this.#parts;
    await this.results.settle(job);
    if (job.placed !== null) {
      const manifest = await place.find(job.placed);
      // With a package of another job, it has to be compared again.
      if (typeof manifest === "object" && manifest.job === job.id) {
        return this.results.of({ ...job.placed, manifest });
      }
      job.placed = null;
    }
    if (job.state === "sealing") {
      const found = await place.seek(job.id, job.intent.folder);
      if (found !== undefined) {
        const archived = this.results.of(found);
        // Nobody knows any more what it was compared with, or another worker was suspended when it had placed it.
        const noted = await this.results.note(job, archived, []).catch(asRefusal);
        const stays = noted === true || !(await place.discard(found));
        if (stays && found.manifest.store === this.#parts.worker) {
          this.results.chain.follow(found, found.manifest);
        }
        if (typeof noted === "object") {
          throw noted;
        }
        // Otherwise the database does not know that the job is sealed: if its package stays, it is found when the job is sealed again.
        if (noted) {
          return archived;
        }
      }
    }
    if (job.state !== "collecting") {
      await jobs.collect(job.id);
      job.state = "collecting";
    }
    await work.make(job.id);
    await work.reopen(job.id, isMediumOf(job));
    return undefined;
  }

  async #write(
    job: OpenJob,
    { texts: stored, legacyTransactionId }: SealedJob,
    { completeness, addition, known }: Wanted,
  ): Promise<Archived | undefined> {
    const { work, worker, place } = this.#parts;
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
    const files = [...items.map(sealedItem), ...written.map(withType)];
    const prepared = await place.prepare({ job: job.id, folder: from, parts: job.intent.folder, files });
    const { id, acceptedAt, intent, transactionId } = job;
    const content = {
      job: id,
      store: worker,
      acceptedAt,
      transactionId,
      legacyTransactionId,
      intent,
      texts,
      items,
      supplements,
      ...completeness,
    };
    return await this.results.inTurn(async (previous) => {
      const { manifest, file } = await this.#writer.writeManifest(from, { ...content, previous });
      return await this.results.place(job, prepared, { manifest, file, known });
    });
  }
}

/** A package whose row the database refuses may stay, and then the next manifest names it. */
function asRefusal(error: unknown): DimensionerError {
  if (!isRefused(error)) {
    throw error;
  }
  return error;
}

function sealedItem({ path, bytes, sha256, contentTypeFound, contentTypeAnnounced }: StoredItem): SealedFile {
  return { path, bytes, sha256, contentType: contentTypeFound ?? contentTypeAnnounced ?? undefined };
}

/** Whether a file in the work folder is a medium of the job. */
function isMediumOf({ items }: OpenJob): (name: string) => boolean {
  const names = new Set([...items.values()].map(({ path }) => path));
  return (name) => names.has(name);
}
