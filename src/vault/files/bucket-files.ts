import { join } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import { holdName, manifestFileName } from "../archive-disk.ts";
import { type BucketDisk, keyOf } from "../bucket/bucket-disk.ts";
import { BucketFile } from "../bucket/bucket-file.ts";
import { markArchive } from "../bucket/mark-archive.ts";
import { type NamedBatch, batchesOf, logParts, nameOfBatch, textOfLines } from "../log/log-files.ts";
import { blockLines } from "../log/tree.ts";
import { openPlain } from "../packages/package-files.ts";
import type { Objects } from "../s3/bucket.ts";
import { sourceOf } from "../s3/store-object.ts";
import type { ArchiveFiles, SentFile } from "./archive-files.ts";
import { blocksOf, wholeOf } from "./sent-file.ts";

/** Why an object store does not delete what is not needed any more: it will not do so later either. */
const refusals: ReadonlySet<SentenceKey> = new Set(["bucketDenied", "bucketProtected"]);

/** The files of an archive in a bucket. */
export class BucketFiles implements ArchiveFiles {
  readonly kind = "s3";
  readonly disk: BucketDisk;
  readonly root: string;
  #isMarked = false;

  /** `root` is the prefix of the archive as a path. */
  constructor(disk: BucketDisk, root: string) {
    this.disk = disk;
    this.root = root;
  }

  get bucket(): Objects {
    return this.disk.bucket;
  }

  get name(): string {
    const prefix = keyOf(this.root);
    return `s3://${this.bucket.address.bucket}${prefix === "" ? "" : `/${prefix}`}`;
  }

  addressOf(location: string): string {
    return `${this.name}/${location}`;
  }

  async openToSend(path: string, isWhole: boolean): Promise<SentFile | undefined> {
    return isWhole ? await wholeOf(await openPlain(path, this.disk)) : await this.#partOf(keyOf(path));
  }

  async write(path: string, content: string | Buffer): Promise<void> {
    const isText = /\.jsonl?$/.test(path);
    await this.bucket.store(
      keyOf(path),
      sourceOf(content),
      isText ? { contentType: "application/json" } : {},
    );
  }

  async writeFolder(path: string, files: readonly (readonly [string, Buffer])[]): Promise<void> {
    for (const [name, content] of files) {
      await this.write(join(path, name), content);
    }
  }

  async remove(path: string): Promise<void> {
    await this.bucket.remove(keyOf(path));
  }

  /**
   * Says in the bucket that an archive is here, before anything of it is: its packages do not belong to one around it. Once for each process.
   */
  async mark(): Promise<void> {
    if (!this.#isMarked) {
      await markArchive(this.bucket, keyOf(this.root));
      this.#isMarked = true;
    }
  }

  /** A bucket has no folders, and is not mounted. */
  beginLog(): Promise<void> {
    return Promise.resolve();
  }

  async appendLog(store: string, _writer: string, lines: readonly LogLine[]): Promise<void> {
    await this.mark();
    const path = join(this.root, ...logParts, store, nameOfBatch(lines));
    await this.bucket.store(keyOf(path), sourceOf(textOfLines(lines)));
  }

  async compactLog(
    store: string,
    size: number,
    linesOf: (first: number, end: number) => Promise<readonly LogLine[]>,
  ): Promise<boolean> {
    const folder = join(this.root, ...logParts, store);
    const batches = batchesOf(await this.disk.readdir(folder));
    const blockOf = (n: number): number => Math.floor(n / blockLines);
    const whole = new Set(batches.filter(({ isBlock }) => isBlock).map(({ first }) => blockOf(first)));
    for (let block = 0; (block + 1) * blockLines <= size; block += 1) {
      if (!whole.has(block)) {
        const lines = await linesOf(block * blockLines, (block + 1) * blockLines);
        if (lines.length === blockLines) {
          await this.appendLog(store, "", lines);
          whole.add(block);
        }
      }
    }
    const isReplaced = ({ first, last, isBlock }: NamedBatch): boolean => {
      let block = blockOf(first);
      while (block <= blockOf(last) && whole.has(block)) {
        block += 1;
      }
      return !isBlock && block > blockOf(last);
    };
    for (const { name } of batches.filter(isReplaced)) {
      try {
        await this.remove(join(folder, name));
      } catch (error) {
        if (isDimensionerError(error) && refusals.has(error.sentence)) {
          return false;
        }
        throw error;
      }
    }
    return true;
  }

  /**
   * The manifest is removed first: a package without one does not exist. What a kill leaves of it is found by its line in
   * the log of deleted packages. Whoever sets a hold looks for the manifest afterwards: so either of the two sees the other.
   */
  async removePackage(folder: string, _start?: string): Promise<boolean> {
    const path = join(folder, manifestFileName);
    const manifest = await this.#readWhole(path);
    await this.remove(path);
    let names: readonly string[] = [];
    // If it cannot be known, it stays as well.
    let stays = manifest !== undefined;
    try {
      names = await this.disk.readdir(folder);
      stays &&= names.some((name) => holdName.test(name));
    } finally {
      if (stays && manifest !== undefined) {
        await this.write(path, manifest);
      }
    }
    if (stays) {
      return false;
    }
    for (const name of names) {
      await this.remove(join(folder, name));
    }
    return true;
  }

  /**
   * Until when an object of a package is protected from being deleted, as far as the object store says so: infinite for a legal hold,
   * 0 if none is. Where the bucket keeps versions, it would hide such an object when it is told to delete it.
   */
  async retainedUntilMs(folder: string): Promise<number> {
    let untilMs = 0;
    for (const name of await this.disk.readdir(folder)) {
      const head = await this.bucket.head(keyOf(join(folder, name)));
      untilMs = Math.max(untilMs, head?.retainedUntilMs ?? 0);
    }
    return untilMs;
  }

  async close(): Promise<void> {
    await this.bucket.close();
  }

  async #readWhole(path: string): Promise<Buffer | undefined> {
    const file = await openPlain(path, this.disk);
    try {
      return await file?.readFile();
    } finally {
      await file?.close();
    }
  }

  /** The content is asked for when it is read. */
  async #partOf(key: string): Promise<SentFile | undefined> {
    const { bucket } = this;
    const head = await bucket.head(key);
    if (head === undefined) {
      return undefined;
    }
    let file: BucketFile | undefined;
    const read = async function* (first: number, last: number): AsyncGenerator<Buffer> {
      if (last < first) {
        return;
      }
      file = await BucketFile.openPart(bucket, key, head, { first, last });
      try {
        yield* blocksOf(file, first, last);
      } finally {
        await file.close();
      }
    };
    return { bytes: head.bytes, read, close: async () => await file?.close() };
  }
}
