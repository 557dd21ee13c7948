import { basename, join, posix } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import { sha256Of } from "../../model/sha256.ts";
import {
  type ReadDisk,
  holdName,
  manifestFileName,
  stateFolderName,
  plainDisk,
  trashFolderName,
} from "../archive-disk.ts";
import { type NamedBatch, batchesOf, logParts, nameOfBatch, textOfLines } from "../log/log-files.ts";
import { blockLines } from "../log/tree.ts";
import { isLocation, isUploadLocation } from "../packages/layout.ts";
import { largestManifestBytes, readManifest } from "../packages/manifest.ts";
import {
  type FoundFile,
  type FoundManifest,
  hashFile,
  openPlain,
  readPlain,
} from "../packages/package-files.ts";
import { blocksOf, wholeOf } from "../plain-files.ts";
import { type Objects, probeName, timeOf } from "../s3/bucket.ts";
import { sourceOf, type StoreOptions, type Stored } from "../s3/store-object.ts";
import type { Vault, NotPutFile, PutFile, SentFile, StoredFile } from "../vault.ts";
import { locationOf } from "../walk.ts";
import { type BucketDisk, keyOf, pathOf, BucketFile } from "./bucket-disk.ts";

/** No object has a longer key. */
const longestKeyBytes = 1_024;
/** Why an object store does not delete what is not needed any more: it will not do so later either. */
const refusals: ReadonlySet<SentenceKey> = new Set(["bucketDenied", "bucketProtected"]);

/** The copy of a manifest in the trash of a bucket, with the location of its package; undefined if it is none. */
export async function readTrashed(
  copy: string,
  disk: Pick<ReadDisk, "open">,
): Promise<{ readonly location: string; readonly bytes: Buffer } | undefined> {
  const content = await readPlain(copy, disk, largestManifestBytes + longestKeyBytes);
  const end = typeof content === "string" ? -1 : content.indexOf("\n");
  if (typeof content === "string" || end < 0) {
    return undefined;
  }
  const location = content.toString("utf8", 0, end);
  return sha256Of(location) === basename(copy) ? { location, bytes: content.subarray(end + 1) } : undefined;
}

/** The files of an archive in a bucket. */
export class BucketVault implements Vault {
  readonly kind = "s3";
  readonly readsAtOnce = 8;
  readonly worksAtOnce = 4;
  readonly showsUnfinished = true;
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

  /** What the keys of the packages begin with, without the slash at its end. */
  get prefix(): string {
    return keyOf(this.root);
  }

  get name(): string {
    return `s3://${this.bucket.address.bucket}${this.prefix === "" ? "" : `/${this.prefix}`}`;
  }

