import { basename, dirname, join } from "node:path";
import type { PrunedPackage } from "../../model/archive-reports.ts";
import { manifestFileName, stateFolderName, workFolderName } from "../archive-disk.ts";
import { listFolders, type ListedFolder } from "../bucket/list-folders.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { loadManifest, type FoundManifest } from "../packages/package-files.ts";
import { isReplaced, neverCompleted, placedAgain } from "./bucket-leftovers.ts";
import { LeftoverRows, mostValues, type LeftoverDatabase } from "./leftover-rows.ts";
import { stagedFileName } from "./leftovers.ts";
import { findPruned } from "./prune-log.ts";
import { isBefore, removeLeftover, type LeftoverFolder, type LeftoverOptions } from "./remove-leftover.ts";
import { isUploadLocation, locationOf } from "./upload-location.ts";
import { isElsewhere } from "./walk-bucket.ts";

/** A folder that may be left of something. */
interface Candidate {
  readonly location: string;
  readonly bytes: number;
}

/** Where the media of open jobs are stored for other workers: a folder for each job. */
const stagedFolder = `${stateFolderName}/${workFolderName}`;
/** How many of a kind one run deals with, so that they need little memory. The next run takes the others. */
const mostCandidates = 10_000;
/** So many packages that no database lists are enough to know that not all databases were given. */
const mostUnlisted = 1_000;

const noDatabase =
  "it may be a package that has lost its manifest, or be needed by an open job: only the store's database shows it. Specify it with --database";
const otherDatabase =
  "there are packages here that no database lists: specify the databases of all stores with --database, or complete them with dimensioner rebuild";
const manifestLost = "the database lists a package here whose manifest is missing: see dimensioner verify";

/**
 * Finds in a listing of a bucket what belongs to no package, and removes it: uploads of which no database knows any more,
 * second packages of a job, what is left of deleted packages, and media stored for jobs that have ended. The databases are
 * asked after something was listed: an upload is in one of them before its first object is stored.
 */
export class ListedLeftovers {
  readonly #files: BucketFiles;
  readonly #start: string;
  readonly #rows: LeftoverRows;
  readonly #options: LeftoverOptions;
  readonly #archives = new Set<string>();
  readonly #closed = new Set<string>();
  /** Packages that were not looked up yet. */
  #packages: string[] = [];
  readonly #replaced: { readonly location: string; readonly found: FoundManifest }[] = [];
  readonly #unlisted: string[] = [];
  /** Folders without a manifest that an upload may have made, and others. */
  readonly #uploads: Candidate[] = [];
  readonly #others: Candidate[] = [];
  readonly #staged: Candidate[] = [];

  /** `start`: the folder that is listed, as `BucketDisk` names it. */
  constructor(
    { files, start }: { readonly files: BucketFiles; readonly start: string },
    databases: readonly LeftoverDatabase[],
    options: LeftoverOptions,
  ) {
    this.#files = files;
    this.#start = start;
    this.#rows = new LeftoverRows(databases);
    this.#options = options;
  }

