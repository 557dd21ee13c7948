import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isOpen } from "../database/own-jobs.ts";
import type { StoreConnection } from "../database/store-databases.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { checkRoot } from "../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  exists,
  namesIn,
  stateFolderName,
  workFolderName,
} from "./archive-disk.ts";
import type { Committer } from "./vault.ts";
import { FolderCommitter } from "./folder/folder-committer.ts";
import { FolderVault } from "./folder/folder-vault.ts";
import { MountedFolder } from "./folder/mounted-folder.ts";
import { openBucketVault } from "./open-vault.ts";
import type { StagedMedia } from "./staged-media.ts";
import type { BucketLocation, VaultLocation, FolderLocation } from "./store.ts";
import { dayMs, hourMs } from "../time/clocks.ts";

/** The packages of a store, opened for its jobs. */
export interface OpenedPackages {
  /** An existing folder: the work folders are below it. */
  readonly folder: string;
  /** The disk of that folder. */
  readonly disk: ArchiveDisk;
  readonly committer: Committer;
  /** The folder of packages if it may be away; null if the work folders are beside it, or it is a bucket. */
  readonly mounted: MountedFolder | null;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
  /** To be called once, when the store uses the packages: begins to remove what was left long ago. */
  begin(): void;
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
  location: VaultLocation,
  connection: Pick<StoreConnection, "database" | "log" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  return await (location.kind === "folder"
    ? openFolder(location, connection, diskOf)
    : openBucket(location, connection, diskOf));
}

async function openFolder(
  location: FolderLocation,
  connection: Pick<StoreConnection, "database" | "log" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  const disk = diskOf(location.path);
  const { database, log, worker } = connection;
  const spool = location.workFolder;
  if (
    spool === undefined ||
    (worker.isAlone && !(await needsSpool(location.path, spool, { ...connection, diskOf })))
  ) {
    const folder = await checkRoot(location.path, disk, diskFacts);
    const committer = new FolderCommitter(new FolderVault(folder, disk));
    return {
      folder,
      disk,
      committer,
      mounted: null,
      staged: null,
      begin: () => undefined,
      abort: () => undefined,
      close: () => Promise.resolve(),
    };
  }
  const root = resolve(location.path);
  const mounted = new MountedFolder({ root, disk, database, store: log.store });
  const spoolDisk = diskOf(spool);
  await makeWorkFolder(spool, spoolDisk);
  const vault = new FolderVault(root, disk, () => mounted.demandThere());
  const demandPackages = (): Promise<void> => mounted.demandClaimed();
  const committer = new FolderCommitter(vault, { disk: spoolDisk, demandPackages });
  let staged: StagedMedia | null = null;
  if (!worker.isAlone) {
    const { StagedMedia: Staged } = await import("./staged-media.ts");
    staged = new Staged(vault, spoolDisk, demandPackages);
  }
  const tidying = new HourlyTidying(async () => {
    await demandPackages();
    const beforeMs = (await vault.leastTimeMs()) - keepMs;
    await staged?.removeOld(beforeMs, database);
    // What a kill has left of packages that were being delivered is in the spool as well.
    await vault.removeInterrupted(beforeMs);
  });
  return {
    folder: spool,
    disk: spoolDisk,
    committer,
    mounted,
    staged,
    begin: () => tidying.begin(),
    abort: () => undefined,
    close: () => tidying.stop(),
  };
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
  }: Pick<StoreConnection, "database" | "worker"> & { readonly diskOf: (folder: string) => ArchiveDisk },
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
  connection: Pick<StoreConnection, "database" | "worker">,
  diskOf: (folder: string) => ArchiveDisk,
): Promise<OpenedPackages> {
  const [{ BucketCommitter }, { StagedMedia: Staged }, { tidyBucket }] = await Promise.all([
    import("./bucket/bucket-committer.ts"),
    import("./staged-media.ts"),
    import("./upkeep/leftovers.ts"),
  ]);
  const folder = location.workFolder;
  const disk = diskOf(folder);
  await makeWorkFolder(folder, disk);
  const stopping = new AbortController();
  const { signal } = stopping;
  const vault = await openBucketVault(location, { signal });
  const staged = connection.worker.isAlone ? null : new Staged(vault, disk);
  const { database } = connection;
  const tidying = new HourlyTidying(async () => {
    const beforeMs = (await vault.leastTimeMs()) - keepMs;
    await tidyBucket({ vault, database }, { beforeMs, signal });
    await staged?.removeOld(beforeMs, database);
  });
  return {
    folder,
    disk,
    committer: new BucketCommitter(vault, { location, disk, ...connection }),
    mounted: null,
    staged,
    begin: () => tidying.begin(),
    abort: () => stopping.abort(new DimensionerError("cancelledKept", diskFacts)),
    close: async () => {
      stopping.abort(new DimensionerError("cancelledKept", diskFacts));
      await tidying.stop();
      await vault.close();
    },
  };
}

async function makeWorkFolder(folder: string, disk: ArchiveDisk): Promise<void> {
  await disk.mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw asFileError(error, folder);
  });
}

/** What is younger may belong to a process that was suspended, or is about to accept a message. */
const keepMs = dayMs;

/** Removes what jobs have left that ended elsewhere or not at all: when it begins, and then each hour. */
class HourlyTidying {
  readonly #run: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `run` may fail: what cannot be removed now is removed by a later run, here or elsewhere. */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  begin(): void {
    this.#tidy();
    this.#timer = setInterval(() => this.#tidy(), hourMs).unref();
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #tidy(): void {
    // Where the packages or the database cannot be reached, the jobs say so themselves.
    const run = async (): Promise<void> => await this.#run().catch(() => undefined);
    this.#running = this.#running.then(run);
  }
}
