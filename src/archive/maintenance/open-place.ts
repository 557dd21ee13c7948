import { isS3Url } from "../../s3/bucket-address.ts";
import { plainDisk, type ArchiveDisk, type ReadDisk } from "../archive-disk.ts";
import { findPlace, findRoot, type Place } from "./walk-packages.ts";

/** A folder or a bucket that is being read. */
export interface OpenedPlace extends Place {
  readonly disk: ReadDisk;
  /** For people: the path of the folder of packages, or `s3://bucket/prefix`. */
  readonly location: string;
  close(): Promise<void>;
}

/**
 * Opens what a person has named: a folder, or the address of a bucket, for which alone the client of object stores is
 * loaded. Aborting the signal ends all requests to the bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export async function openPlace(
  named: string,
  {
    disk = plainDisk,
    signal,
  }: { readonly disk?: ArchiveDisk | undefined; readonly signal?: AbortSignal | undefined },
): Promise<OpenedPlace> {
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
