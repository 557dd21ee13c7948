import { resolve } from "node:path";
import type { BucketAddress } from "./s3/bucket-address.ts";
import type { Credentials } from "./s3/credentials.ts";

/** Where the packages of a store are: in a folder, or in a bucket of an object store. Can be sent to a thread. */
export type FilesLocation = FolderLocation | BucketLocation;

export interface FolderLocation {
  readonly kind: "folder";
  /** It was not checked whether it exists: it may be a share that is not mounted. */
  readonly path: string;
  /**
   * A folder of this computer, in an existing one, for what is not a package yet while the packages are on another disk, which may be
   * away. Undefined: it is always beside the packages.
   */
  readonly workFolder?: string | undefined;
}

export interface BucketLocation {
  readonly kind: "s3";
  readonly address: BucketAddress;
  /** Null: those of the environment. */
  readonly credentials: Credentials | null;
  /** A folder of this computer for what is not a package yet. It is created if it is missing. */
  readonly workFolder: string;
  /** For how many days new objects cannot be deleted (Object Lock); 0: they can. */
  readonly retainDays: number;
}

const bucketScheme = "s3:";

/** The place as messages name it: the path of the folder, or `s3://bucket/prefix`. */
export function filesName(location: FilesLocation): string {
  return location.kind === "folder" ? location.path : location.address.name;
}

/** The same for the same place. */
export function filesKey(location: FilesLocation): string {
  if (location.kind === "folder") {
    return resolve(location.path);
  }
  const { origin, basePath, prefix } = location.address;
  return `${bucketScheme}${origin}${basePath}/${prefix}`;
}

/** Whether a key is that of a bucket. The path of a folder is absolute, and no drive has a name of two letters. */
export function isBucketKey(key: string): boolean {
  return key.startsWith(bucketScheme);
}
