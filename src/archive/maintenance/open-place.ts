import { join } from "node:path";
import { isS3Url } from "../../s3/bucket-address.ts";
import type { FilesLocation } from "../../store/files-location.ts";
import { exists, plainDisk, stateFolderName, type ArchiveDisk, type ReadDisk } from "../archive-disk.ts";
import { openFiles } from "../files/open-files.ts";
import { findPlace, findRoot, type Place } from "./walk-packages.ts";

/** A folder or a bucket that is being read. */
export interface OpenedPlace extends Place {
  readonly disk: ReadDisk;
  /** For people: the path of the folder of packages, or `s3://bucket/prefix`. */
  readonly location: string;
  close(): Promise<void>;
}

/**
 * Opens what a person has named, a folder or the address of a bucket, which may be a part of an archive; or where a store
 * has its packages, which is all of it. The client of object stores is loaded only for a bucket. Aborting the signal ends all requests to the bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export async function openPlace(
  named: string | FilesLocation,
  {
    disk = plainDisk,
    signal,
  }: { readonly disk?: ArchiveDisk | undefined; readonly signal?: AbortSignal | undefined },
): Promise<OpenedPlace> {
  if (typeof named !== "string") {
    return await openStore(named, { disk, signal });
  }
  if (!isS3Url(named)) {
    const place = await findPlace(named, disk);
    const close = (): Promise<void> => Promise.resolve();
    return { ...place, disk, location: place.root, close };
  }
  const { openBucketDisk } = await import("../bucket/bucket-disk.ts");
  const { disk: bucketDisk, start } = await openBucketDisk(named, { signal });
  const { bucket } = bucketDisk;
  try {
    const place = await findRoot(start, bucketDisk);
    const prefix = place.root.replaceAll("\\", "/").slice(1);
    const location = `s3://${bucket.address.bucket}${prefix === "" ? "" : `/${prefix}`}`;
    return { ...place, disk: bucketDisk, location, close: () => bucket.close() };
  } catch (error) {
    await bucket.close();
    throw error;
  }
}

async function openStore(
  location: FilesLocation,
  options: { readonly disk: ArchiveDisk; readonly signal: AbortSignal | undefined },
): Promise<OpenedPlace> {
  const files = await openFiles(location, options);
  const { root, disk, name } = files;
  try {
    // A store's own place is never a part of another archive, also before it has a state folder.
    const hasState = await exists(join(root, stateFolderName), disk);
    return { root, start: root, hasState, disk, location: name, close: () => files.close() };
  } catch (error) {
    await files.close();
    throw error;
  }
}
