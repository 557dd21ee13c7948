import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { always } from "../../database/database.ts";
import { isRefused } from "../../database/postgres-failures.ts";
import type { PlacedPackage } from "../../vault/packages/intent.ts";
import type { Manifest } from "../../vault/packages/manifest.ts";
import type { WrittenFile } from "../../vault/packages/package-writer.ts";
import type { PackagePlace, PreparedPackage, SealedFile } from "../../vault/place/package-place.ts";
import { isTaken, isUnknown } from "../table/is-taken.ts";
import { keysOfManifest, keysOfWhole } from "../table/job-keys.ts";
import type { JobTable } from "../table/job-table.ts";
import type { OpenJob } from "../table/open-job.ts";
import { hasAll } from "./addition.ts";
import { Chain } from "./chain.ts";
import type { ExistingPackage } from "./existing-packages.ts";

/** The result of a job: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** Its absolute path, or its address in a bucket. */
  readonly folder: string;
  /** The same for anything in the store; `location` is below the folder of packages, with slashes. */
  readonly addressOf: (location: string) => string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
  /** The package with all media and, if it existed before, its supplements. */
  readonly packages: readonly ExistingPackage[];
  /** Whether these contain everything that the job requires. */
  readonly complete: boolean;
}

interface ResultParts {
  readonly place: PackagePlace;
  readonly jobs: JobTable;
  /** The last package of the chain, which the next manifest names. */
  readonly last: PlacedPackage | undefined;
}

/** A package that has its name, or may have it, and may be noted. */
interface Unsettled {
  readonly job: OpenJob;
  readonly archived: Archived;
  /** The ids of the packages with the same keys that it was compared with. */
  readonly known: readonly string[];
  /** False if it is not certain that it has its name. */
  readonly isPlaced: boolean;
  /** Whether the database refuses its row. The package stays nevertheless, and the next manifest names it. */
  readonly isRefused: boolean;
}

/** Gives jobs their packages, and notes them in the database. */
export class JobResults {
  readonly chain: Chain;
  readonly #parts: ResultParts;
  /** By the ids of their jobs, in the order in which they were placed. */
  readonly #unsettled = new Map<string, Unsettled>();

  constructor(parts: ResultParts) {
    this.#parts = parts;
    this.chain = new Chain(parts.last);
  }

