/**
 * The archives that this process has open, each with the jobs of one store: it accepts jobs, knows those that are open, takes over those of
 * workers that have stopped, and ends them.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Statement, databaseTime, lockLog, databaseName } from "../database/database.ts";
import { HourlyRemoval } from "../database/hourly-removal.ts";
import { isOpen, isTaken } from "../database/own-jobs.ts";
import type { StoreConnection } from "../database/store-databases.ts";
import { closedLeaseSeconds } from "../database/worker-lease.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, phrase } from "../errors/interpolation.ts";
import { guardedDisk } from "../media/disk-guard.ts";
import { fileError } from "../media/disk.ts";
import { settledWithin } from "../time/after-limit.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  exists,
  manifestFileName,
  stateFolderName,
} from "../vault/archive-disk.ts";
import type { Vault } from "../vault/vault.ts";
import { entryOf } from "../vault/log/events.ts";
import { openLog, publishLeftLog, readyLog } from "../vault/log/open-log.ts";
import type { Intent, PlacedPackage, StoredItem } from "../vault/packages/intent.ts";
import { loadManifest } from "../vault/packages/package-files.ts";
import { PackageIndex } from "../vault/packages/package-index.ts";
import type { Answer } from "../vault/packages/package-keys.ts";
import { type OpenedPackages, openPackages } from "../vault/open-packages.ts";
import { type Store, type StoreVault, vaultKey, vaultName, isBucketKey } from "../vault/store.ts";
import { type JobStore, stageOrPin } from "./collect.ts";
import {
  AbandonedJobs,
  EarlierJobs,
  type PinnedElsewhere,
  JobTable,
  type OpenJob,
  type Spool,
  type TakenOver,
  type Taker,
  factsOf,
  textBytesOf,
} from "./job-rows.ts";
import type { Job, JobNode, RunningJob, Withdrawal } from "./job.ts";
import { Sealing } from "./seal.ts";
import { KeyTurns } from "./semaphore.ts";
import { TransactionFinder } from "./transactions.ts";
import {
  type SpoolLimits,
  SpoolRoom,
  WorkFolders,
  spoolLimits,
  tidyEndedWorkers,
  tidyWork,
} from "./work-folder.ts";

interface Shared {
  readonly vault: StoreVault;
  readonly opened: Promise<OpenedArchive>;
  users: number;
}

interface OpenedArchive {
  readonly archive: Archive;
  readonly findings: OpeningFindings;
  /** See `ArchiveUse.later`. */
  readonly later: Promise<OpeningFindings> | null;
}

/** The use of an archive by one node; the last one that is released closes it. */
export interface ArchiveUse {
  readonly archive: Archive;
  /** What needs attention; nothing if another user has opened the archive. */
  readonly findings: OpeningFindings;
  /** What else needs attention, once a large database was checked; null if it was before. It may never settle, and never rejects. */
  readonly later: Promise<OpeningFindings> | null;
  release(): Promise<void>;
}

interface ArchivesOptions {
  /** How long a closed archive keeps its jobs for the deploy that opens it again. */
  readonly giveBackMs?: number;
  /** For tests; otherwise each archive uses the guarded disk of its own volume. */
  readonly disk?: ArchiveDisk;
  readonly openPackages?: typeof openPackages;
  readonly limits?: OpenJobLimits;
  readonly spool?: Partial<SpoolLimits>;
  readonly settleMs?: number;
}

/** How long an archive that is being closed is waited for; opening it may be tried again. */
const closedWithinMs = 30_000;

const nothing: OpeningFindings = { movedAside: [], damagedJobs: [], unknownMedia: null, elsewhere: [] };

/** The archives that this process has open. Nodes with the same store share one. */
export class Archives {
  readonly #options: ArchivesOptions;
  readonly #open = new Map<string, Shared>();
  readonly #closing = new Map<string, Promise<void>>();
  /** Closed archives that still keep their jobs. */
  readonly #keeping = new Map<string, NodeJS.Timeout>();

  constructor(options: ArchivesOptions = {}) {
    this.#options = options;
  }

