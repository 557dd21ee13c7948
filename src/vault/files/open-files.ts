import { checkRoot } from "../../media/place-file.ts";
import { type ArchiveDisk, asFileError, diskFacts, plainDisk } from "../archive-disk.ts";
import type { BucketLocation, FilesLocation } from "../files-location.ts";
import { isS3Url, readS3Url } from "../s3/bucket-address.ts";
import type { Credentials } from "../s3/credentials.ts";
import type { BucketOptions } from "../s3/requests.ts";
import type { ArchiveFiles } from "./archive-files.ts";
import type { BucketFiles } from "./bucket-files.ts";
import { FolderFiles } from "./folder-files.ts";

export interface OpenFilesOptions {
  /** The disk of a folder. */
  readonly disk?: ArchiveDisk | undefined;
  /** Aborting it ends all requests to a bucket. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the files of a store. The client of object stores is loaded only for a bucket. Rejects with ERR_FILE if the folder is
 * not there. Nothing is sent to a bucket yet.
 */
export async function openFiles(
  location: FilesLocation,
  { disk = plainDisk, signal }: OpenFilesOptions = {},
): Promise<ArchiveFiles> {
  if (location.kind === "folder") {
    return new FolderFiles(await openRoot(location.path, disk), disk);
  }
  return await openBucketFiles(location, { signal });
}

/** What a person has named: a folder, or the address of a bucket, whose credentials are in the environment. Throws ERR_CONFIG. */
export function namedFiles(named: string): FilesLocation {
  return isS3Url(named)
    ? { kind: "s3", address: readS3Url(named), credentials: null, workFolder: "", retainDays: 0 }
    : { kind: "folder", path: named };
}

/** Returns the folder of packages without links. Throws ERR_FILE if it is not there. */
async function openRoot(folder: string, disk: ArchiveDisk): Promise<string> {
  const root = await checkRoot(folder, disk, diskFacts);
  try {
    return await disk.realpath(root);
  } catch (error) {
    throw asFileError(error, root);
  }
}

/** The same for a bucket. `options.credentials` are used where the location has none. */
export async function openBucketFiles(
  { address, credentials }: BucketLocation,
  options: BucketOptions,
): Promise<BucketFiles> {
  const [{ Bucket }, { BucketDisk, rootOf }, { BucketFiles: Files }] = await Promise.all([
    import("../s3/bucket.ts"),
    import("../bucket/bucket-disk.ts"),
    import("./bucket-files.ts"),
  ]);
  const given = credentials === null ? {} : { credentials: fixed(credentials) };
  const bucket = await Bucket.open(address, { ...options, ...given });
  return new Files(new BucketDisk(bucket), rootOf(address));
}

/** The credentials of a dialog, which no renewal replaces. */
function fixed(credentials: Credentials): NonNullable<BucketOptions["credentials"]> {
  return { get: async () => credentials, drop: () => undefined };
}
