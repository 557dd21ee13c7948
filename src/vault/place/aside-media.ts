import { join } from "node:path";
import { asideFolderName, stateFolderName, workFolderName } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import { copyFile } from "../bucket/copy-file.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import type { StoredItem } from "../packages/intent.ts";

/** What has become of the media of a job. */
export interface KeptMedia {
  /** How many of them are aside. */
  readonly kept: number;
  /** How many are staged and not what they were: they stay where they are. */
  readonly damaged: number;
}

/**
 * The media of failed jobs that are nowhere else, in the bucket: the disk of the worker may be gone tomorrow. They have the names that
 * they would have had in a package, and nothing removes them but a person.
 */
export class AsideMedia {
  readonly #files: BucketFiles;

  constructor(files: BucketFiles) {
    this.#files = files;
  }

  /** Where the media of a job are, for people. */
  addressOf(job: string): string {
    return this.#files.addressOf(`${stateFolderName}/${asideFolderName}/${job}`);
  }

  /** Copies what is staged of a job, as often as this is called. Rejects with ERR_STORE. */
  async keep(job: string, items: readonly StoredItem[]): Promise<KeptMedia> {
    const { bucket, disk, root } = this.#files;
    let [kept, damaged] = [0, 0];
    for (const item of items) {
      const staged = join(root, stateFolderName, workFolderName, job, item.sha256);
      const key = keyOf(join(root, stateFolderName, asideFolderName, job, item.path));
      const contentType = item.contentTypeFound ?? item.contentTypeAnnounced ?? undefined;
      if ((await bucket.head(key))?.sha256 === item.sha256) {
        kept += 1;
        continue;
      }
      const stored = await copyFile(staged, bucket, key, item, { disk, contentType });
      kept += stored === "stored" ? 1 : 0;
      damaged += stored === "changed" ? 1 : 0;
    }
    return { kept, damaged };
  }
}

/** Null if the files are in a folder. */
export function asideIn(files: ArchiveFiles): AsideMedia | null {
  return isInBucket(files) ? new AsideMedia(files) : null;
}

function isInBucket(files: ArchiveFiles): files is BucketFiles {
  return files.kind === "s3";
}