  /** The folders of the open archives. */
  async openFolders(): Promise<string[]> {
    const opened = await Promise.allSettled([...this.#open.values()].map(({ opened: one }) => one));
    return opened.flatMap((one) => (one.status === "fulfilled" ? one.value.archive.savedFolders : []));
  }

  /** Throws ERR_CONFIG (blank folder; another store uses the database with another folder), ERR_FILE (no such folder, denied) or ERR_STORE. */
  async open(store: Store): Promise<ArchiveUse> {
    await this.#untilClosed(store);
    const before = this.#open.get(store.databaseKey);
    if (before !== undefined) {
      demandSameFiles(before, store);
    }
    const shared = before ?? this.#begin(store);
    shared.users += 1;
    try {
      const { archive, findings, later } = await shared.opened;
      let isReleased = false;
      return {
        archive,
        findings: before === undefined ? findings : nothing,
        later: before === undefined ? later : null,
        release: async () => {
          if (!isReleased) {
            isReleased = true;
            await this.#leave(store, shared);
          }
        },
      };
    } catch (error) {
      await this.#leave(store, shared);
      throw error;
    }
  }

  /**
   * A deploy closes the old node and opens the new one at once. The old archive has to finish first, also on a disk
   * that hangs.
   */
  async #untilClosed({ databaseKey, location, vault }: Store): Promise<void> {
    const closing = this.#closing.get(databaseKey);
    if (closing !== undefined && !(await settledWithin(closing, closedWithinMs))) {
      throw fileError("fileHung", "problem" in vault ? databaseName(location) : vaultName(vault), diskFacts);
    }
  }

  #begin(store: Store): Shared {
    const shared: Shared = { vault: store.vault, opened: this.#openArchive(store), users: 0 };
    this.#open.set(store.databaseKey, shared);
    return shared;
  }

  async #openArchive(store: Store): Promise<OpenedArchive> {
    const { vault, location, spoolBytes } = store;
    if ("problem" in vault) {
      throw vault.problem;
    }
    const connection = await store.connect();
    try {
      const { disk, openPackages: open = openPackages, limits, spool, settleMs } = this.#options;
      const packages = await open(vault, connection, (folder) => disk ?? guardedDisk(folder));
      try {
        return await Archive.open(packages, connection, {
          databaseName: databaseName(location),
          limits,
          spool: { ...spoolLimits, ...spool, ...(spoolBytes !== undefined && { bytes: spoolBytes }) },
          settleMs,
        });
      } catch (error) {
        await packages.close();
        throw error;
      }
    } catch (error) {
      await connection.release();
      throw error;
    }
  }

  async #leave(store: Store, shared: Shared): Promise<void> {
    const { databaseKey } = store;
    shared.users -= 1;
    if (shared.users > 0) {
      return;
    }
    if (this.#open.get(databaseKey) === shared) {
      this.#open.delete(databaseKey);
    }
    const closed = shared.opened.then(
      ({ archive }) => this.#release(archive, store),
      () => undefined,
    );
    await this.#close(databaseKey, closed);
  }

  async #release(archive: Archive, store: Store): Promise<void> {
    await archive.release();
    if (!archive.isAlone) {
      this.#giveBackLater(store);
    }
  }

  /** Lets nobody open the archive before this has settled. */
  async #close(databaseKey: string, closed: Promise<void>): Promise<void> {
    const gone = closed.finally(() => {
      if (this.#closing.get(databaseKey) === gone) {
        this.#closing.delete(databaseKey);
      }
    });
    this.#closing.set(databaseKey, gone);
    await gone;
  }

  /**
   * Gives the jobs of a closed archive to other workers unless a deploy opens it again: other nodes may keep the database open,
   * and so its lease.
   */
  #giveBackLater(store: Store): void {
    const { databaseKey } = store;
    clearTimeout(this.#keeping.get(databaseKey));
    const giveBack = (): void => void this.#giveBackUnlessOpen(store);
    const { giveBackMs = closedLeaseSeconds * 1000 } = this.#options;
    this.#keeping.set(databaseKey, setTimeout(giveBack, giveBackMs).unref());
  }

  async #giveBackUnlessOpen(store: Store): Promise<void> {
    const { databaseKey } = store;
    this.#keeping.delete(databaseKey);
    if (this.#closing.has(databaseKey)) {
      // It was opened again, and keeps its jobs from the end of this close on.
      return;
    }
    for (let shared = this.#open.get(databaseKey); shared; shared = this.#open.get(databaseKey)) {
      // While it cannot be opened, for example because the folder is missing, others may be able to.
      const isOpen = await shared.opened.then(
        () => true,
        () => false,
      );
      if (isOpen) {
        return;
      }
    }
    // If the database cannot be reached, the lease ends as well.
    const given = giveBackJobs(store).catch(() => undefined);
    await this.#close(databaseKey, given);
  }
}

