import { join } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, type Phrase } from "../errors/interpolation.ts";
import type { MediaFolders } from "../media/media-folders.ts";
import { checkRoot } from "../media/target-folder.ts";
import {
  asFileError,
  diskFacts,
  journalFileName,
  stateFolderName,
  type ArchiveDisk,
} from "./archive-disk.ts";
import { Compactor } from "./journal/compaction.ts";
import { Journal } from "./journal/journal.ts";
import { JournalState, type OpenJob } from "./journal/open-job.ts";
import { Packages, type Archived } from "./packages/packages.ts";
import type { Intent, StoredItem } from "./packages/records.ts";
import { RootLock } from "./journal/root-lock.ts";
import type { RunningJob } from "./jobs/running-job.ts";
import type { JobStore } from "./jobs/job-store.ts";
import { WorkFolders } from "./jobs/work-folders.ts";

/** What the open jobs of one archive may take. */
export interface OpenJobLimits {
  readonly jobs: number;
  /** Of measurements, exact answers and kept message properties, in memory. */
  readonly bytes: number;
}

const openJobLimits: OpenJobLimits = { jobs: 10_000, bytes: 256_000_000 };

/** Roughly: two bytes a character, and what a job takes beside its texts. */
function sizeOf({ measurement, raw, keep }: Intent): number {
  const characters = (measurement?.length ?? 0) + (raw?.length ?? 0) + JSON.stringify(keep).length;
  return 2 * characters + 1_000;
}

/**
 * One archive on disk: its journal and its open jobs. One process writes to it; all nodes of that process share this
 * object.
 */
export class ArchiveRoot implements JobStore {
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly folders: MediaFolders;
  /** Where a job's media lie until its package is whole. */
  readonly work: WorkFolders;
  readonly packages: Packages;
  /** Open jobs that no node works on: after a restart, or when their node went away. */
  readonly idleJobs: Map<string, OpenJob>;
  /** Jobs of a cloud that are being accepted or worked on, by key: the same job is done once at a time. */
  readonly runningByKey = new Map<string, Promise<Archived | OpenJob | RunningJob>>();
  readonly #lock: RootLock;
  readonly #journal: Journal;
  readonly #state: JournalState;
  readonly #compactor: Compactor;
  readonly #clearing = new Set<Promise<void>>();
  readonly #limits: OpenJobLimits;
  /** What the texts of the open jobs take in memory. */
  #openBytes = 0;

  private constructor(
    folder: string,
    parts: {
      disk: ArchiveDisk;
      folders: MediaFolders;
      work: WorkFolders;
      lock: RootLock;
      journal: Journal;
      state: JournalState;
      limits: OpenJobLimits;
    },
  ) {
    this.folder = folder;
    this.disk = parts.disk;
    this.folders = parts.folders;
    this.work = parts.work;
    this.#lock = parts.lock;
    this.#journal = parts.journal;
    this.#state = parts.state;
    this.idleJobs = new Map(parts.state.open);
    this.#limits = parts.limits;
    for (const { intent } of this.idleJobs.values()) {
      this.#openBytes += sizeOf(intent);
    }
    this.packages = new Packages(folder, parts);
    this.#compactor = new Compactor({ ...parts, stateFolder: this.stateFolder });
  }

  /**
   * Throws ERR_CONFIG (blank folder) or ERR_FILE: no such folder, denied, in use by another process. Whoever opens a root
   * again, after it was released, does so with the same `nonce`.
   */
  static async open(
    folder: string,
    disk: ArchiveDisk,
    folders: MediaFolders,
    nonce: string,
    limits = openJobLimits,
  ): Promise<ArchiveRoot> {
    const path = await checkRoot(folder, disk, diskFacts);
    const stateFolder = join(path, stateFolderName);
    const work = new WorkFolders(stateFolder, disk);
    try {
      await work.prepare();
    } catch (error) {
      throw asFileError(error, stateFolder, path);
    }
    const lock = await RootLock.acquire(stateFolder, disk, { nonce });
    let journal: Journal | undefined;
    try {
      const state = new JournalState();
      journal = await Journal.open(join(stateFolder, journalFileName), {
        disk,
        guard: () => lock.check(),
        onRecord: (record, offset, bytes) => state.apply(record, offset, bytes),
      });
      const root = new ArchiveRoot(path, { disk, folders, work, lock, journal, state, limits });
      await root.#tidy();
      return root;
    } catch (error) {
      await journal?.close();
      await lock.release();
      throw asFileError(error, stateFolder, path);
    }
  }