  /**
   * Gives the package of a job its name and notes it, in its turn in the chain. Undefined if another worker has made a package of
   * the same parcel meanwhile, or the database does not know that the job is sealed.
   */
  async place(
    job: OpenJob,
    prepared: PreparedPackage,
    { manifest, file, known }: { manifest: Manifest; file: WrittenFile; known: readonly string[] },
  ): Promise<Archived | undefined> {
    const of = { job, known };
    const at = (path: string): Archived => this.of({ path, sha256: file.sha256, manifest });
    const maybePlaced = (path: string): (() => void) => {
      this.#unsettled.set(job.id, { ...of, archived: at(path), isPlaced: false, isRefused: false });
      return () => void this.#unsettled.delete(job.id);
    };
    const keyOf = (one: Manifest): string => keysOfManifest(one).own;
    const isSame = (there: Manifest): boolean => hasAll(there, manifest);
    const same = { key: keyOf(manifest), keyOf, isSame };
    const placed = await prepared.place(withType(file), same, maybePlaced);
    if ("manifest" in placed) {
      this.#unsettled.delete(job.id);
      return await this.endWith(job, this.existing(placed, [placed], placed.manifest.complete));
    }
    const archived = at(placed.path);
    return (await this.#settle({ ...of, archived, isPlaced: true, isRefused: false })) ? archived : undefined;
  }

  /** Makes a package when it is certain which one is the last in the chain. */
  async inTurn<T>(make: (previous: PlacedPackage | null) => Promise<T>): Promise<T> {
    return await this.chain.inTurn(async () => {
      await this.#settleAll(() => false);
      return await make(this.chain.last);
    });
  }

  /**
   * Finds out whether packages that were placed when something failed are those of their jobs. Until then, no other job may look
   * for packages: it would not find them. Rejects with ERR_FILE or ERR_STORE. A package whose row the database refuses only holds up
   * its own job, and those of the same parcel.
   */
  async settle(job: OpenJob): Promise<void> {
    if (this.#unsettled.size > 0) {
      const keys = new Set(keysOfWhole(job));
      await this.chain.inTurn(async () => {
        await this.#settleAll((one) => {
          const { own, measure } = keysOfManifest(one.archived.manifest);
          return one.job.id === job.id || keys.has(own) || (measure !== null && keys.has(measure));
        });
      });
    }
  }

  /** To be called when a job has ended, or another worker has it: its package is not noted any more if it was refused. */
  forget(job: string): void {
    if (this.#unsettled.get(job)?.isRefused === true) {
      this.#unsettled.delete(job);
    }
  }

  /** `isNeeded`: whether a package has to be noted, although it may be refused. */
  async #settleAll(isNeeded: (one: Unsettled) => boolean): Promise<void> {
    for (const one of this.#unsettled.values()) {
      if (one.isRefused && !isNeeded(one)) {
        continue;
      }
      try {
        await this.#settle(one);
      } catch (error) {
        // What another worker has taken, or nobody knows any more, is settled here.
        if (!isTaken(error) && !isUnknown(error) && !(isRefused(error) && !isNeeded(one))) {
          throw error;
        }
      }
    }
  }

  /** Notes a package, or gives it up. Returns whether it is noted; one in a folder stays nevertheless. */
  async #settle(one: Unsettled): Promise<boolean> {
    const { job, archived, known, isPlaced } = one;
    const { place } = this.#parts;
    this.#unsettled.set(job.id, one);
    let isNoted = false;
    let failure: DimensionerError | undefined;
    if (isPlaced || typeof (await place.find(archived)) === "object") {
      try {
        isNoted = await this.note(job, archived, known);
      } catch (error) {
        if (!isTaken(error) && !isUnknown(error) && !isRefused(error)) {
          throw error;
        }
        failure = error;
      }
    }
    const stays = isNoted || !(await place.discard(archived));
    if (stays && isRefused(failure)) {
      this.#unsettled.set(job.id, { ...one, isPlaced: true, isRefused: true });
    } else {
      this.#unsettled.delete(job.id);
    }
    if (stays && !one.isRefused) {
      this.chain.add(archived);
    }
    if (failure !== undefined) {
      throw failure;
    }
    return isNoted;
  }

  /** Ends a job with a package that another job has made. */
  async endWith(job: OpenJob, archived: Archived): Promise<Archived> {
    await this.note(job, archived, "existing");
    return archived;
  }

  /** Notes the package of a job; returns false if it may not end with it. `known`: see PackagePlace. */
  async note(job: OpenJob, archived: Archived, known: readonly string[] | "existing"): Promise<boolean> {
    const { path, sha256, manifest } = archived;
    const { jobs, place } = this.#parts;
    const keys = keysOfManifest(manifest);
    const noted = place.note({ path, sha256, manifest }, keys, known === "existing" ? [] : known);
    const condition = known === "existing" ? always : noted.condition;
    const isNoted = await jobs.archived(job.id, keys.own, { path, sha256 }, { ...noted, condition });
    if (isNoted) {
      job.key = keys.own;
      job.state = "archived";
      job.placed = { path, sha256 };
    }
    return isNoted;
  }

  /** The result of a job with a package of its own. */
  of(one: ExistingPackage): Archived {
    const { path, manifest } = one;
    const { files } = this.#parts.place;
    const addressOf = (location: string): string => files.addressOf(location);
    return {
      ...one,
      folder: addressOf(path),
      addressOf,
      wasThere: false,
      packages: [one],
      complete: manifest.complete,
    };
  }

  /** The result of a job that brings nothing new. */
  existing(first: ExistingPackage, packages: readonly ExistingPackage[], complete: boolean): Archived {
    return { ...this.of(first), wasThere: true, packages, complete };
  }
}

/** A file that was written, with the content type that its name says. */
export function withType(file: WrittenFile): SealedFile {
  return file.path.endsWith(".json") ? { ...file, contentType: "application/json" } : file;
}
