import { mkdir } from "node:fs/promises";
import type { DatabaseLease } from "../../database/store-databases.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { checkRoot } from "../../media/place-file.ts";
import { type ArchiveDisk, asFileError, diskFacts } from "../archive-disk.ts";
import type { FilesLocation } from "../files-location.ts";
import { FolderFiles } from "../files/folder-files.ts";
import { openBucketFiles } from "../files/open-files.ts";
import { FolderPlace } from "./folder-place.ts";
import type { PackagePlace } from "./package-place.ts";
import type { StagedMedia } from "./staged-media.ts";

/** The packages of a store, opened for its jobs. */
export interface OpenedPackages {
  /** An existing folder on this computer's disk: the work folders are below it. */
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly place: PackagePlace;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
  /** Ends what is being sent to a bucket: the jobs stay open. */
  abort(): void;
  close(): Promise<void>;
}

/** Opens the packages of a store. Throws ERR_CONFIG (blank folder) and ERR_FILE (no such folder, denied). */
export async function openPackages(
  location: FilesLocation,
  lease: Pick<DatabaseLease, "database" | "worker">,
  disk: ArchiveDisk,
): Promise<OpenedPackages> {
  if (location.kind === "folder") {
    const folder = await checkRoot(location.path, disk, diskFacts);
    const place = new FolderPlace(new FolderFiles(folder, disk), await realPath(folder, disk));
    return { folder, disk, place, staged: null, abort: () => undefined, close: () => place.files.close() };
  }
  const [{ BucketPlace }, { StagedMedia: Staged }, { BucketTidying }] = await Promise.all([
    import("./bucket-place.ts"),
    import("./staged-media.ts"),
    import("./bucket-tidying.ts"),
  ]);
  const folder = location.workFolder;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw asFileError(error, folder);
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  const files = await openBucketFiles(location, { signal });
  const staged = lease.worker.isAlone ? null : new Staged(files, disk);
  const tidying = new BucketTidying({ files, staged, database: lease.database, signal });
  return {
    folder,
    disk,
    place: new BucketPlace(files, { location, disk, ...lease }),
    staged,
    abort: () => stopping.abort(new DimensionerError("cancelledKept", diskFacts)),
    close: async () => {
      stopping.abort(new DimensionerError("cancelledKept", diskFacts));
      await tidying.stop();
      await files.close();
    },
  };
}

async function realPath(folder: string, disk: ArchiveDisk): Promise<string> {
  try {
    return await disk.realpath(folder);
  } catch (error) {
    throw asFileError(error, folder);
  }
}
