import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { DatabaseLease } from "../../database/store-databases.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { checkRoot } from "../../media/place-file.ts";
import { isOpen } from "../../database/own-jobs.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  exists,
  namesIn,
  stateFolderName,
  workFolderName,
} from "../archive-disk.ts";
import type { BucketLocation, FilesLocation, FolderLocation } from "../files-location.ts";
import { FolderFiles } from "../files/folder-files.ts";
import { openBucketFiles } from "../files/open-files.ts";
import { FolderPlace } from "./folder-place.ts";
import { MountedFolder } from "./mounted-folder.ts";
import type { PackagePlace } from "./package-place.ts";
import type { StagedMedia } from "./staged-media.ts";

/** The packages of a store, opened for its jobs. */
export interface OpenedPackages {
  /** An existing folder: the work folders are below it. */
  readonly folder: string;
  /** The disk of that folder. */
  readonly disk: ArchiveDisk;
  readonly place: PackagePlace;
  /** The folder of packages if it may be away; null if the work folders are beside it, or it is a bucket. */
  readonly mounted: MountedFolder | null;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
  /** Ends what is being sent to a bucket: the jobs stay open. */
  abort(): void;
  close(): Promise<void>;
}

/**
 * Opens the packages of a store. `diskOf` returns the disk of a folder. What is not a package yet is beside the packages of a folder if that
 * is on the disk of Node-RED, and otherwise in a spool there: then the folder need not be there now. Throws ERR_CONFIG (blank folder) and
 * ERR_FILE (no such folder, denied).
 */
export async function openPackages(
  location: FilesLocation,
  lease: Pick<DatabaseLease, "database" | "log" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  return await (location.kind === "folder"
    ? openFolder(location, lease, diskOf)
    : openBucket(location, lease, diskOf));
}

async function openFolder(
  location: FolderLocation,
  lease: Pick<DatabaseLease, "database" | "log" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  const disk = diskOf(location.path);
  // Another worker that takes a job over finds its media beside the packages only.
  const spool = lease.worker.isAlone ? location.workFolder : undefined;
  const opened = { staged: null, abort: () => undefined, close: () => Promise.resolve() };
  if (spool === undefined || !(await needsSpool(location.path, spool, { ...lease, diskOf }))) {
    const folder = await checkRoot(location.path, disk, diskFacts);
    return { ...opened, folder, disk, place: new FolderPlace(new FolderFiles(folder, disk)), mounted: null };
  }
  const root = resolve(location.path);
  const { database, log, worker } = lease;
  const mounted = new MountedFolder({ root, disk, database, store: log.store, worker: worker.id });
  await makeWorkFolder(spool);
  const spoolDisk = diskOf(spool);
  const files = new FolderFiles(root, disk, () => mounted.demandThere());
  const demandPackages = (): Promise<void> => mounted.demandClaimed();
  const place = new FolderPlace(files, { disk: spoolDisk, worker: worker.id, demandPackages });
  return { ...opened, folder: spool, disk: spoolDisk, place, mounted };
}

/**
 * Whether what is not a package yet is in the spool. Once it was, it stays there, wherever the packages are moved to; and as long as there
 * is some beside the packages, it stays there.
 */
async function needsSpool(
  path: string,
  spool: string,
  {
    database,
    worker,
    diskOf,
  }: Pick<DatabaseLease, "database" | "worker"> & { readonly diskOf: (folder: string) => ArchiveDisk },
): Promise<boolean> {
  const workOf = (folder: string): string => join(folder, stateFolderName, workFolderName, worker.id);
  if (await exists(workOf(spool), diskOf(spool))) {
    return true;
  }
  const disk = diskOf(path);
  try {
    const folder = await checkRoot(path, disk, diskFacts);
    if ((await namesIn(workOf(folder), disk)).length > 0) {
      return false;
    }
    return await isElsewhere(folder, spool, disk);
  } catch (error) {
    const away = asFileError(error, path);
    const [open = []] = await database.transaction([{ sql: `SELECT 1 FROM jobs WHERE ${isOpen} LIMIT 1` }]);
    if (away.code !== "ERR_FILE" || open.length > 0) {
      throw away;
    }
    return true;
  }
}

/** Whether a folder of packages, which is there, is on another disk than the spool, which need not be there. */
export async function isElsewhere(
  folder: string,
  spool: string,
  disk: Pick<ArchiveDisk, "stat">,
): Promise<boolean> {
  await mkdir(dirname(spool), { recursive: true });
  const [there, here] = [await disk.stat(folder), await stat(dirname(spool))];
  return there.dev !== here.dev;
}

async function openBucket(
  location: BucketLocation,
  lease: Pick<DatabaseLease, "database" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  const [{ BucketPlace }, { StagedMedia: Staged }, { BucketTidying }] = await Promise.all([
    import("./bucket-place.ts"),
    import("./staged-media.ts"),
    import("./bucket-tidying.ts"),
  ]);
  const folder = location.workFolder;
  const disk = diskOf(folder);
  await makeWorkFolder(folder);
  const stopping = new AbortController();
  const { signal } = stopping;
  const files = await openBucketFiles(location, { signal });
  const staged = lease.worker.isAlone ? null : new Staged(files, disk);
  const tidying = new BucketTidying({ files, staged, database: lease.database, signal });
  return {
    folder,
    disk,
    place: new BucketPlace(files, { location, disk, ...lease }),
    mounted: null,
    staged,
    abort: () => stopping.abort(new DimensionerError("cancelledKept", diskFacts)),
    close: async () => {
      stopping.abort(new DimensionerError("cancelledKept", diskFacts));
      await tidying.stop();
      await files.close();
    },
  };
}

async function makeWorkFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw asFileError(error, folder);
  });
}
