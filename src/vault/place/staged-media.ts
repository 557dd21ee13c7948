import { join } from "node:path";
import type { Database } from "../../database/database.ts";
import { phrase } from "../../errors/interpolation.ts";
import { fileError } from "../../media/disk.ts";
import { type ArchiveDisk, diskFacts, stateFolderName, workFolderName, writeWhole } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import { copyFile } from "../bucket/copy-file.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { LeftoverRows, stagedFileName } from "../leftovers.ts";
import type { StoredItem } from "../packages/intent.ts";
import { openPlain } from "../packages/package-files.ts";

const blockBytes = 1024 * 1024;

/**
 * The media of open jobs that are nowhere else than on this computer, in the bucket: another worker may have to finish the
 * job. Each is named by its job and its SHA-256. All methods reject with ERR_STORE, or with the system's error.
 */
export class StagedMedia {
  readonly #files: BucketFiles;
  readonly #disk: ArchiveDisk;
  #hasUnknown = false;
  #hasToldUnknown = false;

  /** `disk`: that of the work folders. */
  constructor(files: BucketFiles, disk: ArchiveDisk) {
    this.#files = files;
    this.#disk = disk;
  }

  /** Stores the media that cannot be downloaded again. `folder` contains them. */
  async store(job: string, folder: string, items: Iterable<StoredItem>): Promise<void> {
    const disk = this.#disk;
    for (const item of onlyHere(items)) {
      const path = join(folder, item.path);
      const stored = await copyFile(path, this.#files.bucket, this.#key(job, item.sha256), item, { disk });
      if (stored !== "stored") {
        throw fileError("fileOther", path, diskFacts, phrase("fileChanged"));
      }
    }
  }

  /** Brings a medium to a path on this computer. Returns false if it was not stored. */
  async fetch(job: string, { sha256 }: StoredItem, path: string): Promise<boolean> {
    const staged = await openPlain(join(this.#folder(job), sha256), this.#files.disk);
    if (staged === undefined) {
      return false;
    }
    try {
      const file = await this.#disk.open(path, "w");
      try {
        const block = Buffer.allocUnsafe(blockBytes);
        for (let position = 0; ;) {
          const { bytesRead } = await staged.read(block, 0, blockBytes, position);
          if (bytesRead === 0) {
            break;
          }
          await writeWhole(file, block.subarray(0, bytesRead), position);
          position += bytesRead;
        }
        await file.sync();
      } finally {
        await file.close();
      }
      return true;
    } finally {
      await staged.close();
    }
  }

  /** Removes what was stored of a job that has ended. */
  async remove(job: string, items: Iterable<StoredItem>): Promise<void> {
    for (const sha256 of new Set([...onlyHere(items)].map((item) => item.sha256))) {
      await this.#files.bucket.remove(this.#key(job, sha256));
    }
  }

  /**
   * Removes what was stored before a time for jobs that have ended. Media of a failed job that are nowhere else stay, and so does what
   * somebody else has put there. So do those of jobs that the database does not know, because it may be an older one that was restored:
   * they are left to `dimensioner prune`.
   */
  async removeOld(beforeMs: number, database: Pick<Database, "transaction">): Promise<void> {
    const { bucket, root } = this.#files;
    const rows = new LeftoverRows([{ database, hasUploads: true }]);
    const prefix = `${keyOf(join(root, stateFolderName, workFolderName))}/`;
    for await (const page of bucket.list(prefix)) {
      const old = page.flatMap(({ key, storedAtMs }) => {
        const [job = "", medium = "", ...below] = key.slice(prefix.length).split("/");
        const isOurs = stagedFileName.test(medium) && below.length === 0;
        return isOurs && storedAtMs < beforeMs ? [{ key, job }] : [];
      });
      const jobs = await rows.jobs([...new Set(old.map(({ job }) => job))]);
      this.#hasUnknown ||= old.some(({ job }) => !jobs.has(job));
      for (const { key } of old.filter(({ job }) => jobs.get(job)?.needsMedia === false)) {
        await bucket.remove(key);
      }
    }
  }

  /** Where there are media of jobs that the database does not know, once they were found; null the next time. */
  takeUnknown(): string | null {
    if (!this.#hasUnknown || this.#hasToldUnknown) {
      return null;
    }
    this.#hasToldUnknown = true;
    return this.#files.addressOf(`${stateFolderName}/${workFolderName}`);
  }

  #key(job: string, sha256: string): string {
    return keyOf(join(this.#folder(job), sha256));
  }

  #folder(job: string): string {
    return join(this.#files.root, stateFolderName, workFolderName, job);
  }
}

/** The cloud keeps its own. */
function onlyHere(items: Iterable<StoredItem>): StoredItem[] {
  return [...items].filter(({ source }) => source !== "cloud");
}
