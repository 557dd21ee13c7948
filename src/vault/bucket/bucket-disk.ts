import { sep } from "node:path";
import type { EntryFacts, ReadDisk, ReadFile } from "../archive-disk.ts";
import type { BucketAddress } from "../s3/bucket-address.ts";
import type { Objects } from "../s3/bucket.ts";
import { BucketFile } from "./bucket-file.ts";

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
