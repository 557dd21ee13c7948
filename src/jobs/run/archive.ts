import { join } from "node:path";
import { HourlyRemoval } from "../../database/hourly-removal.ts";
import type { DatabaseLease } from "../../database/store-databases.ts";
import { settledWithin } from "../../time/settled-within.ts";
import { asFileError, stateFolderName, type ArchiveDisk } from "../../vault/archive-disk.ts";
import type { AsideMedia } from "../../vault/place/aside-media.ts";
import type { OpenedPackages } from "../../vault/place/open-packages.ts";
import { TransactionFinder } from "../find/transaction-finder.ts";
import { ActiveJobs } from "./active-jobs.ts";
import { claimPlace } from "./claim-place.ts";
import { isSaved, openAside } from "./open-aside.ts";
import { AbandonedJobs, type TakenOver, type Taker } from "../table/abandoned-jobs.ts";
import { JobIntake } from "./job-intake.ts";
import { EarlierJobs } from "../table/earlier-jobs.ts";
import { JobEndings, type EndError } from "../seal/job-endings.ts";
import type { JobStore } from "../steps/job-store.ts";
import { JobTable } from "../table/job-table.ts";
import { beginCollecting, resumed, type OpenJob } from "../table/open-job.ts";
import { OpenJobs, type OpenJobLimits } from "../table/open-jobs.ts";
import { Sealing } from "../seal/sealing.ts";
import { WorkFolders } from "../seal/work-folders.ts";
import { tidyEndedWorkers, tidyWork } from "./tidy-work.ts";
import { TrackedWork } from "./tracked-work.ts";
import { PackageIndex } from "../../vault/packages/package-index.ts";

/** Options of an archive. */
export interface ArchiveParts {
  /** The database as messages name it. */
  readonly databaseName: string;
  readonly limits?: OpenJobLimits | undefined;
  /** See TransactionFinder. */
  readonly settleMs?: number | undefined;
}

/** What needs attention when an archive is opened. */
export interface OpeningFindings {
  /** Folders of jobs that the database does not know, after they were moved aside. */
  readonly movedAside: readonly string[];
  /** Ids of jobs whose row in the database is not what was written. */
  readonly damagedJobs: readonly string[];
  /** Where in the bucket media of jobs that the database does not know were left as they are; null if none were found. */
  readonly unknownMedia: string | null;
}

/** How long jobs that have ended can be looked up in the database. */
const keepEndedDays = 30;
/** How many jobs are taken over at once: others may take some as well. */
const mostTaken = 50;
/** Node-RED waits 15 s for its nodes to close, and the runners of jobs have waited 5 s before. */
const uploadsEndWithinMs = 5_000;

/**
 * The archive of one store: its open jobs, their work folders, and their packages. All nodes of the process that use
 * the store share it.
 */
export class Archive implements JobStore {
  /** The folder below which the work folders are: that of the store's packages, unless they are in a bucket. */
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly work: WorkFolders;
  readonly jobs: JobTable;
  readonly sealing: Sealing;
  readonly finder: TransactionFinder;
  readonly openJobs: OpenJobs;
  readonly active = new ActiveJobs();
  readonly intake: JobIntake;
  readonly #lease: DatabaseLease;
  readonly #packages: OpenedPackages;
  readonly #endings: JobEndings;
  /** Null if the media of failed jobs stay on this computer. */
  readonly #aside: AsideMedia | null;
  readonly #abandoned: AbandonedJobs;
  #ended: HourlyRemoval | null = null;
  /** The ids of the open jobs that this process has, or still ends. */
  readonly #present = new Set<string>();
  readonly #atWork = new TrackedWork();

  private constructor(
    packages: OpenedPackages,
    lease: DatabaseLease,
    parts: ArchiveParts,
    { last, aside }: { readonly last: LastPackage; readonly aside: AsideMedia | null },
  ) {
    const { folder, place } = packages;
    const stateFolder = join(folder, stateFolderName);
    const { worker, database, arrivals } = lease;
    this.folder = folder;
    this.disk = packages.disk;
    this.#packages = packages;
    this.#lease = lease;
    this.openJobs = new OpenJobs(place.files.name, parts.limits);
    this.work = new WorkFolders(stateFolder, worker, this.disk);
    this.jobs = new JobTable(database, worker.id);
    this.#abandoned = new AbandonedJobs(database, worker.id, (id) => this.#present.has(id));
    const { jobs, work } = this;
    this.#aside = aside;
    this.#endings = new JobEndings({ jobs, work, staged: packages.staged, aside });
    this.finder = new TransactionFinder({ database, arrivals, settleMs: parts.settleMs });
    const index = new PackageIndex(database);
    const { disk, openJobs } = this;
    this.intake = new JobIntake({
      jobs,
      openJobs,
      work,
      staged: packages.staged,
      endings: this.#endings,
      present: this.#present,
      track: (settling) => this.track(settling),
    });
    this.sealing = new Sealing({ place, worker: worker.id, disk, work, jobs, index, last });
  }