  get damagedLines(): number {
    return this.#journal.damagedLines;
  }

  get stateFolder(): string {
    return join(this.folder, stateFolderName);
  }

  /** Throws ERR_QUEUE_FULL where the archive has as many open jobs, or as much of them in memory, as it may have. */
  checkRoom(intent: Intent): void {
    const refuse = (limit: number | Phrase): never => {
      throw new DimensionerError("archiveFull", diskFacts, { path: this.folder, limit });
    };
    if (this.#state.open.size >= this.#limits.jobs) {
      refuse(this.#limits.jobs);
    }
    if (this.#openBytes + sizeOf(intent) > this.#limits.bytes) {
      refuse(phrase("megabytes", { count: this.#limits.bytes / 1e6 }));
    }
  }

  /** Resolves once the intent is on the disk: from then on the job is done, whatever happens. */
  async accept(
    id: string,
    given: { node: string; key: string | null; intent: Intent; items: ReadonlyMap<string, StoredItem> },
  ): Promise<OpenJob> {
    const { node, key, intent } = given;
    this.checkRoom(intent);
    const job: OpenJob = {
      id,
      node,
      key,
      intent,
      acceptedAt: new Date(),
      sinceMs: performance.now(),
      isResumed: false,
      items: new Map(given.items),
      count: null,
      waitedMs: 0,
      placing: null,
      archived: null,
    };
    const items = [...given.items].map(([slot, item]) => ({ slot, item }));
    const at = job.acceptedAt.toISOString();
    // Counted before it is written, so that many at once are counted too.
    this.#state.open.set(id, job);
    this.#openBytes += sizeOf(intent);
    try {
      await this.#journal.commit({ type: "accepted", job: id, at, node, key, intent, items });
    } catch (error) {
      this.#drop(job);
      throw error;
    }
    return job;
  }

  async addItem(job: OpenJob, slot: string, item: StoredItem, isPromise: boolean): Promise<void> {
    const record = { type: "item", job: job.id, slot, item } as const;
    if (isPromise) {
      await this.#journal.commit(record);
    } else {
      void this.#journal.note(record);
    }
    job.items.set(slot, item);
  }

  setCount(job: OpenJob, count: number): void {
    if (job.count === count) {
      return;
    }
    job.count = count;
    void this.#journal.note({ type: "count", job: job.id, count });
  }

  saveWait(job: OpenJob): void {
    void this.#journal.note({ type: "waited", job: job.id, ms: Math.round(job.waitedMs) });
  }

  /** The job's message is out: it needs no restart any more. */
  close(job: OpenJob): void {
    if (!this.#state.open.has(job.id)) {
      return;
    }
    const clearing = this.#clearWork(job).finally(() => this.#clearing.delete(clearing));
    this.#clearing.add(clearing);
    void this.#forget(job);
  }

  async #forget(job: OpenJob): Promise<void> {
    await this.#journal.note({ type: "closed", job: job.id });
    this.#drop(job);
    this.#compactor.compactIfDue();
  }

  #drop(job: OpenJob): void {
    if (this.#state.open.delete(job.id)) {
      this.#openBytes -= sizeOf(job.intent);
    }
  }

  async release(): Promise<void> {
    await Promise.all([this.packages.settled(), this.#compactor.settled(), ...this.#clearing]);
    await this.#journal.close();
    await this.#lock.release();
  }

  /** A package has taken its work folder along; what nobody could fetch again is put aside, not deleted. */
  async #clearWork(job: OpenJob): Promise<void> {
    const isSpare = job.archived !== null || job.intent.source === "cloud";
    await (isSpare ? this.work.remove(job.id) : this.work.putAside(job.id));
  }

  /** After a kill: names the packages that were just being placed, and removes what no job needs. */
  async #tidy(): Promise<void> {
    for (const job of this.#state.open.values()) {
      await this.packages.placed(job);
    }
    for (const name of await this.work.list()) {
      const job = this.#state.open.get(name);
      if (job === undefined || job.archived !== null) {
        await this.work.remove(name);
      }
    }
    this.#compactor.compactIfDue();
    await this.#compactor.settled();
  }
}
