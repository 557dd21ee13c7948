import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { sha256Of } from "../../model/sha256.ts";
import { holdName, manifestFileName, plainDisk } from "../archive-disk.ts";
import { type Manifest, filesOf } from "../packages/manifest.ts";
import { hashFile } from "../packages/package-files.ts";
import type { Bucket } from "../s3/bucket.ts";
import type { StoreOptions } from "../s3/store-object.ts";
import { copyAnyFile, copyFile } from "./copy-file.ts";

/** A package in a folder. */
export interface PackageInFolder {
  /** Its absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Of its manifest. */
  readonly sha256: string;
}

/** What has become of a package. */
export interface CopiedPackage {
  readonly what: "copied" | "failed" | "gone" | "there";
  /** Sent to the bucket. */
  readonly bytes: number;
  /** Why it was not copied: a sentence for people. */
  readonly problem?: string;
}

type Options = Pick<StoreOptions, "retainUntil">;

/**
 * Copies a package to a bucket, its manifest last: a package without one does not exist. Only files that are as they were
 * archived are copied. What an earlier run has stored is not sent again, and nothing is replaced.
 */
export async function copyPackage(
  { folder, manifest, sha256 }: PackageInFolder,
  bucket: Bucket,
  key: string,
  options: Options,
): Promise<CopiedPackage> {
  const manifestKey = `${key}/${manifestFileName}`;
  const there = await sha256OfObject(bucket, manifestKey);
  if (there !== undefined) {
    return there === sha256
      ? { what: "there", bytes: await copyHolds(folder, bucket, key) }
      : failed(0, "another package has the same name in the bucket: it was not replaced");
  }
  const stored = await listPackage(bucket, key);
  let bytes = 0;
  for (const file of filesOf(manifest)) {
    const fileKey = `${key}/${file.path}`;
    const isStored =
      stored.get(fileKey) === file.bytes && (await sha256OfObject(bucket, fileKey)) === file.sha256;
    if (isStored) {
      continue;
    }
    const contentType = typeOf(manifest, file.path);
    const copied = await copyFile(join(folder, file.path), bucket, fileKey, file, {
      ...options,
      contentType,
    });
    if (copied !== "stored") {
      const isGone = (await hashFile(join(folder, manifestFileName), plainDisk)) === undefined;
      const problem = copied === undefined ? "is missing" : "is not as it was archived";
      return isGone ? { what: "gone", bytes } : failed(bytes, `${file.path} ${problem}`);
    }
    bytes += file.bytes;
  }
  bytes += await copyHolds(folder, bucket, key);
  return await copyManifest({ folder, manifest, sha256 }, bucket, manifestKey, bytes, options);
}

async function copyManifest(
  { folder, sha256 }: PackageInFolder,
  bucket: Bucket,
  key: string,
  bytes: number,
  options: Options,
): Promise<CopiedPackage> {
  const path = join(folder, manifestFileName);
  const found = await hashFile(path, plainDisk);
  if (found === undefined) {
    // It was pruned meanwhile.
    return { what: "gone", bytes };
  }
  const expected = { bytes: found.bytes, sha256 };
  const contentType = "application/json";
  const copied = await copyFile(path, bucket, key, expected, { ...options, contentType, isNew: true });
  const isThere =
    copied === "stored" || (copied === "exists" && (await sha256OfObject(bucket, key)) === sha256);
  return isThere
    ? { what: "copied", bytes: bytes + found.bytes }
    : failed(bytes, "its manifest has changed, or another package has its name in the bucket");
}

/** A hold is a file in the package, so that the copy is on hold as well. One that was released stays in the copy. */
async function copyHolds(folder: string, bucket: Bucket, key: string): Promise<number> {
  let bytes = 0;
  for (const name of await plainDisk.readdir(folder)) {
    if (holdName.test(name)) {
      bytes += await copyAnyFile(join(folder, name), bucket, `${key}/${name}`);
    }
  }
  return bytes;
}

/** The objects of a package with their lengths. */
async function listPackage(bucket: Bucket, key: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const page of bucket.list(`${key}/`)) {
    for (const one of page) {
      found.set(one.key, one.bytes);
    }
  }
  return found;
}

/** As its writer has noted it; what other programs have copied is read. */
export async function sha256OfObject(bucket: Bucket, key: string): Promise<string | undefined> {
  const head = await bucket.head(key);
  if (head === undefined || head.sha256 !== undefined) {
    return head?.sha256;
  }
  const opened = await bucket.read(key);
  return opened === undefined ? undefined : sha256Of(await buffer(opened.body));
}

function typeOf({ items }: Manifest, path: string): string | undefined {
  const item = items.find((one) => one.path === path);
  const own = path.endsWith(".json") ? "application/json" : undefined;
  return item === undefined ? own : (item.contentTypeFound ?? item.contentTypeAnnounced ?? undefined);
}

function failed(bytes: number, problem: string): CopiedPackage {
  return { what: "failed", bytes, problem };
}
