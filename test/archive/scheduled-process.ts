// What is loaded when it is needed first would be waited for outside of the simulated time.
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { LogTable } from "../../src/database/log-table.ts";
import type { StoreConnection } from "../../src/database/store-databases.ts";
import type { Worker } from "../../src/database/worker-lease.ts";
import { Archive } from "../../src/jobs/archive.ts";
import { JobRunner, type RunnerOptions } from "../../src/jobs/runner.ts";
import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import { BucketDisk } from "../../src/vault/bucket/bucket-disk.ts";
import { BucketVault } from "../../src/vault/bucket/bucket-vault.ts";
import { BucketCommitter } from "../../src/vault/bucket/bucket-committer.ts";
import { type OpenedPackages, openPackages } from "../../src/vault/open-packages.ts";
import { StagedMedia } from "../../src/vault/staged-media.ts";
import type { Objects } from "../../src/vault/s3/bucket.ts";
import { withFolder } from "../media/support.ts";
import { type MemoryObjects, ScheduledBucket } from "./memory-bucket.ts";
import type { MemoryDatabase } from "./memory-databases.ts";
import { scheduledCloud, scheduledDevice } from "./scheduled-sources.ts";
import {
  type Choose,
  Scheduler,
  type SimulatedProcess,
  scheduledDatabase,
  scheduledDisk,
} from "./scheduler.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Timers beyond this limit are those of a disk that hangs, two seconds and more. */
const defaultSoonMs = 1_000;

/**
 * Runs one order of what can happen at once, on a folder and a clock of its own; timers beyond `soonMs` never fire. An
 * error names the order.
 */
export async function runInOrder(
  choose: Choose,
  run: (root: string, scheduler: Scheduler) => Promise<void>,
  soonMs = defaultSoonMs,
): Promise<readonly string[]> {
  const clock = new VirtualClock(soonMs);
  const scheduler = new Scheduler(choose, clock);
  try {
    await withFolder((root) => run(root, scheduler));
  } catch (error) {
    throw new Error(`${String(error)}\nin this order:\n${scheduler.log.join("\n")}`, { cause: error });
  } finally {
    clock.close();
  }
  return scheduler.log;
}

/** Without sources of its own, a process has a cloud and a device that answer when the scheduler says so. */
interface ProcessOptions extends Partial<Pick<RunnerOptions, "cloud" | "device" | "onWarning">> {
  readonly root: string;
  readonly database: MemoryDatabase;
  readonly scheduler: Scheduler;
  readonly simulated: SimulatedProcess;
  readonly settleMs?: number;
  /** The only process on the database where it is not given. */
  readonly worker?: Worker;
  /** The folder of this computer for what is not a package yet; without it, that is beside the packages. */
  readonly workFolder?: string | undefined;
  /** The objects of the bucket of packages; without them, they are in the folder. */
  readonly objects?: MemoryObjects | undefined;
}

/** Opens the archive of a process whose database and disk do each step when the scheduler says so. */
export async function openScheduled(options: ProcessOptions) {
  const { root, scheduler, simulated, onWarning, settleMs } = options;
  const [cloud, device] = [scheduledCloud(scheduler, simulated), scheduledDevice(scheduler, simulated)];
  const database = scheduledDatabase(options.database, scheduler, simulated);
  const arrivals = new RecordArrivals();
  const { worker = { id: "store", isAlone: true } } = options;
  const log = new LogTable(database, "store", worker.id);
  const connection = { database, arrivals, worker, log, check: null, release: async () => undefined };
  const disk = scheduledDisk(scheduler, simulated);
  const settle = settleMs === undefined ? {} : { settleMs };
  const packages =
    options.objects === undefined
      ? await openPackages(
          { kind: "folder", path: root, workFolder: options.workFolder },
          connection,
          () => disk,
        )
      : inBucket(new ScheduledBucket(options.objects, scheduler, simulated), root, { disk, ...connection });
  const { archive } = await Archive.open(packages, connection, { databaseName: "store", ...settle });
  const runner = new JobRunner(archive, {
    node: "node",
    concurrency: 2,
    cloud: options.cloud ?? (() => cloud),
    device: options.device ?? (() => device),
    ...(onWarning === undefined ? {} : { onWarning }),
    findMissing: missingMedia,
    retry: { firstMs: 10, longestMs: 40 },
    poll: { firstMs: 10, longestMs: 40, paceMs: 0 },
  });
  return { database, arrivals, archive, runner };
}

/** The packages in a bucket whose requests are steps of a scheduler. */
export function inBucket(
  bucket: Objects,
  workFolder: string,
  { disk, database, worker }: Pick<StoreConnection, "database" | "worker"> & { readonly disk: ArchiveDisk },
): OpenedPackages {
  const vault = new BucketVault(new BucketDisk(bucket), "/");
  const { address } = bucket;
  const location = { kind: "s3", address, credentials: null, workFolder, retainDays: 0 } as const;
  return {
    folder: workFolder,
    disk,
    committer: new BucketCommitter(vault, { location, disk, database, worker }),
    mounted: null,
    staged: worker.isAlone ? null : new StagedMedia(vault, disk),
    begin: () => undefined,
    abort: () => undefined,
    close: async () => undefined,
  };
}
