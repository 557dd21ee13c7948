import { sep } from "node:path";
import type { Readable } from "node:stream";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import { type EntryFacts, type ReadDisk, type ReadFile, manifestFileName } from "../archive-disk.ts";
import type { BucketAddress } from "../s3/bucket-address.ts";
import type { Objects, ObjectHead, OpenedObject, ListedObject } from "../s3/bucket.ts";

/** What keys have in common as far as the next slash, as a folder has it. */
const folder: EntryFacts = { size: 0, isDirectory: () => true, isFile: () => false };

/**
 * Reads a bucket like a disk: keys are paths with slashes, and what they have in common is a folder. There are no links.
 * Whatever is not there ends in ENOENT as on a disk, and everything else in ERR_STORE.
 */
export class BucketDisk implements ReadDisk {
  readonly bucket: Objects;

  constructor(bucket: Objects) {
    this.bucket = bucket;
  }

  async open(path: string): Promise<ReadFile> {
    const key = keyOf(path);
    const opened = key === "" ? undefined : await this.bucket.read(key);
    if (opened === undefined) {
      throw missing(path);
    }
    return new BucketFile(this.bucket, key, opened);
  }

  async lstat(path: string): Promise<EntryFacts> {
    const key = keyOf(path);
    if (key === "" || (await this.#hasAny(`${key}/`))) {
      return folder;
    }
    const head = await this.bucket.head(key);
    if (head === undefined) {
      throw missing(path);
    }
    return { size: head.bytes, isDirectory: () => false, isFile: () => true };
  }

  async readdir(path: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of this.#entries(path)) {
      names.push(name);
    }
    return names;
  }

  opendir(path: string): Promise<AsyncIterable<{ readonly name: string; isDirectory(): boolean }>> {
    return Promise.resolve(this.#entries(path));
  }

  async retainedUntilMs(path: string): Promise<number> {
    return (await this.bucket.head(keyOf(path)))?.retainedUntilMs ?? 0;
  }

  realpath(path: string): Promise<string> {
    return Promise.resolve(path);
  }

  /**
   * The names in a folder. All keys below it are listed, 1,000 with a request: to list each folder alone would take a
   * request for each package.
   */
  async *#entries(path: string): AsyncGenerator<{ readonly name: string; isDirectory(): boolean }> {
    const key = keyOf(path);
    const prefix = key === "" ? "" : `${key}/`;
    let before: string | undefined;
    for await (const page of this.bucket.list(prefix)) {
      for (const one of page) {
        const [name = "", ...below] = one.key.slice(prefix.length).split("/");
        // A folder of this name would be another one on a disk.
        const isDirectory = below.length > 0 && name !== "." && name !== "..";
        // Some programs create an empty object to show a folder. Keys below the same folder come one after the other.
        if (name !== "" && !(isDirectory && name === before)) {
          yield { name, isDirectory: () => isDirectory };
        }
        before = isDirectory ? name : undefined;
      }
    }
  }

  async #hasAny(prefix: string): Promise<boolean> {
    for await (const page of this.bucket.list(prefix, 1)) {
      return page.length > 0;
    }
    return false;
  }
}

/** Returns the prefix of an address as a path. */
export function rootOf({ prefix }: BucketAddress): string {
  return pathOf(prefix);
}

/** The path of a key. */
export function pathOf(key: string): string {
  return sep + key.replaceAll("/", sep);
}

