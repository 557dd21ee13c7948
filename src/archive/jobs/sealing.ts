import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { asFileError, diskFacts, type ArchiveDisk } from "../archive-disk.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import type { Manifest } from "../packages/manifest.ts";
import { findPackage, placePackage, seekPackage } from "../packages/package-folder.ts";
import { indexPackage, type PackageIndex } from "../packages/package-index.ts";
import { PackageWriter, type Completeness } from "../packages/package-writer.ts";
import type { JobTable } from "./job-table.ts";
import { answerOfManifest, isOtherAnswer, keyOfManifest, type Answer } from "./keys.ts";
import type { OpenJob } from "./open-job.ts";
import type { WorkFolders } from "./work-folders.ts";

/** A job's result: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** The package's absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
}

/** What a job's media, now that no more come, make of it. */
export interface Judgement extends Completeness {
  readonly key: string;
}

/** What there is for a key and a measurement. */
export interface Existing {
  readonly archived: Archived | undefined;
  /** The same transaction is archived with another measurement, or none. */
  readonly hasOther: boolean;
}

interface SealingParts {
  readonly folder: string;
  readonly storeId: string;
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly index: PackageIndex;
  /** The package that the next one's manifest names. */
  readonly last: PlacedPackage | undefined;
}

/** How the jobs of one store become packages, and how packages are found again. */
export class Sealing {
  readonly #parts: SealingParts;
  readonly #writer: PackageWriter;
  #last: PlacedPackage | undefined;
  /** Packages that were found after a kill, by the one before them. */
  readonly #successors = new Map<string, PlacedPackage>();
  /** Damaged packages are told of once: a job looks for its package when it begins and when it ends. */
  readonly #toldDamaged = new Set<string>();
  /** Packages get their names one after the other, since each manifest names the one before. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: SealingParts) {
    this.#parts = parts;
    this.#last = parts.last;
    this.#writer = new PackageWriter(parts.disk);
  }

  /** Resolves when none is being placed any more. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  /** The whole package that there is for a key and a measurement; a damaged one is told of and left as it is. */
  async find(key: string, answer: Answer, onDamaged: (path: string) => void): Promise<Existing> {
    const { folder, disk, index } = this.#parts;
    let hasOther = false;
    for (const one of await index.ofKey(key)) {
      const placed = { path: one.path, sha256: one.sha256 };
      if (isOtherAnswer(answer, one)) {
        hasOther = true;
        continue;
      }
      const manifest = await findPackage(folder, placed, disk);
      if (typeof manifest === "object") {
        return { archived: this.#result(placed, manifest, true), hasOther };
      }
      if (manifest === "damaged" && !this.#toldDamaged.has(one.path)) {
        this.#toldDamaged.add(one.path);
        onDamaged(one.path);
      }
    }
    return { archived: undefined, hasOther };
  }

  /**
   * Makes the package of a job whose media are all there. `judge` is asked once the job takes no more: with the media that it then
   * has. Throws ERR_FILE or ERR_STORE; may be called again then, after `reopen`.
   */
  async seal(job: OpenJob, judge: () => Judgement, onDamaged: (path: string) => void): Promise<Archived> {
    // Before the database answers: when no answer comes, it may have been done all the same.
    job.state = "sealing";
    const items = await this.#parts.jobs.seal(job.id);
    if (items === undefined) {
      throw new Error(`The job ${job.id} was sealed twice.`);
    }
    job.items = items;
    const { key, ...completeness } = judge();
    job.key = key;
    const { archived } = await this.find(key, job.answer, onDamaged);
    if (archived !== undefined) {
      return await this.#finish(job, archived);
    }
    try {
      return await this.#write(job, completeness);
    } catch (error) {
      throw asFileError(error, join(this.#parts.folder, ...job.intent.folder), this.#parts.folder);
    }
  }

  /** Before a job goes on after a restart or a failure: its package, where it has got its name already. */
  async recover(job: OpenJob): Promise<Archived | undefined> {
    const { folder, disk, work, jobs } = this.#parts;
    if (job.placed !== null) {
      const manifest = await findPackage(folder, job.placed, disk);
      if (typeof manifest === "object") {
        return this.#result(job.placed, manifest, false);
      }
      job.placed = null;
    }
    if (job.state === "sealing") {
      const place = { root: folder, parts: job.intent.folder, disk };
      const found = await seekPackage(place, (manifest) => manifest.job === job.id);
      if (found !== undefined) {
        job.key = keyOfManifest(found.manifest);
        this.#follow(found, found.manifest);
        return await this.#finish(job, this.#result(found, found.manifest, false));
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

  /** Takes a package that a killed process had placed into the chain, and those that follow it. */
  #follow({ path, sha256 }: PlacedPackage, { previous }: Manifest): void {
    this.#successors.set(previous?.sha256 ?? "", { path, sha256 });
    for (let next; (next = this.#successors.get(this.#last?.sha256 ?? "")) !== undefined;) {
      this.#last = next;
    }
  }

  async #write(job: OpenJob, completeness: Completeness): Promise<Archived> {
    const { jobs, work, storeId } = this.#parts;
    const texts = await jobs.texts(job.id);
    if (texts === undefined) {
      throw new DimensionerError("jobDamaged", diskFacts, { value: job.id });
    }
    const items = [...job.items.values()];
    const from = await work.seal(
      job.id,
      items.map(({ path }) => path),
    );
    await this.#writer.writeMeasurement(from, texts);
    const { id, acceptedAt, intent } = job;
    const content = { job: id, store: storeId, acceptedAt, intent, texts, items, ...completeness };
    const placing = this.#turn.then(async () => {
      const previous = this.#last ?? null;
      const { manifest, sha256 } = await this.#writer.writeManifest(from, { ...content, previous });
      return await this.#place(job, from, manifest, sha256);
    });
    this.#turn = placing.catch(() => undefined);
    return await placing;
  }

  async #place(job: OpenJob, from: string, manifest: Manifest, sha256: string): Promise<Archived> {
    const { folder, disk } = this.#parts;
    const place = { root: folder, parts: job.intent.folder, disk };
    const placed = await placePackage(from, place, (there) => hasAll(there, manifest));
    if ("manifest" in placed) {
      return await this.#finish(job, this.#result(placed, placed.manifest, true));
    }
    this.#last = { path: placed.path, sha256 };
    return await this.#finish(job, this.#result(this.#last, manifest, false));
  }

  async #finish(job: OpenJob, archived: Archived): Promise<Archived> {
    const { path, sha256, manifest } = archived;
    const placed = { path, sha256 };
    const key = job.key ?? keyOfManifest(manifest);
    await this.#parts.jobs.archived(job.id, key, placed, indexPackage(key, placed, manifest));
    job.state = "archived";
    job.placed = placed;
    return archived;
  }

  #result({ path, sha256 }: PlacedPackage, manifest: Manifest, wasThere: boolean): Archived {
    return { path, sha256, manifest, wasThere, folder: join(this.#parts.folder, path) };
  }
}

/** Whether a package that somebody else has placed holds all that this one does: then it is the package of both. */
function hasAll(there: Manifest, own: Manifest): boolean {
  const hashes = new Set(there.items.map(({ sha256 }) => sha256));
  return (
    keyOfManifest(there) === keyOfManifest(own) &&
    !isOtherAnswer(answerOfManifest(own), answerOfManifest(there)) &&
    (there.complete || !own.complete) &&
    own.items.every(({ sha256 }) => hashes.has(sha256))
  );
}
