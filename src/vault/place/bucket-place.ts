import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { phrase } from "../../errors/interpolation.ts";
import { fileError } from "../../media/disk.ts";
import { type Condition, type Database, allOf, marksFor } from "../../database/database.ts";
import { filesKey, type BucketLocation } from "../files-location.ts";
import type { Worker } from "../../database/worker-lease.ts";
import { diskFacts, manifestFileName, type ArchiveDisk } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import { copyFile } from "../bucket/copy-file.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { filesOf, type Manifest } from "../packages/manifest.ts";
import { indexPackage, type IndexKeys } from "../packages/package-index.ts";
import { hashFile, loadManifest } from "../packages/package-files.ts";
import type {
  FoundPackage,
  NotedPackage,
  MaybePlaced,
  PackagePlace,
  SamePackage,
  SealedFile,
  SealedPackage,
} from "./package-place.ts";
import { isUploading, uploaded, UploadTable } from "./upload-table.ts";

interface BucketPlaceParts {
  readonly location: BucketLocation;
  /** The disk of the work folders. */
  readonly disk: ArchiveDisk;
  readonly database: Pick<Database, "transaction">;
  readonly worker: Worker;
}

/** An upload that may go on with the next attempt. */
interface Upload {
  readonly location: string;
  /** Of which files it is. */
  readonly of: string;
  readonly sent: Set<string>;
  readonly retainUntil: Date | null;
}

const dayMs = 24 * 3_600_000;
/** Of the last part of a location. */
const nameBytes = 6;

/**
 * A bucket of packages. A package has a folder of its own in the one that the layout names, with a random name: no two
 * uploads and no two workers ever write the same key, and a late answer of the object store can change no package. Its manifest
 * comes last. Which of several uploads is the package of a job is what the database says.
 */
export class BucketPlace implements PackagePlace {
  readonly files: BucketFiles;
  readonly #key: string;
  readonly #uploads: UploadTable;
  readonly #disk: ArchiveDisk;
  readonly #retainDays: number;
  readonly #unfinished = new Map<string, Upload>();

  constructor(files: BucketFiles, { location, disk, database, worker }: BucketPlaceParts) {
    this.files = files;
    this.#key = filesKey(location);
    this.#uploads = new UploadTable(database, worker.id);
    this.#disk = disk;
    this.#retainDays = location.retainDays;
  }

