import { basename, join } from "node:path";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { PrunedPackage } from "../../model/archive-reports.ts";
import type { ListedObject } from "../s3/listing.ts";
import { holdName, manifestFileName } from "../archive-disk.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { filesOf } from "../packages/manifest.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import { PruneLog } from "./prune-log.ts";
import { sayRetained } from "./say-retained.ts";

export interface LeftoverOptions {
  /** Only what was stored before this is removed: milliseconds since 1970. What is younger may be being uploaded. */
  readonly beforeMs: number;
  /** Only tells what would be removed. */
  readonly isDryRun?: boolean | undefined;
  /** Aborting ends it between two folders with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A folder of a bucket that is to be removed. */
export interface LeftoverFolder {
  /** Below the folder of packages, with slashes. */
  readonly location: string;
  /** What it is left of: a part of a sentence. */
  readonly reason: string;
  /** The manifest in it; undefined if there must be none. */
  readonly found?: FoundManifest | undefined;
  /** Whether an object belongs to it, if that does not show from the SHA-256 that this package notes with each object. */
  readonly isOurs?: ((object: ListedObject) => boolean) | undefined;
}

/**
 * Removes a folder that is left of an upload or of a package, with its manifest first. Returns what has become of it;
 * undefined if something in it is too young, or has come or changed meanwhile. What somebody else has put there keeps it,
 * and so do a hold and the object store's own protection. Throws ERR_STORE.
 */
export async function removeLeftover(
  files: BucketFiles,
  leftover: LeftoverFolder,
  { beforeMs, isDryRun = false }: LeftoverOptions,
): Promise<PrunedPackage | undefined> {
  const { location, reason, found } = leftover;
  const folder = join(files.root, location);
  const objects = await listAll(files, folder);
  const bytes = objects.reduce((sum, one) => sum + one.bytes, 0);
  const hasManifest = objects.some(({ key }) => key === keyOf(join(folder, manifestFileName)));
  if (hasManifest !== (found !== undefined) || !objects.every((one) => isBefore(one, beforeMs))) {
    return undefined;
  }
  const kept = await reasonToKeep(files, folder, objects, leftover);
  if (kept !== null) {
    return { what: kept === "hold" ? "held" : "kept", path: location, bytes, reason: kept };
  }
  if (isDryRun) {
    return { what: "leftover", path: location, bytes, reason };
  }
  try {
    await files.bucket.endUploads(`${keyOf(folder)}/`, Infinity);
    if (found !== undefined) {
      // Another package may name this one as the one before it.
      await new PruneLog(files).add([{ kind: "package", path: location, folder, ...found }]);
    }
    if (!(await files.removePackage(folder))) {
      return { what: "held", path: location, bytes, reason: "hold" };
    }
  } catch (error) {
    if (isDimensionerError(error) && error.sentence === "bucketProtected") {
      return { what: "kept", path: location, bytes, reason: error.message };
    }
    throw error;
  }
  const isEmpty = (await listAll(files, folder)).length === 0;
  return isEmpty ? { what: "leftover", path: location, bytes, reason } : undefined;
}

/** Whether an object was stored before a time. If the object store does not say when, it was not. */
export function isBefore({ storedAtMs }: ListedObject, beforeMs: number): boolean {
  return storedAtMs <= beforeMs;
}

/** All objects below a folder. */
export async function listAll({ bucket }: BucketFiles, folder: string): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of bucket.list(`${keyOf(folder)}/`)) {
    objects.push(...page);
  }
  return objects;
}

async function reasonToKeep(
  files: BucketFiles,
  folder: string,
  objects: readonly ListedObject[],
  { found, isOurs }: LeftoverFolder,
): Promise<string | null> {
  const below = keyOf(folder).length + 1;
  if (objects.some(({ key }) => holdName.test(basename(key)))) {
    return "hold";
  }
  const named =
    found === undefined
      ? null
      : new Set([manifestFileName, ...filesOf(found.manifest).map(({ path }) => path)]);
  let untilMs = 0;
  for (const object of objects) {
    const name = object.key.slice(below);
    const head = await files.bucket.head(object.key);
    const isOurOwn = named?.has(name) ?? isOurs?.(object) ?? head?.sha256 !== undefined;
    if (name.includes("/") || !isOurOwn) {
      return `it contains ${name}, which is not of this package`;
    }
    untilMs = Math.max(untilMs, head?.retainedUntilMs ?? 0);
  }
  return untilMs > Date.now() ? sayRetained(untilMs) : null;
}