  /**
   * Opens the archive of a store and takes over its packages and its lease, which `release` closes and returns. Throws
   * ERR_FILE or ERR_STORE; then the caller keeps both.
   */
  static async open(
    packages: OpenedPackages,
    lease: DatabaseLease,
    parts: ArchiveParts,
  ): Promise<{ archive: Archive; findings: OpeningFindings }> {
    const { folder } = packages;
    const { database, worker } = lease;
    const last = await new PackageIndex(database).last(worker.id);
    const aside = await openAside(packages);
    const archive = new Archive(packages, lease, parts, { last, aside });
    try {
      const { databaseName } = parts;
      await claimPlace(packages, lease, { databaseName, workFolder: archive.work.claimed, last });
      await archive.work.prepare();
      const earlier = new EarlierJobs(database, worker.id);
      const { jobs, damaged } = await earlier.unfinished();
      const open = jobs.map(resumed);
      await archive.sealing.recoverAll(open);
      open.forEach((job) => archive.#take(job));
      const { idle } = archive.openJobs;
      const own = worker.isAlone
        ? new Set([...idle.ids, ...damaged])
        : // Another worker may have taken a job while the database was closed, and not its folder yet.
          await earlier.open(await archive.work.list());
      const movedAside = await tidyWork(archive.work, earlier, own);
      if (!worker.isAlone) {
        movedAside.push(...(await tidyEndedWorkers(archive.work, earlier)));
      }
      const kept = { aside, staged: packages.staged };
      const removeEnded = (): Promise<boolean> =>
        earlier.removeEnded(keepEndedDays, async (job, items) => await isSaved(kept, job, items));
      archive.#ended = new HourlyRemoval(removeEnded, await removeEnded());
      return { archive, findings: { movedAside, damagedJobs: damaged, unknownMedia: null } };
    } catch (error) {
      throw asFileError(error, join(folder, stateFolderName), folder);
    }
  }

  /** The folders of archived files on this computer's disk. */
  get savedFolders(): readonly string[] {
    return this.#packages.place.files.kind === "folder" ? [this.folder] : [];
  }

  /** Whether no other process can work on the jobs of the store. */
  get isAlone(): boolean {
    return this.#lease.worker.isAlone;
  }

  asideOf({ id }: OpenJob): string {
    return this.#aside?.addressOf(id) ?? this.work.asidePath(id);
  }

  noteWaiting(job: OpenJob): void {
    if (job.state === "accepted") {
      beginCollecting(job);
      // Not waited for, because a job can also be sealed from `accepted`.
      void this.jobs.beginCollecting(job.id).catch(() => undefined);
    }
  }

  /** Notes the times of a job. The caller need not wait for it. */
  setCount(job: OpenJob, count: number): void {
    if (job.count !== count) {
      job.count = count;
      void this.jobs.setCount(job.id, count).catch(() => undefined);
    }
  }

  saveTimes(job: OpenJob): void {
    const openMs = performance.now() - job.sinceMs;
    void this.jobs.setTimes(job.id, job.waitedMs, openMs).catch(() => undefined);
  }

  /**
   * To be called when the job's message, or its error, was sent: the job is not resumed any more. Resolves with the path
   * or the address of media that are nowhere else, or with null. Never rejects.
   */
  end(job: OpenJob, error?: EndError): Promise<string | null> {
    this.openJobs.remove(job.textBytes);
    this.#packages.place.forget(job.id);
    this.sealing.results.forget(job.id);
    const ended = this.#endings.end(job, error).finally(() => this.#present.delete(job.id));
    this.track(ended);
    return ended;
  }

  /**
   * To be called when the error of a job that another worker has taken over was sent. Its folder stays, because that
   * worker may be about to take the media; it is removed after the job has ended.
   */
  leave(job: OpenJob): void {
    this.openJobs.remove(job.textBytes);
    this.#packages.place.forget(job.id);
    this.sealing.results.forget(job.id);
    this.#present.delete(job.id);
  }

  /**
   * Takes over jobs of workers that have stopped, as far as there is room for them; `resume` of the node's runner
   * continues with them. Rejects with ERR_STORE.
   */
  async takeOver(taker: Taker): Promise<TakenOver> {
    const most = Math.min(this.openJobs.room, mostTaken);
    if (this.isAlone || most === 0) {
      return { count: 0, mayHaveMore: false, damagedJobs: [] };
    }
    const { jobs, damaged } = await this.#abandoned.take(taker, most);
    // This process may have had the job before, and still be at work on it: then it is not the time yet.
    const early = jobs.filter(({ id }) => this.#present.has(id));
    const taken = jobs.filter(({ id }) => !this.#present.has(id));
    taken.map(resumed).forEach((job) => this.#take(job));
    if (early.length > 0) {
      await this.#abandoned.giveBack(early.map(({ id }) => id));
    }
    return { count: taken.length, mayHaveMore: taken.length === most, damagedJobs: damaged };
  }

  /** What the tidying of the bucket has found; see `OpeningFindings.unknownMedia`. It is said once. */
  takeUnknownMedia(): string | null {
    return this.#packages.staged?.takeUnknown() ?? null;
  }

  /** Keeps the archive open until this work has settled, also if a close no longer waits for it. */
  track(work: Promise<unknown>): void {
    this.#atWork.add(work);
  }

  /** Waits until all work has settled, which a hanging disk can delay, and closes. An upload is waited for a while. */
  async release(): Promise<void> {
    this.#endings.stop();
    this.track(this.#ended?.stop() ?? Promise.resolve());
    const settled = this.#atWork.settled();
    if (!(await settledWithin(settled, uploadsEndWithinMs))) {
      this.#packages.abort();
      await settled;
    }
    await this.#packages.close();
    await this.#lease.release();
  }

  #take(job: OpenJob): void {
    this.#present.add(job.id);
    this.openJobs.add(job.textBytes);
    this.openJobs.idle.add(job);
  }
}

type LastPackage = Awaited<ReturnType<PackageIndex["last"]>>;