  /** The vault with another prefix in the same bucket, by the same connections. */
  at(root: string): BucketVault {
    return new BucketVault(this.disk, root);
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

  async putFile(
    from: string,
    path: string,
    { contentType, retainUntil, ...expected }: PutFile,
    disk: Pick<ReadDisk, "open">,
  ): Promise<NotPutFile | undefined> {
    const stored = await copyFile(from, this.bucket, keyOf(path), expected, {
      disk,
      contentType,
      retainUntil,
    });
    return stored === "stored" ? undefined : stored === undefined ? "missing" : "changed";
  }

  /** What other programs have stored is read. */
  async sha256Of(path: string, most: number): Promise<string | undefined> {
    const head = await this.bucket.head(keyOf(path));
    if (head === undefined || head.sha256 !== undefined) {
      return head?.sha256;
    }
    return (await hashFile(path, this.disk, undefined, most))?.sha256;
  }

  async *filesBelow(folder: string): AsyncGenerator<readonly StoredFile[]> {
    const prefix = `${keyOf(folder)}/`;
    for await (const page of this.bucket.list(prefix)) {
      yield page
        .filter(({ key }) => key.slice(prefix.length).split("/").length === 2)
        .map(({ key, storedAtMs }) => ({ path: pathOf(key), storedAtMs }));
    }
  }

  /** The time of the object store, by an answer of just now: while a computer sleeps, the clock that nobody sets stands still. */
  async now(): Promise<Date> {
    if (this.bucket.clock !== undefined) {
      await this.bucket.head(markOf(this.prefix));
    }
    return timeOf(this.bucket);
  }

  async leastTimeMs(): Promise<number> {
    return Math.min(Date.now(), (await this.now()).getTime());
  }

  /** Uploads in parts that were never put together, and the objects with which a connection was tested. What is not of this package stays. */
  async removeInterrupted(beforeMs: number): Promise<number | null> {
    const below = this.prefix === "" ? "" : `${this.prefix}/`;
    const state = `${below}${stateFolderName}/`;
    for await (const page of this.bucket.list(`${state}${probeName}`)) {
      for (const { key, storedAtMs } of page) {
        if (storedAtMs < beforeMs && !key.slice(state.length).includes("/")) {
          await this.bucket.remove(key);
        }
      }
    }
    const isOurs = (key: string): boolean =>
      key.startsWith(state) || isUploadLocation(posix.dirname(key.slice(below.length)));
    return await this.bucket.endUploads(below, beforeMs, isOurs);
  }

  async removeEmpty(): Promise<void> {
    // It has no folders.
  }

  async remove(path: string): Promise<void> {
    await this.bucket.remove(keyOf(path));
  }

  /**
   * Says in the bucket that an archive is here, before anything of it is: its packages do not belong to one around it. Once for each process.
   */
  async mark(): Promise<void> {
    if (!this.#isMarked) {
      await markArchive(this.bucket, this.prefix);
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
   * The manifest is removed first: a package without one does not exist. Whoever sets a hold looks for the manifest afterwards: so either of
   * the two sees the other. Until all is decided, a copy of the manifest is in the trash, from where a later run ends what a kill has
   * interrupted, or brings it back.
   */
  async removePackage(folder: string): Promise<boolean> {
    const manifest = await this.#readManifest(folder);
    if (typeof manifest === "string") {
      return await this.#removeAll(folder, manifest);
    }
    const location = locationOf(this, folder);
    const copy = join(this.root, stateFolderName, trashFolderName, sha256Of(location));
    await this.write(copy, Buffer.concat([Buffer.from(`${location}\n`), manifest]));
    const isRemoved = await this.#removeAll(folder, manifest);
    await this.#removeIfAllowed(copy);
    return isRemoved;
  }

  /** Removes what was uploaded and never archived: nothing of it is kept. Returns false if it stays, as `removePackage` does. */
  async removeUpload(folder: string): Promise<boolean> {
    return await this.#removeAll(folder, await this.#readManifest(folder));
  }

  async #readManifest(folder: string): Promise<Buffer | "none" | "too-large"> {
    return await readPlain(join(folder, manifestFileName), this.disk, largestManifestBytes);
  }

  async #removeAll(folder: string, manifest: Buffer | "none" | "too-large"): Promise<boolean> {
    if (manifest === "too-large") {
      // It could not be written back.
      return false;
    }
    const path = join(folder, manifestFileName);
    await this.remove(path);
    let names: readonly string[] = [];
    // If it cannot be known, it stays as well.
    let stays = manifest !== "none";
    try {
      names = await this.disk.readdir(folder);
      stays &&= names.some((name) => holdName.test(name));
    } finally {
      if (stays && manifest !== "none") {
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

  async emptyTrash(isDeleted: (found: FoundManifest) => Promise<boolean>): Promise<readonly string[]> {
    const trash = join(this.root, stateFolderName, trashFolderName);
    const left: string[] = [];
    for (const name of await this.disk.readdir(trash)) {
      const copy = join(trash, name);
      const read = await readTrashed(copy, this.disk);
      const { location, bytes } = read ?? { location: "", bytes: Buffer.alloc(0) };
      const manifest = readManifest(bytes.toString());
      if (manifest === undefined || !isLocation(location)) {
        left.push(`${stateFolderName}/${trashFolderName}/${name}`);
        continue;
      }
      const folder = join(this.root, location);
      const names = await this.disk.readdir(folder);
      if (!names.includes(manifestFileName)) {
        const isHeld = names.some((one) => holdName.test(one));
        if (isHeld || !(await isDeleted({ manifest, sha256: sha256Of(bytes) }))) {
          await this.write(join(folder, manifestFileName), bytes);
          left.push(location);
        } else if (names.length > 0) {
          // The rest goes as what is left of a deleted package does, unless somebody stores another one there; the copy goes after it.
          continue;
        }
      }
      await this.#removeIfAllowed(copy);
    }
    return left;
  }

  /** What an object store does not let go is not needed, and does no harm. */
  async #removeIfAllowed(path: string): Promise<void> {
    try {
      await this.remove(path);
    } catch (error) {
      if (!isDimensionerError(error) || !refusals.has(error.sentence)) {
        throw error;
      }
    }
  }

  async space(): Promise<undefined> {
    return undefined;
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

/**
 * Copies a file to a bucket, and looks whether it is there. Nothing is stored unless its content is the `expected` one: `changed`.
 * Undefined if there is no such file. Throws the system's error and ERR_STORE.
 */
export async function copyFile(
  path: string,
  bucket: Objects,
  key: string,
  expected: FoundFile,
  { disk = plainDisk, ...options }: StoreOptions & { readonly disk?: Pick<ReadDisk, "open"> },
): Promise<Stored | undefined> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return undefined;
  }
  const { bytes, sha256 } = expected;
  const read = async (position: number, length: number): Promise<Buffer> => {
    const block = Buffer.allocUnsafe(length);
    let done = 0;
    for (let bytesRead = 1; bytesRead > 0 && done < length; done += bytesRead) {
      ({ bytesRead } = await file.read(block, done, length - done, position + done));
    }
    return block.subarray(0, done);
  };
  try {
    const stored = await bucket.store(key, { bytes, sha256, read }, options);
    const head = stored === "stored" ? await bucket.head(key) : undefined;
    // An object store may accept what it does not keep, or only its beginning.
    if (stored === "stored" && (head?.bytes !== bytes || (head.sha256 ?? sha256) !== sha256)) {
      throw bucket.explain("write", new ProblemError(phrase("bucketNotKept")));
    }
    return stored;
  } finally {
    await file.close();
  }
}

/** What people read who find the object. */
const content = `${JSON.stringify({ note: "The packages here are an archive of their own, also if there is another one around it." })}\n`;

/** What says that an archive is here. */
function markOf(prefix: string): string {
  return [prefix, stateFolderName, "archive.json"].filter((part) => part !== "").join("/");
}

/**
 * Stores an object in the state folder of an archive, unless it is there: a bucket has no folder that is empty, and without it the
 * packages would belong to an archive with a shorter prefix, which deletes them by its own age. `prefix` is that of the archive.
 * Throws ERR_STORE.
 */
export async function markArchive(bucket: Objects, prefix: string): Promise<void> {
  const key = markOf(prefix);
  if ((await bucket.head(key)) === undefined) {
    await bucket.store(key, sourceOf(content), { isNew: true, contentType: "application/json" });
  }
}
