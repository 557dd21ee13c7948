import { always } from "../../../store/database.ts";
import type { PlacedPackage } from "../../packages/intent.ts";
import type { Manifest } from "../../packages/manifest.ts";
import type { WrittenFile } from "../../packages/package-writer.ts";
import type { PackagePlace, PreparedPackage, SealedFile } from "../../place/package-place.ts";
import { isTaken } from "../table/is-taken.ts";
import { keysOfManifest } from "../table/job-keys.ts";
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

/** Gives jobs their packages, and notes them in the database. */
export class JobResults {
  readonly chain: Chain;
  readonly #parts: ResultParts;

  constructor(parts: ResultParts) {
    this.#parts = parts;
    this.chain = new Chain(parts.last);
  }

  /**
   * Gives the package of a job its name and notes it, in its turn in the chain. Undefined if another worker has made a package of
   * the same parcel meanwhile.
   */
  async place(
    job: OpenJob,
    prepared: PreparedPackage,
    { manifest, file, known }: { manifest: Manifest; file: WrittenFile; known: readonly string[] },
  ): Promise<Archived | undefined> {
    const { place } = this.#parts;
    const placed = await prepared.place(withType(file), (there) => hasAll(there, manifest));
    if ("manifest" in placed) {
      return await this.endWith(job, this.existing(placed, [placed], placed.manifest.complete));
    }
    const archived = this.of({ path: placed.path, sha256: file.sha256, manifest });
    let isNoted: boolean;
    try {
      isNoted = await this.note(job, archived, known);
    } catch (error) {
      const isGone = isTaken(error) && (await place.discard(placed.path).catch(() => false));
      if (!isGone) {
        // Without an answer of the database it may be noted, and it is there.
        this.chain.add(archived);
      }
      throw error;
    }
    if (!isNoted && (await place.discard(placed.path))) {
      return undefined;
    }
    this.chain.add(archived);
    return archived;
  }

  /** Ends a job with a package that another job has made. */
  async endWith(job: OpenJob, archived: Archived): Promise<Archived> {
    await this.note(job, archived, "existing");
    return archived;
  }

  /** Notes the package of a job; returns false if it may not end with it. `known`: see PackagePlace. */
  async note(
    job: OpenJob,
    archived: Archived,
    known: readonly string[] | "existing" | null,
  ): Promise<boolean> {
    const { path, sha256, manifest } = archived;
    const { jobs, place } = this.#parts;
    const keys = keysOfManifest(manifest);
    const noted = place.note({ path, sha256, manifest }, keys, known === "existing" ? null : known);
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
