import { join } from "node:path";
import { type ArchiveDisk, type ReadDisk, exists, plainDisk, stateFolderName } from "./archive-disk.ts";
import { type BucketLocation, type FilesLocation, filesKey } from "./files-location.ts";
import type { BucketFiles } from "./files/bucket-files.ts";
import { FolderFiles } from "./files/folder-files.ts";
import { namedFiles, openBucketFiles } from "./files/open-files.ts";
import { type Place, findPlace, findRoot } from "./walk.ts";

/** A folder or a bucket that is being read, or changed. */
export interface OpenedPlace extends Place {
  readonly files: BucketFiles | FolderFiles;
  /** The disk of `files`. */
  readonly disk: ReadDisk;
  /** For people: the path of the folder of packages, or `s3://bucket/prefix`. */
  readonly location: string;
  /** As the database of a store names it: the path, or the `filesKey` of the bucket. */
  readonly key: string;
  close(): Promise<void>;
}

interface OpenPlaceOptions {
  readonly disk?: ArchiveDisk | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The named folder has the packages of an export: no archive above it is its own, and it has no state folder. */
  readonly isExport?: boolean;
}

/**
 * Opens what a person has named, a folder or the address of a bucket, which may be a part of an archive; or where a store
 * has its packages, which is all of it. The client of object stores is loaded only for a bucket. Aborting the signal ends
 * all requests to the bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export async function openPlace(
  named: string | FilesLocation,
  { disk = plainDisk, signal, isExport = false }: OpenPlaceOptions,
): Promise<OpenedPlace> {
  const isWhole = typeof named !== "string";
  const location = isWhole ? named : namedFiles(named);
  if (location.kind === "s3") {
    return await openBucket(location, isWhole, signal);
  }
  const found = await findPlace(location.path, disk);
  const place = isWhole ? await wholePlace(found.start, disk) : isExport ? exportedPlace(found.start) : found;
  const files = new FolderFiles(place.root, disk);
  return { ...place, files, disk, location: files.name, key: place.root, close: () => files.close() };
}

async function openBucket(
  location: BucketLocation,
  isWhole: boolean,
  signal: AbortSignal | undefined,
): Promise<OpenedPlace> {
  const { root: start, disk } = await openBucketFiles(location, { signal });
  try {
    const [{ BucketFiles: Files }, { keyOf }] = await Promise.all([
      import("./files/bucket-files.ts"),
      import("./bucket/bucket-disk.ts"),
    ]);
    const place = await (isWhole ? wholePlace : findRoot)(start, disk);
    const files = new Files(disk, place.root);
    const key = filesKey({ ...location, address: { ...location.address, prefix: keyOf(place.root) } });
    return { ...place, files, disk, location: files.name, key, close: () => files.close() };
  } catch (error) {
    await disk.bucket.close();
    throw error;
  }
}

/** A store's own place is never a part of another archive, also before it has a state folder. */
async function wholePlace(root: string, disk: ReadDisk): Promise<Place> {
  return { root, start: root, hasState: await exists(join(root, stateFolderName), disk) };
}

function exportedPlace(root: string): Place {
  return { root, start: root, hasState: false };
}