/** The rows of a database name folders within one folder of packages. */
function demandSameFiles({ vault: first }: Shared, { vault: second, location }: Store): void {
  if (!("problem" in first) && !("problem" in second) && vaultKey(first) !== vaultKey(second)) {
    throw new DimensionerError(
      "storeTwoFolders",
      { surface: "store", operation: "open" },
      { path: databaseName(location), name: vaultName(first), value: vaultName(second) },
    );
  }
}

async function giveBackJobs(store: Store): Promise<void> {
  const { database, worker, release } = await store.connect();
  try {
    await new AbandonedJobs(database, worker.id).giveBack();
  } finally {
    await release();
  }
}

/** Limits of the open jobs of one archive. */
export interface OpenJobLimits {
  readonly jobs: number;
  /** The size of measurements, exact answers and kept message properties in the database. */
  readonly bytes: number;
}

/** What needs attention when an archive is opened. */
export interface OpeningFindings {
  /** Folders of jobs that the database does not know, after they were moved aside. */
  readonly movedAside: readonly string[];
  /** Ids of jobs whose row in the database is not what was written. */
  readonly damagedJobs: readonly string[];
  /** Where in the bucket media of jobs that the database does not know were left as they are; null if none were found. */
  readonly unknownMedia: string | null;
  /** Jobs of workers that have stopped, whose media are only on a computer that does not come back. */
  readonly elsewhere: readonly PinnedElsewhere[];
}

const openJobLimits: OpenJobLimits = { jobs: 10_000, bytes: 256_000_000 };
/** How long jobs that have ended without a package can be looked up in the database. */
const keepEndedDays = 30;
/** How many jobs are taken over at once: others may take some as well. */
const mostTaken = 50;
/** Node-RED waits 15 s for its nodes to close, and the runners of jobs have waited 5 s before. */
const uploadsEndWithinMs = 5_000;
/** The pauses between attempts to end a job. */
const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

/**
 * The archive of one store: its open jobs, their work folders, and their packages. All nodes of the process that use
 * the store share it.
 */
export class Archive {
  readonly store: JobStore;
  /** The second message of a key joins the job of the first. */
  readonly submitting = new KeyTurns();
  readonly #connection: StoreConnection;
  readonly #packages: OpenedPackages;
  readonly #abandoned: AbandonedJobs;
  readonly #limits: OpenJobLimits;
  /** All jobs that this process has, by their IDs: those that are being accepted, that are open, and that are being ended. */
  readonly #known = new Map<string, Job>();
  /** The same jobs by what messages find them by: looking through thousands would take a millisecond for each message. */
  readonly #joinable = new Map<string, Set<Job>>();
  /** How many of them are open or being accepted, and the size of their texts. */
  #count = 0;
  #bytes = 0;
  /** How many of them are being removed because their message has ended in an error. */
  #withdrawals = 0;
  /** Work for which a close waits. */
  readonly #atWork = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #removal: HourlyRemoval | null = null;
  #publishing: Promise<void> | undefined;

