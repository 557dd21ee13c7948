import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Condition, type Database, allOf, marksFor, type Statement } from "../../database/database.ts";
import { ofWorker, OwnJobs } from "../../database/own-jobs.ts";
import type { Worker } from "../../database/worker-lease.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { fileError } from "../../media/disk.ts";
import { diskFacts, manifestFileName, type ArchiveDisk } from "../archive-disk.ts";
import type {
  FoundPackage,
  NotedPackage,
  MaybePlaced,
  Committer,
  SamePackage,
  SealedFile,
  SealedPackage,
} from "../vault.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { filesOf, type Manifest } from "../packages/manifest.ts";
import { hashFile, loadManifest } from "../packages/package-files.ts";
import { indexPackage, type IndexKeys } from "../packages/package-index.ts";
import { vaultKey, type BucketLocation } from "../store.ts";
import { keyOf } from "./bucket-disk.ts";
import { copyFile, type BucketVault } from "./bucket-vault.ts";
import { dayMs } from "../../time/clocks.ts";

interface BucketCommitterParts {
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

/** Of the last part of a location. */
const nameBytes = 6;

/**
 * A bucket of packages. A package has a folder of its own in the one that the layout names, with a random name: no two
 * uploads and no two workers ever write the same key, and a late answer of the object store can change no package. Its manifest
 * comes last. Which of several uploads is the package of a job is what the database says.
 */
export class BucketCommitter implements Committer {
  readonly vault: BucketVault;
  readonly #key: string;
  readonly #uploads: UploadTable;
  readonly #disk: ArchiveDisk;
  readonly #retainDays: number;
  readonly #unfinished = new Map<string, Upload>();

  constructor(vault: BucketVault, { location, disk, database, worker }: BucketCommitterParts) {
    this.vault = vault;
    this.#key = vaultKey(location);
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
    const { disk } = this.vault;
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
      const found = await loadManifest(join(this.#folder(path), manifestFileName), this.vault.disk);
      if (typeof found === "object" && found.manifest.job === job) {
        const { manifest, sha256 } = found;
        if (await this.#isWhole(path, manifest)) {
          return { path, sha256, manifest };
        }
      }
    }
    return undefined;
  }

  /** By the clock of the object store, by which it protects: one of this computer that is ahead would do so for years. */
  async retainUntil(job: string): Promise<Date | null> {
    const days = this.#retainDays;
    const before = this.#unfinished.get(job)?.retainUntil ?? null;
    if (before !== null || days === 0) {
      return before;
    }
    return new Date((await this.vault.now()).getTime() + days * dayMs);
  }

  async commit(
    sealed: SealedPackage,
    _same: SamePackage,
    maybePlaced: MaybePlaced,
  ): Promise<{ readonly path: string }> {
    const { job, files, manifest } = sealed;
    await this.vault.mark();
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
    await this.vault.removeUpload(this.#folder(path)).catch(() => undefined);
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
    const stored = await copyFile(from, this.vault.bucket, key, file, {
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
    const { bucket, disk } = this.vault;
    for (const file of filesOf(manifest)) {
      const at = join(this.#folder(path), file.path);
      const head = await bucket.head(keyOf(at));
      const there =
        head !== undefined && head.sha256 === undefined
          ? await hashFile(at, disk, undefined, file.bytes)
          : head;
      if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
        return false;
      }
    }
    return true;
  }

  #folder(path: string): string {
    return join(this.vault.root, path);
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

/** Where packages are being uploaded, for one worker. All methods reject with ERR_STORE. */
export class UploadTable {
  readonly #database: Pick<Database, "transaction">;
  readonly #own: OwnJobs;
  readonly #now: () => Date;

  constructor(database: Pick<Database, "transaction">, worker: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#own = new OwnJobs(database, worker, now);
    this.#now = now;
  }

  /**
   * Notes that a job uploads its package to a location, so that what is left of it can be found. Rejects with ERR_CANCELLED
   * (`cancelledTaken`) if another worker has the job, and with ERR_STORE (`jobUnknown`) if the database does not know it any more.
   */
  async begin(job: string, location: string): Promise<void> {
    await this.#change(job, {
      sql: `INSERT INTO uploads (location, job_id, begun_at) SELECT ?, job_id, ? FROM jobs WHERE ${ofWorker}
        ON CONFLICT (location) DO UPDATE SET begun_at = excluded.begun_at RETURNING location`,
      values: [location, this.#now().toISOString(), ...this.#own.values(job)],
    });
  }

  /** The same for an upload that goes on. Rejects with ERR_STORE (`uploadRemoved`) if it was given up meanwhile. */
  async refresh(job: string, location: string): Promise<void> {
    await this.#change(job, {
      sql: `UPDATE uploads SET begun_at = ? WHERE location = ? AND job_id = ?
        AND EXISTS (SELECT 1 FROM jobs WHERE ${ofWorker}) RETURNING location`,
      values: [this.#now().toISOString(), location, job, ...this.#own.values(job)],
    });
  }

  async #change(job: string, statement: Statement): Promise<void> {
    const [rows = []] = await this.#database.transaction([statement]);
    if (!(await this.#own.isChanged(job, rows))) {
      throw new DimensionerError("uploadRemoved", diskFacts);
    }
  }

  /**
   * Gives up an upload: its package can no longer be noted. The row stays, so that what arrives late is removed with the next
   * tidying. Returns false if its package is in the index.
   */
  async giveUp(location: string): Promise<boolean> {
    const [, packages = []] = await this.#database.transaction([
      {
        sql: `UPDATE uploads SET job_id = NULL, begun_at = ?
          WHERE location = ? AND NOT EXISTS (SELECT 1 FROM packages WHERE location = ?)`,
        values: [this.#now().toISOString(), location, location],
      },
      { sql: "SELECT 1 FROM packages WHERE location = ? LIMIT 1", values: [location] },
    ]);
    return packages.length === 0;
  }

  /** Where the package of a job was being uploaded, the earliest first, whichever worker did it. */
  async ofJob(job: string): Promise<readonly string[]> {
    const [rows = []] = await this.#database.transaction([
      { sql: "SELECT location FROM uploads WHERE job_id = ? ORDER BY begun_at, location", values: [job] },
    ]);
    return rows.map((row) => String(row["location"]));
  }
}

/** Whether there is such an upload, and nobody has given it up. */
function isUploading(location: string): Condition {
  return {
    sql: "EXISTS (SELECT 1 FROM uploads WHERE location = ? AND job_id IS NOT NULL)",
    values: [location],
  };
}

/** The statement that ends an upload if its package is in the index. */
function uploaded(location: string): Statement {
  return {
    sql: "DELETE FROM uploads WHERE location = ? AND EXISTS (SELECT 1 FROM packages WHERE location = ?)",
    values: [location, location],
  };
}