/** The key of a path: without the slash at its beginning, and with slashes on Windows as well. */
export function keyOf(path: string): string {
  return path
    .split(sep)
    .filter((part) => part !== "")
    .join("/");
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such object: ${path}`), { code: "ENOENT", errno: -2 });
}

/** The first byte and the last one that are read. */
interface ByteRange {
  readonly first?: number;
  readonly last?: number;
}

/** How often in a row a connection may break before as much as this has arrived. */
const mostTries = 5;
const leastProgressBytes = 65_536;

/**
 * An object that is read like a file, or a part of it. What is read from the beginning to the end comes with one request; after
 * a broken connection the rest is requested, if the object is still the same.
 */
export class BucketFile implements ReadFile {
  readonly #bucket: Objects;
  readonly #key: string;
  readonly #opened: OpenedObject;
  /** The last byte that is read; undefined: that of the object. */
  readonly #last: number | undefined;
  #body: Readable;
  #blocks: AsyncIterator<Buffer, unknown>;
  #position: number;
  /** How often a connection has broken since the object had got to this position. */
  #broken = 0;
  #brokenAt: number;
  #rest: Buffer = Buffer.alloc(0);
  #isClosed = false;

  /** `opened` is the object from the first byte to the last one of the part. */
  constructor(bucket: Objects, key: string, opened: OpenedObject, { first = 0, last }: ByteRange = {}) {
    this.#bucket = bucket;
    this.#key = key;
    this.#opened = opened;
    this.#last = last;
    this.#position = first;
    this.#brokenAt = first;
    this.#body = opened.body;
    this.#blocks = blocksOf(opened.body);
  }

  /** Opens a part of an object, if it is still the same. Rejects with ERR_STORE. */
  static async openPart(
    bucket: Objects,
    key: string,
    { etag }: Pick<ObjectHead, "etag">,
    part: Required<ByteRange>,
  ): Promise<BucketFile> {
    const opened = await bucket.read(key, part.first, etag, part.last);
    if (opened === undefined) {
      throw replaced(bucket);
    }
    return new BucketFile(bucket, key, opened, part);
  }

  stat(): Promise<{ readonly size: number; isFile(): boolean }> {
    return Promise.resolve({ size: this.#opened.bytes, isFile: () => true });
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Buffer }> {
    let bytesRead = 0;
    if (position < this.#opened.bytes && position !== this.#position) {
      await this.#reopen(position);
    }
    while (bytesRead < length && this.#position < this.#opened.bytes && position < this.#opened.bytes) {
      if (this.#rest.length === 0) {
        this.#rest = await this.#next();
      }
      const taken = this.#rest.copy(buffer, offset + bytesRead, 0, length - bytesRead);
      this.#rest = this.#rest.subarray(taken);
      this.#position += taken;
      bytesRead += taken;
    }
    return { bytesRead, buffer };
  }

  /** Ends a request that runs, also while it is waited for. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#body.destroy();
    return Promise.resolve();
  }

  /** The next bytes; never empty. */
  async #next(): Promise<Buffer> {
    for (;;) {
      try {
        const next: IteratorResult<Buffer, unknown> = await this.#blocks.next();
        if (next.done !== true && next.value.length > 0) {
          return next.value;
        }
        if (next.done === true) {
          throw new ProblemError(phrase("bucketCutShort"));
        }
      } catch (error) {
        if (Math.abs(this.#position - this.#brokenAt) >= leastProgressBytes) {
          this.#broken = 0;
          this.#brokenAt = this.#position;
        }
        this.#broken += 1;
        if (this.#isClosed || isDimensionerError(error) || this.#broken === mostTries) {
          throw this.#bucket.explain("read", error);
        }
        await this.#bucket.pauseAfter(this.#broken);
        await this.#reopen(this.#position);
      }
    }
  }

  async #reopen(position: number): Promise<void> {
    this.#body.destroy();
    const opened = await this.#bucket.read(this.#key, position, this.#opened.etag, this.#last);
    if (opened === undefined) {
      throw replaced(this.#bucket);
    }
    this.#body = opened.body;
    this.#blocks = blocksOf(opened.body);
    if (this.#isClosed) {
      this.#body.destroy();
    }
    this.#position = position;
    this.#rest = Buffer.alloc(0);
  }
}

function replaced(bucket: Objects): unknown {
  return bucket.explain("read", new ProblemError(phrase("bucketReplaced")));
}

function blocksOf(body: Readable): AsyncIterator<Buffer, unknown> {
  // A destroyed stream reports an error to nobody, which would end the process.
  body.on("error", () => undefined);
  const blocks: AsyncIterable<Buffer, unknown> = body;
  return blocks[Symbol.asyncIterator]();
}

/** A folder of a bucket with what is directly in it. */
export interface ListedFolder {
  /** As `BucketDisk` reads it. */
  readonly path: string;
  /** The first of its objects: no package has more. */
  readonly objects: readonly ListedObject[];
  readonly hasManifest: boolean;
  /** Whether there are folders in it. */
  readonly hasFolders: boolean;
}

/** More files than a package has: its manifest would be larger than one may be. */
const mostObjects = 10_000;

interface OpenFolder {
  readonly key: string;
  readonly objects: ListedObject[];
  hasManifest: boolean;
  hasFolders: boolean;
}

/**
 * Lists a folder of a bucket and all folders in it, each after those in it: 1,000 objects with a request, however many
 * folders there are. It keeps only the path to the present one. What is in a folder whose path would lead elsewhere is left
 * out.
 */
export async function* listFolders(bucket: Objects, path: string): AsyncGenerator<ListedFolder> {
  const start = keyOf(path);
  const open: OpenFolder[] = [newFolder(start)];
  for await (const page of bucket.list(start === "" ? "" : `${start}/`)) {
    for (const object of page) {
      const key = object.key.slice(0, Math.max(object.key.lastIndexOf("/"), 0));
      if (!isPlain(key)) {
        continue;
      }
      for (let last = open.at(-1); last !== undefined && !isWithin(key, last.key); last = open.at(-1)) {
        open.pop();
        yield asListed(last);
      }
      addTo(openAsFarAs(key, open), object);
    }
  }
  for (const one of open.reverse()) {
    yield asListed(one);
  }
}

function addTo(folder: OpenFolder, object: ListedObject): void {
  const name = object.key.slice(object.key.lastIndexOf("/") + 1);
  folder.hasManifest ||= name === manifestFileName;
  // Some programs create an empty object without a name to show a folder.
  if (name !== "" && folder.objects.length < mostObjects) {
    folder.objects.push(object);
  }
}

/** Opens the folders between the last open one and the one with this key, and returns that. */
function openAsFarAs(key: string, open: OpenFolder[]): OpenFolder {
  let last = open.at(-1) ?? newFolder("");
  while (last.key !== key) {
    const above = last.key === "" ? "" : `${last.key}/`;
    const [name = ""] = key.slice(above.length).split("/");
    last.hasFolders = true;
    last = newFolder(above + name);
    open.push(last);
  }
  return last;
}

function newFolder(key: string): OpenFolder {
  return { key, objects: [], hasManifest: false, hasFolders: false };
}

function asListed({ key, ...rest }: OpenFolder): ListedFolder {
  return { path: pathOf(key), ...rest };
}

/** Whether the path of a key leads where the key says: no part is empty, or means another folder. */
function isPlain(key: string): boolean {
  return key === "" || (!/(?:^|\/)\.{0,2}(?:\/|$)/.test(key) && keyOf(pathOf(key)) === key);
}

function isWithin(key: string, folder: string): boolean {
  return folder === "" || key === folder || key.startsWith(`${folder}/`);
}