  private constructor(
    packages: OpenedPackages,
    connection: StoreConnection,
    store: JobStore,
    limits: OpenJobLimits,
  ) {
    this.store = store;
    this.#packages = packages;
    this.#connection = connection;
    this.#limits = limits;
    this.#abandoned = new AbandonedJobs(
      connection.database,
      connection.worker.id,
      (id) => this.#known.has(id),
      store.work,
    );
  }

  /**
   * Opens the archive of a store and takes over its packages and its lease, which `release` closes and returns. Throws
   * ERR_FILE or ERR_STORE; then the caller keeps both.
   */
  static async open(
    packages: OpenedPackages,
    connection: StoreConnection,
    options: {
      /** The database as messages name it. */
      readonly databaseName: string;
      readonly limits?: OpenJobLimits | undefined;
      readonly spool?: SpoolLimits | undefined;
      /** See TransactionFinder. */
      readonly settleMs?: number | undefined;
    },
  ): Promise<OpenedArchive> {
    const { folder, disk, committer, staged, mounted } = packages;
    const { database, worker, arrivals, log } = connection;
    const index = new PackageIndex(database);
    const work = new WorkFolders(join(folder, stateFolderName), worker, disk);
    const jobs = new JobTable(database, worker.id);
    const sealsAtOnce = worker.isAlone && committer.vault.kind === "folder" && mounted === null;
    const sealing = new Sealing({ committer, disk, work, jobs, log, database, index, sealsAtOnce });
    const finder = new TransactionFinder({ database, arrivals, settleMs: options.settleMs });
    const usedBytes = (): number => archive.spooledBytes;
    const rules = { packages: committer.vault.name, limits: options.spool ?? spoolLimits, usedBytes };
    const isSpool = mounted !== null || committer.vault.kind === "s3";
    const room = isSpool ? new SpoolRoom({ folder, disk }, rules) : null;
    const store = { folder, disk, work, jobs, sealing, sealsAtOnce, finder, room, staged };
    const archive: Archive = new Archive(packages, connection, store, options.limits ?? openJobLimits);
    try {
      const claiming = { databaseName: options.databaseName, workFolder: work.claimed };
      const claim = async (): Promise<void> => {
        const last = await index.last();
        while (!(await claimPlace(packages, connection, { ...claiming, last }))) {
          // Another worker has noted its place since this one has read where it was.
        }
      };
      const beginLog = (): Promise<void> =>
        openLog({ table: log, vault: committer.vault }, database, worker.id);
      if (mounted === null) {
        await claim();
        await beginLog().catch(unlessAway);
      } else {
        // It may be away, or not answer for long: the jobs collect meanwhile.
        mounted.beforeUse(async () => {
          await claim();
          await beginLog();
        });
      }
      await work.prepare();
      const earlier = new EarlierJobs(database, worker.id);
      const unfinished = await earlier.unfinished();
      const open = unfinished.jobs.map(asJob);
      await sealing.recoverAll(open, mounted === null);
      open.forEach((job) => archive.#take(job));
      const own = worker.isAlone
        ? new Set([...open.map(({ id }) => id), ...unfinished.damaged])
        : // Another worker may have taken a job while the database was closed, and not its folder yet.
          await earlier.open(await work.list());
      // The folders that are there before anything is accepted.
      const left = (await work.list()).filter((name) => !own.has(name));
      const tidy = async (): Promise<string[]> => {
        const movedAside = await tidyWork(work, earlier, left);
        if (!worker.isAlone) {
          movedAside.push(...(await tidyEndedWorkers(work, earlier)));
        }
        const removeEnded = (): Promise<boolean> =>
          earlier.removeEnded(keepEndedDays, async (job, items) => await isSaved(store, job, items));
        archive.#removal = new HourlyRemoval(removeEnded, await removeEnded());
        return movedAside;
      };
      packages.begin();
      const { check } = connection;
      const damagedJobs = unfinished.damaged;
      return {
        archive,
        findings: { ...nothing, movedAside: check === null ? await tidy() : [], damagedJobs },
        // What a damaged database does not know any more must not be moved away or removed for it.
        later: check && archive.#tidyLater(check.ended, tidy),
      };
    } catch (error) {
      throw asFileError(error, join(folder, stateFolderName), folder);
    }
  }

  get jobs(): JobTable {
    return this.store.jobs;
  }

  get work(): WorkFolders {
    return this.store.work;
  }

  /** The folders of archived files on a disk. */
  get savedFolders(): readonly string[] {
    const { vault } = this.#packages.committer;
    return vault.kind === "folder" ? [vault.root] : [];
  }

  /** How much the open jobs have stored. */
  get spooledBytes(): number {
    let sum = 0;
    for (const { items, unnoted } of this.#known.values()) {
      for (const { bytes } of items.values()) {
        sum += bytes;
      }
      for (const { bytes } of unnoted.values()) {
        sum += bytes;
      }
    }
    return sum;
  }

  /** Whether the folder of packages may be away while the archive is open. */
  get mayBeAway(): boolean {
    return this.#packages.mounted !== null;
  }

  /** Rejects with ERR_FILE or ERR_STORE unless packages can be delivered to their folder. */
  async demandPackages(): Promise<void> {
    await this.#packages.mounted?.demandClaimed();
  }

  /** Whether no other process can work on the jobs of the store. */
  get isAlone(): boolean {
    return this.#connection.worker.isAlone;
  }

  /** The open jobs that no node has: after a restart, or after their node was closed or deleted. There may be thousands. */
  get idle(): Job[] {
    return [...this.#known.values()].filter((job) => job.isOpen && job.running === null);
  }

  /** The open jobs that a message finds by a key or a sequence, see `Job.foundBy`. */
  joinable(foundBy: string): Job[] {
    return [...(this.#joinable.get(foundBy) ?? [])].filter((job) => job.isOpen);
  }

  /** The jobs that a node works on and whose message is not out yet; some may have ended. */
  *runningOf(node: JobNode): Generator<RunningJob> {
    for (const { running, isOpen: isStillOpen } of this.#known.values()) {
      if (running?.node === node && isStillOpen) {
        yield running;
      }
    }
  }

  /** Throws ERR_QUEUE_FULL if a limit would be exceeded. Returns the size of this job. */
  checkRoom(intent: Intent): number {
    const refuse = (limit: number | Phrase): never => {
      const path = this.#packages.committer.vault.name;
      throw new DimensionerError("archiveFull", diskFacts, { path, limit });
    };
    if (this.#count >= this.#limits.jobs) {
      refuse(this.#limits.jobs);
    }
    const textBytes = textBytesOf(intent);
    if (this.#bytes + textBytes > this.#limits.bytes) {
      refuse(phrase("megabytes", { count: this.#limits.bytes / 1e6 }));
    }
    return textBytes;
  }

  /**
   * Accepts a job. Once this has resolved, the job is in the database and will be finished, whatever happens. Rejects
   * with ERR_QUEUE_FULL or ERR_STORE; then nothing was accepted.
   */
  async accept(
    id: string,
    given: {
      readonly node: string;
      readonly key: string | null;
      readonly intent: Intent;
      readonly answer: Answer;
      readonly items: Map<string, StoredItem>;
    },
  ): Promise<Job> {
    const { intent } = given;
    const textBytes = this.checkRoom(intent);
    const job: Job = {
      id,
      ...given,
      intent: factsOf(intent),
      transactionId: intent.transactionId,
      textBytes,
      acceptedAt: new Date(),
      sinceMs: performance.now(),
      isResumed: false,
      state: "accepted",
      count: null,
      unnoted: new Map(),
      unsaved: null,
      unstaged: null,
      lost: new Map(),
      waitedMs: 0,
      isTold: false,
      placed: null,
      isOpen: false,
      foundBy: intent.sequence ?? given.key,
      running: null,
      earlier: null,
      withdrawal: null,
    };
    // Counted before it is written, so that simultaneous jobs are counted too.
    this.#count += 1;
    this.#bytes += textBytes;
    try {
      await this.#removeWithdrawn();
      await this.#write(job, intent);
    } catch (error) {
      this.#count -= 1;
      this.#bytes -= textBytes;
      throw error;
    }
    job.isOpen = true;
    return job;
  }

  /** Notes the number of parts of a sequence. The caller need not wait for it. */
  setCount(job: Job, count: number): void {
    if (job.count !== count) {
      job.count = count;
      void this.jobs.setCount(job.id, count).catch(() => undefined);
    }
  }

  /**
   * To be called when the job's message, or its error, was sent: the job is not resumed any more. Repeats what the database or the disk
   * refuses until the archive is closed, because the next start sends the message of an open job once more. Resolves with the path
   * or the address of media that are nowhere else, or with null. Never rejects.
   */
  end(job: Job, error?: EndError): Promise<string | null> {
    this.#close(job);
    // An attempt that has moved the media of a job aside does not leave them to the next one.
    const moved: { path: string | null } = { path: null };
    const ended = this.#repeat(() =>
      job.placed === null ? this.#fail(job, error, moved) : this.#report(job),
    ).finally(() => this.#forget(job));
    this.track(ended);
    return ended;
  }

  /**
   * To be called when the error of a job that another worker has taken over was sent. Its folder stays, because that
   * worker may be about to take the media; it is removed after the job has ended.
   */
  leave(job: Job): void {
    this.#close(job);
    this.#forget(job);
  }

  /**
   * Takes over jobs of workers that have stopped, as far as there is room for them; `resume` of the node's runner
   * continues with them. Rejects with ERR_STORE.
   */
  async takeOver(taker: Taker): Promise<TakenOver> {
    const room = this.#bytes < this.#limits.bytes ? Math.max(0, this.#limits.jobs - this.#count) : 0;
    const most = Math.min(room, mostTaken);
    if (this.isAlone || most === 0) {
      return { count: 0, mayHaveMore: false, damagedJobs: [], elsewhere: [] };
    }
    this.#publishLeft();
    const { jobs, damaged, elsewhere } = await this.#abandoned.take(taker, most);
    // This process may have had the job before, and still be at work on it: then it is not the time yet.
    const early = jobs.filter(({ id }) => this.#known.has(id));
    const taken = jobs.filter(({ id }) => !this.#known.has(id));
    taken.map(asJob).forEach((job) => this.#take(job));
    if (early.length > 0) {
      await this.#abandoned.giveBack(early.map(({ id }) => id));
    }
    return { count: taken.length, mayHaveMore: taken.length === most, damagedJobs: damaged, elsewhere };
  }

  /** Puts beside the packages what others have left there. Nothing waits for it: with packages that are away, jobs collect all the same. */
  #publishLeft(): void {
    this.#publishing ??= publishLeftLog({
      table: this.#connection.log,
      vault: this.#packages.committer.vault,
    })
      // The next time, it is tried again.
      .catch(() => undefined)
      .finally(() => (this.#publishing = undefined));
    this.track(this.#publishing);
  }

  async #tidyLater(checked: Promise<void>, tidy: () => Promise<string[]>): Promise<OpeningFindings> {
    try {
      await checked;
      if (!this.#stopping.signal.aborted) {
        const tidied = tidy();
        this.track(tidied);
        return { ...nothing, movedAside: await tidied };
      }
    } catch {
      // Whoever uses the database hears of its damage, and what could not be tidied up is by the next start.
    }
    return nothing;
  }

  /** What the tidying of the bucket has found; see `OpeningFindings.unknownMedia`. It is said once. */
  takeUnknownMedia(): string | null {
    return this.store.staged?.takeUnknown() ?? null;
  }

  /** Keeps the archive open until this work has settled, also if a close no longer waits for it. */
  track(work: Promise<unknown>): void {
    const settled = Promise.allSettled([work]);
    this.#atWork.add(settled);
    void settled.then(() => this.#atWork.delete(settled));
  }

  /** Waits until all work has settled, which a hanging disk can delay, and closes. An upload is waited for a while. */
  async release(): Promise<void> {
    // Each job that has not ended yet makes one last attempt.
    this.#stopping.abort();
    this.track(this.#removal?.stop() ?? Promise.resolve());
    const settled = this.#settled();
    if (!(await settledWithin(settled, uploadsEndWithinMs))) {
      this.#packages.abort();
      await settled;
    }
    await this.#packages.close();
    await this.#connection.release();
  }

  /** Resolves when all work has settled, also what was added meanwhile. */
  async #settled(): Promise<void> {
    while (this.#atWork.size > 0) {
      await Promise.all(this.#atWork);
    }
  }

  #take(job: Job): void {
    this.#add(job);
    this.#count += 1;
    this.#bytes += job.textBytes;
  }

  #add(job: Job): void {
    const { id, foundBy } = job;
    this.#known.set(id, job);
    if (foundBy !== null) {
      this.#joinable.set(foundBy, (this.#joinable.get(foundBy) ?? new Set()).add(job));
    }
  }

  #forget(job: Job): void {
    const { id, foundBy } = job;
    this.#known.delete(id);
    const others = foundBy === null ? undefined : this.#joinable.get(foundBy);
    others?.delete(job);
    if (foundBy !== null && others?.size === 0) {
      this.#joinable.delete(foundBy);
    }
  }

  #close(job: Job): void {
    job.isOpen = false;
    this.#count -= 1;
    this.#bytes -= job.textBytes;
    this.store.sealing.forget(job.id);
  }

  /** Stores the media of a new job for other workers, or pins the job to this spool while that cannot be, and writes its row. */
  async #write(job: Job, intent: Intent): Promise<void> {
    const { id } = job;
    let spool: Spool | null;
    try {
      spool = await stageOrPin(this.store, id, job.items);
    } catch (error) {
      this.track(this.#unstage(job));
      throw error;
    }
    job.unstaged = spool === null ? null : new Set(job.items.keys());
    this.#add(job);
    try {
      job.acceptedAt = await this.jobs.accept({ ...job, intent }, spool);
    } catch (error) {
      // It may be in the database nevertheless.
      this.track(this.#withdraw(job));
      throw error;
    }
  }

  /**
   * Removes a job that may have been accepted, although its message has ended in an error, and what is staged of it. Repeated as
   * the end of a job is. Never rejects.
   */
  async #withdraw(job: Job): Promise<void> {
    const withdrawal: Withdrawal = { isGone: false, removing: null };
    job.withdrawal = withdrawal;
    this.#withdrawals += 1;
    await this.#repeat(() => this.#removeWithdrawn());
    // Another worker that has taken the job over needs it.
    if (withdrawal.isGone) {
      await this.#unstage(job);
    }
    this.#withdrawals -= 1;
    this.#forget(job);
  }

  /**
   * Removes all such jobs. A message that is sent again must not be accepted before: its record would be that of the other job.
   * Rejects with ERR_STORE.
   */
  async #removeWithdrawn(): Promise<void> {
    for (const job of this.#withdrawals === 0 ? [] : this.#known.values()) {
      const { id, transactionId, withdrawal } = job;
      if (withdrawal !== null) {
        withdrawal.removing ??= this.jobs.withdraw(id, transactionId);
        try {
          withdrawal.isGone = await withdrawal.removing;
          job.withdrawal = null;
        } finally {
          withdrawal.removing = null;
        }
      }
    }
  }

  /** Removes what is staged of a job that the database does not have: nothing else does, because it might be needed. Never rejects. */
  async #unstage({ id, items }: Job): Promise<void> {
    await this.store.staged?.remove(id, items.values()).catch(() => undefined);
  }

  async #repeat<T>(attempt: () => Promise<T>): Promise<T | null> {
    const { signal } = this.#stopping;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        return await attempt();
      } catch (thrown) {
        // The folder of a job that another worker has is taken by that one.
        if (isTaken(thrown) || signal.aborted) {
          return null;
        }
        // A stop ends the pause, and one last attempt follows.
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #report(job: Job): Promise<null> {
    await this.jobs.reported(job.id, this.isAlone);
    await this.#remove(job);
    return null;
  }

  async #fail(
    job: Job,
    error: EndError = { code: "ERR_CANCELLED", message: "" },
    moved: { path: string | null },
  ): Promise<string | null> {
    const { id } = job;
    const { staged, work } = this.store;
    // Media that cannot be downloaded again are kept.
    const media = mediaOf(job).filter(({ source }) => source !== "cloud");
    // Before the job has ended: then nothing knows any more that its media are staged.
    const kept = media.length === 0 ? 0 : ((await staged?.keepAside(id, media))?.kept ?? 0);
    const address = kept === 0 ? null : (staged?.asideOf(id) ?? null);
    await this.jobs.failed(id, error);
    // What an earlier process has stored is not known before the job is prepared.
    if (kept === media.length && !(await work.hasNoted(id))) {
      await this.#remove(job);
      return address;
    }
    moved.path ??= await work.moveAside(id);
    if (moved.path !== null) {
      await work.syncAside();
    }
    return moved.path ?? address;
  }

  /** Removes the folder of a job that has ended. What cannot be removed now of what is staged is removed when it is a day old. */
  async #remove(job: Job): Promise<void> {
    await this.store.work.remove(job.id);
    await this.store.staged?.remove(job.id, mediaOf(job)).catch(() => undefined);
  }
}

/** The error in which a job has ended. */
interface EndError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A job as an earlier process, or another worker, has left it. */
function asJob(job: OpenJob): Job {
  const foundBy = job.intent.sequence ?? job.key;
  return { ...job, isOpen: true, foundBy, running: null, earlier: null, withdrawal: null };
}

/** The media of a job, also those of which the database may not know. */
function mediaOf({ items, unnoted }: Job): StoredItem[] {
  return [...items.values(), ...unnoted.values()];
}

/**
 * Moves media of a job that has failed long ago aside, if they are still staged: earlier versions left them there. What the bucket
 * refuses now is moved when the archive is opened again. Without the row of the job, nobody but a person removes what is staged.
 */
async function isSaved(
  { staged }: Pick<JobStore, "staged">,
  job: string,
  items: readonly StoredItem[],
): Promise<boolean> {
  try {
    const isKept = staged === null || (await staged.keepAside(job, items)).damaged === 0;
    if (isKept) {
      await staged?.remove(job, items);
    }
    return isKept;
  } catch {
    return false;
  }
}

/** A bucket that cannot be reached or written to now keeps no job from being accepted: the log is opened with the first package. */
function unlessAway(error: unknown): void {
  if (!(isDimensionerError(error) && error.sentence.startsWith("bucket"))) {
    throw error;
  }
}

/**
 * Notes in the database where the packages of the store are. If that has changed, its packages and open jobs must have been
 * moved to the new place: otherwise they would not be found, and one archive would be in two places. In that case throws
 * ERR_STORE and changes nothing. Throws ERR_CONFIG if another worker archives into another bucket at the same time. Returns false, and
 * has changed nothing, if another worker has noted a place at the same time.
 */
async function claimPlace(
  { committer, disk }: Pick<OpenedPackages, "disk" | "committer">,
  { database, worker, log }: Pick<StoreConnection, "database" | "log" | "worker">,
  {
    databaseName: name,
    workFolder,
    last,
  }: {
    /** The database as messages name it. */
    readonly databaseName: string;
    /** That of this worker. */
    readonly workFolder: string;
    /** The package that came into the index last. */
    readonly last: PlacedPackage | undefined;
  },
): Promise<boolean> {
  const facts = { surface: "store", operation: "archive" } as const;
  const { vault } = committer;
  const key = await committer.key();
  const [stores = [], open = [], others = []] = await database.transaction([
    { sql: "SELECT folder FROM store" },
    { sql: `SELECT job_id FROM jobs WHERE ${isOpen} LIMIT 1` },
    ...(worker.isAlone ? [] : [otherWorkers(worker.id)]),
  ]);
  const [store] = stores;
  const before = typeof store?.["folder"] === "string" ? store["folder"] : null;
  if (before === key) {
    return true;
  }
  const isBucket = vault.kind === "s3" || (before !== null && isBucketKey(before));
  if (before !== null && isBucket && open.length > 0) {
    // The media of open jobs are in the folder itself. With a bucket they are somewhere else, and nobody moves them.
    throw new DimensionerError("storeJobsOpen", facts, { path: vault.name, name: before });
  }
  const hasMoved = async (): Promise<boolean> =>
    (last === undefined || (await isThere(vault, last))) &&
    (open.length === 0 || (await exists(workFolder, disk)));
  if (before !== null && !(await hasMoved())) {
    throw new DimensionerError("storeMoved", facts, { path: vault.name, name: before });
  }
  // Each computer may have another path to the same folder. A bucket has one address.
  if (before !== null && isBucket && others.length > 0) {
    throw new DimensionerError("storeTwoFolders", facts, {
      path: name,
      name: before,
      value: vault.name,
    });
  }
  await vault.beginLog(log.store);
  const isBefore = { sql: "(SELECT coalesce(folder, '') FROM store) = ?", values: [before ?? ""] };
  const noting: Statement = {
    sql: `UPDATE store SET folder = ? WHERE ${isBefore.sql} RETURNING folder`,
    values: [key, ...isBefore.values],
  };
  // Workers on several computers may have several paths to one folder, and each notes its own.
  const isMove = before !== null && (worker.isAlone || isBucket);
  if (isMove) {
    await readyLog({ table: log, vault }, database);
  }
  const moved = (from: string): Statement[] => {
    const event = entryOf({ what: "moved", at: new Date().toISOString(), from, to: key });
    return [lockLog, ...log.append(event, isBefore)];
  };
  const results = await database.transaction([...(isMove ? moved(before) : []), noting]);
  const noted = results.at(-1) ?? [];
  // Without the row that each store has, there is nothing to compare: waiting for it would not end.
  return noted.length > 0 || store === undefined;
}

/** Selects another worker whose lease has not ended. */
function otherWorkers(id: string): Statement {
  return {
    sql: `SELECT worker_id FROM workers WHERE worker_id <> ? AND lease_until > ${databaseTime} LIMIT 1`,
    values: [id, "0 seconds"],
  };
}

async function isThere({ root, disk }: Vault, { path, sha256 }: PlacedPackage): Promise<boolean> {
  const found = await loadManifest(join(root, path, manifestFileName), disk);
  return typeof found === "object" && found.sha256 === sha256;
}