  /** Throws ERR_STORE. */
  async *run(): AsyncGenerator<PrunedPackage> {
    for await (const folder of listFolders(this.#files.bucket, this.#start)) {
      this.#options.signal?.throwIfAborted();
      this.#note(folder);
      if (this.#packages.length >= mostValues) {
        await this.#lookUp();
      }
    }
    await this.#lookUp();
    yield* this.#removeReplaced();
    yield* this.#removeUnfinished();
    yield* this.#removeStaged();
  }

  #note({ path, objects, hasManifest, hasFolders }: ListedFolder): void {
    const location = locationOf(this.#files, path);
    const parts = location.split("/");
    if (parts.includes(stateFolderName)) {
      const isStaged = dirname(location) === stagedFolder && this.#isOld(objects);
      if (isStaged) {
        add(this.#staged, { location, objects });
      } else if (parts.length > 1 && parts.at(-1) === stateFolderName) {
        this.#archives.add(dirname(path));
      }
      return;
    }
    if (hasManifest) {
      if (hasFolders) {
        this.#closed.add(path);
      }
      this.#packages.push(location);
    } else if (location !== "" && this.#isOld(objects)) {
      add(isUploadLocation(location) ? this.#uploads : this.#others, { location, objects });
    }
  }

  #isOld(objects: ListedFolder["objects"]): boolean {
    return objects.length > 0 && objects.every((one) => isBefore(one, this.#options.beforeMs));
  }

  async #lookUp(): Promise<void> {
    const locations = this.#packages;
    this.#packages = [];
    if (this.#rows.isEmpty) {
      return;
    }
    const known = await this.#rows.known(locations);
    for (const location of locations.filter((one) => !known.has(one))) {
      if (this.#unlisted.length === mostUnlisted) {
        return;
      }
      const found = await loadManifest(join(this.#pathOf(location), manifestFileName), this.#files.disk);
      if (typeof found === "string") {
        continue;
      }
      if (isUploadLocation(location) && (await isReplaced(this.#files, this.#rows, { location, found }))) {
        this.#replaced.push({ location, found });
      } else if ((await this.#rows.packagesOf(found.manifest.job)).length === 0) {
        this.#unlisted.push(location);
      }
    }
  }

  async *#removeReplaced(): AsyncGenerator<PrunedPackage> {
    for (const { location, found } of this.#replaced) {
      yield* this.#remove({ location, found, reason: placedAgain });
    }
  }

  async *#removeUnfinished(): AsyncGenerator<PrunedPackage> {
    const candidates = [...this.#uploads, ...this.#others].map(({ location }) => location);
    const pruned = await findPruned(this.#files, "path", new Set(candidates));
    for (const [location, { at }] of pruned) {
      const atMs = Date.parse(at);
      const isOurs: LeftoverFolder["isOurs"] = (object) => isBefore(object, atMs);
      yield* this.#remove({ location, reason: "what is left of a deleted package", isOurs });
    }
    const uploads = this.#uploads.filter(({ location }) => !pruned.has(location) && this.#isHere(location));
    const known = await this.#rows.known(uploads.map(({ location }) => location));
    for (const { location, bytes } of uploads) {
      const what = known.get(location);
      const reason = what === "package" ? manifestLost : this.#reasonNotToTell();
      if (what === "upload") {
        continue;
      }
      if (reason === null) {
        yield* this.#remove({ location, reason: neverCompleted });
      } else {
        yield { what: "kept", path: location, bytes, reason };
      }
    }
  }

  async *#removeStaged(): AsyncGenerator<PrunedPackage> {
    const jobs = await this.#rows.jobs(this.#staged.map(({ location }) => basename(location)));
    for (const { location, bytes } of this.#staged) {
      const job = jobs.get(basename(location));
      const reason = job === undefined ? this.#reasonNotToTell() : null;
      if (job?.needsMedia === true) {
        continue;
      }
      if (reason === null) {
        const isOurs: LeftoverFolder["isOurs"] = ({ key }) => stagedFileName.test(basename(key));
        const whose = job === undefined ? "that the database does not know" : "that has ended";
        yield* this.#remove({ location, reason: `media of a job ${whose}`, isOurs });
      } else {
        yield { what: "kept", path: location, bytes, reason };
      }
    }
  }

  /** Why the databases cannot tell that something is needed by nobody; null if they can. */
  #reasonNotToTell(): string | null {
    if (this.#rows.isEmpty) {
      return noDatabase;
    }
    return this.#unlisted.some((location) => this.#isHere(location)) ? otherDatabase : null;
  }

  async *#remove(leftover: LeftoverFolder): AsyncGenerator<PrunedPackage> {
    this.#options.signal?.throwIfAborted();
    const result = this.#isHere(leftover.location)
      ? await removeLeftover(this.#files, leftover, this.#options)
      : undefined;
    if (result !== undefined) {
      yield result;
    }
  }

  /** Whether a folder is in this archive, and not in another one or in a package. */
  #isHere(location: string): boolean {
    return !isElsewhere(this.#pathOf(location), { archives: this.#archives, closed: this.#closed });
  }

  #pathOf(location: string): string {
    return join(this.#files.root, location);
  }
}

function add(
  to: Candidate[],
  { location, objects }: Pick<ListedFolder, "objects"> & { location: string },
): void {
  if (to.length < mostCandidates) {
    to.push({ location, bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0) });
  }
}