  key(): Promise<string> {
    return Promise.resolve(this.#key);
  }

  /**
   * The objects are compared by their length and the SHA-256 beside them, which the object store has checked when it received them.
   * Only what another program has copied there is read.
   */
  async find({ path, sha256 }: PlacedPackage): Promise<Manifest | "damaged" | undefined> {
    const { disk } = this.files;
    const found = await loadManifest(join(this.#folder(path), manifestFileName), disk);
    if (found === "none") {
      return (await disk.readdir(this.#folder(path))).length > 0 ? "damaged" : undefined;
    }
    if (found === "damaged" || found.sha256 !== sha256) {
      return "damaged";
    }
    return (await this.#isWhole(path, found.manifest)) ? found.manifest : "damaged";
  }

  async seek(job: string): Promise<FoundPackage | undefined> {
    for (const path of await this.#uploads.ofJob(job)) {
      const found = await loadManifest(join(this.#folder(path), manifestFileName), this.files.disk);
      if (typeof found === "object" && found.manifest.job === job) {
        const { manifest, sha256 } = found;
        if (await this.#isWhole(path, manifest)) {
          return { path, sha256, manifest };
        }
      }
    }
    return undefined;
  }

  retainUntil(job: string): Date | null {
    const days = this.#retainDays;
    return (
      this.#unfinished.get(job)?.retainUntil ?? (days === 0 ? null : new Date(Date.now() + days * dayMs))
    );
  }

  async place(
    sealed: SealedPackage,
    _same: SamePackage,
    maybePlaced: MaybePlaced,
  ): Promise<{ readonly path: string }> {
    const { job, files, manifest } = sealed;
    await this.files.mark();
    const upload = this.#uploadOf(sealed);
    const { location, sent } = upload;
    await this.#uploads.begin(job, location);
    for (const file of files.filter(({ path }) => !sent.has(path))) {
      await this.#send(sealed, location, file, false);
      sent.add(file.path);
    }
    // It may have been suspended for long: another worker may have the job now.
    await this.#uploads.refresh(job, location);
    // If the answer is lost, the manifest may be there, or arrive later: the next attempt is another upload.
    this.#unfinished.delete(job);
    maybePlaced(location);
    await this.#send(sealed, location, manifest, true);
    return { path: location };
  }

  /**
   * The row of the upload decides whether a package counts: noting the package needs the row with its job, and giving the
   * upload up takes the job from it. If another worker has the job by now, this package is what an interrupted upload has
   * left; if another job has made a package of the same parcel meanwhile, this one may only be a supplement to it.
   */
  note({ path, sha256, manifest }: FoundPackage, keys: IndexKeys, known: readonly string[]): NotedPackage {
    const { job } = manifest;
    return {
      condition: allOf(isUploading(path), noOther(keys, [job, ...known])),
      statements: [
        ...indexPackage(keys, { path, sha256 }, manifest, {
          sql: "EXISTS (SELECT 1 FROM jobs WHERE job_id = ? AND location = ?)",
          values: [job, path],
        }),
        uploaded(path),
      ],
    };
  }

  async discard({ path }: PlacedPackage): Promise<boolean> {
    if (!(await this.#uploads.giveUp(path))) {
      return false;
    }
    // What cannot be removed now is found by its manifest, whose job has another package.
    await this.files.removePackage(this.#folder(path)).catch(() => undefined);
    return true;
  }

  forget(job: string): void {
    this.#unfinished.delete(job);
  }

  #uploadOf({ job, parts, files, retainUntil }: SealedPackage): Upload {
    const of = JSON.stringify(files);
    const before = this.#unfinished.get(job);
    if (before?.of === of) {
      return before;
    }
    const name = randomBytes(nameBytes).toString("hex");
    const upload = { location: [...parts, name].join("/"), of, sent: new Set<string>(), retainUntil };
    this.#unfinished.set(job, upload);
    return upload;
  }

  async #send(
    { folder, retainUntil }: SealedPackage,
    location: string,
    file: SealedFile,
    isNew: boolean,
  ): Promise<void> {
    const from = join(folder, file.path);
    const key = keyOf(join(this.#folder(location), file.path));
    const stored = await copyFile(from, this.files.bucket, key, file, {
      isNew,
      contentType: file.contentType,
      retainUntil: retainUntil ?? undefined,
      disk: this.#disk,
    });
    if (stored !== "stored") {
      throw fileError("fileOther", from, diskFacts, phrase("fileChanged"));
    }
  }

  async #isWhole(path: string, manifest: Manifest): Promise<boolean> {
    const { bucket, disk } = this.files;
    for (const file of filesOf(manifest)) {
      const at = join(this.#folder(path), file.path);
      const head = await bucket.head(keyOf(at));
      const there = head !== undefined && head.sha256 === undefined ? await hashFile(at, disk) : head;
      if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
        return false;
      }
    }
    return true;
  }

  #folder(path: string): string {
    return join(this.files.root, path);
  }
}

/** No package with one of these keys but the known ones. */
function noOther({ own, measure }: IndexKeys, known: readonly string[]): Condition {
  const keys = measure === null ? [own] : [own, measure];
  return {
    sql: `NOT EXISTS (SELECT 1 FROM packages
      WHERE (job_key IN (${marksFor(keys)}) OR measure_key IN (${marksFor(keys)}))
        AND package_id NOT IN (${marksFor(known)}))`,
    values: [...keys, ...keys, ...known],
  };
}
