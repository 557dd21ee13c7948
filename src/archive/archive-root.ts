import { dirname, join } from "node:path";
import type { MediaFolders } from "../media/media-folders.ts";
import { checkRoot, syncFolder } from "../media/target-folder.ts";
import {
  asFileError,
  diskFacts,
  JOURNAL_FILE,
  makeStateFolder,
  STATE_FOLDER,
  type ArchiveDisk,
} from "./archive-disk.ts";
import { compactJournal } from "./compaction.ts";
import { Journal } from "./journal.ts";
import type { Manifest } from "./manifest.ts";
import { JournalState, type FinishedJob, type OpenJob } from "./open-job.ts";
import { findPackage, PackageWriter, type Completeness } from "./package-writer.ts";
import type { Intent, PlacedPackage, StoredItem } from "./records.ts";
import type { RunningJob } from "./running-job.ts";
import { RootLock } from "./root-lock.ts";

/** A job's result: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** The package's absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
}

const COMPACT_SLACK_BYTES = 1024 * 1024;

/**
 * One archive on disk: its journal, its open jobs, and the way a package gets its name. One process writes to it; all
 * nodes of that process share this object.
 */
export class ArchiveRoot {
  readonly folder: string;
  readonly disk: ArchiveDisk;
  readonly folders: MediaFolders;
  /** Open jobs that nobody works on: after a restart, or when their node went away. */
  readonly unclaimed: Map<string, OpenJob>;
  /** Jobs of a cloud that are being accepted or worked on, by key: the same job is done once at a time. */
  readonly active = new Map<string, Promise<Archived | RunningJob>>();
  readonly #lock: RootLock;
  readonly #journal: Journal;
  readonly #state: JournalState;
  readonly #writer: PackageWriter;
  /** Packages get their names one after the other, since each manifest names the one before. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #clearing = new Set<Promise<void>>();
  #compactedBytes: number;
  #compacting: Promise<void> | undefined;

  private constructor(
    folder: string,
    parts: {
      disk: ArchiveDisk;
      folders: MediaFolders;
      lock: RootLock;
      journal: Journal;
      state: JournalState;
    },
  ) {
    this.folder = folder;
    this.disk = parts.disk;
    this.folders = parts.folders;
    this.#lock = parts.lock;
    this.#journal = parts.journal;
    this.#state = parts.state;
    this.unclaimed = new Map(parts.state.open);
    this.#writer = new PackageWriter(folder, parts.disk);
    this.#compactedBytes = parts.state.liveBytes;
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
  ): Promise<ArchiveRoot> {
    const path = await checkRoot(folder, disk, diskFacts);
    const stateFolder = join(path, STATE_FOLDER);
    try {
      await makeStateFolder(stateFolder, disk);
      await makeStateFolder(join(stateFolder, "work"), disk);
    } catch (error) {
      throw asFileError(error, stateFolder, path);
    }
    const lock = await RootLock.acquire(stateFolder, disk, undefined, nonce);
    try {
      const state = new JournalState();
      const journal = await Journal.open(join(stateFolder, JOURNAL_FILE), {
        disk,
        guard: () => lock.check(),
        onRecord: (record, offset, bytes) => state.apply(record, offset, bytes),
      });
      const root = new ArchiveRoot(path, { disk, folders, lock, journal, state });
      await root.#tidy();
      return root;
    } catch (error) {
      await lock.release();
      throw asFileError(error, stateFolder, path);
    }
  }

  get damagedLines(): number {
    return this.#journal.damagedLines;
  }

  get stateFolder(): string {
    return join(this.folder, STATE_FOLDER);
  }

  /** Where a job's media lie until its package is whole. */
  workFolder(jobId: string): string {
    return join(this.stateFolder, "work", jobId);
  }

  /** Makes the folder, where it is not there yet. */
  async makeWorkFolder(jobId: string): Promise<string> {
    const path = this.workFolder(jobId);
    try {
      await makeStateFolder(path, this.disk);
    } catch (error) {
      throw asFileError(error, path);
    }
    return path;
  }

  async removeWorkFolder(jobId: string): Promise<void> {
    await this.disk.rm(this.workFolder(jobId), { recursive: true, force: true }).catch(() => undefined);
  }

  /** Resolves once the intent is on the disk: from then on the job is done, whatever happens. */
  async accept(
    id: string,
    given: { node: string; key: string | null; intent: Intent; items: ReadonlyMap<string, StoredItem> },
  ): Promise<OpenJob> {
    const { node, key, intent } = given;
    const job: OpenJob = {
      id,
      node,
      key,
      intent,
      acceptedAt: new Date(),
      isResumed: false,
      items: new Map(given.items),
      count: null,
      waitedMs: 0,
      placing: null,
      archived: null,
    };
    const items = [...given.items].map(([slot, item]) => ({ slot, item }));
    const at = job.acceptedAt.toISOString();
    await this.#journal.commit({ type: "accepted", job: id, at, node, key, intent, items });
    this.#state.open.set(id, job);
    return job;
  }

  /** Remembers a medium that is whole on the disk; `isPromise` for one that nobody can fetch again. */
  async addItem(job: OpenJob, slot: string, item: StoredItem, isPromise: boolean): Promise<void> {
    const record = { type: "item", job: job.id, slot, item } as const;
    if (isPromise) await this.#journal.commit(record);
    else void this.#journal.note(record);
    job.items.set(slot, item);
  }

  setCount(job: OpenJob, count: number): void {
    if (job.count === count) return;
    job.count = count;
    void this.#journal.note({ type: "count", job: job.id, count });
  }

  /** Remembers how long a job has waited, so that a restart does not begin the wait anew. */
  saveWait(job: OpenJob): void {
    void this.#journal.note({ type: "waited", job: job.id, ms: Math.round(job.waitedMs) });
  }

  /** The whole package of a finished job; undefined where there is none (any more). */
  async find(key: string): Promise<Archived | undefined> {
    const at = this.#state.finished.get(key);
    if (at === undefined) return undefined;
    const record = typeof at === "number" ? await this.#journal.read(at) : at;
    if (record === undefined || !("sha256" in record) || !("path" in record)) return undefined;
    const { path, sha256 } = record;
    const manifest = await findPackage(this.folder, { path, sha256 }, this.disk);
    return manifest === undefined ? undefined : this.#result({ path, sha256 }, manifest, true);
  }

  /** Makes the package of a job whose media are all there. Throws ERR_FILE; may be called again then. */
  async place(job: OpenJob, key: string, completeness: Completeness): Promise<Archived> {
    const turn = this.#turn.then(() => this.#place(job, key, completeness));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  /** The package of a job that a killed process had finished. */
  async placed(job: OpenJob): Promise<Archived | undefined> {
    const found = job.archived ?? job.placing;
    if (found === null || job.key === null) return undefined;
    const manifest = await findPackage(this.folder, found, this.disk);
    if (manifest === undefined) return undefined;
    if (job.archived === null) {
      await syncFolder(dirname(join(this.folder, found.path)), this.disk, diskFacts);
      this.#archived(job, job.key, found);
    }
    return this.#result(found, manifest, false);
  }

  /** The job's message is out: it needs no restart any more. */
  close(job: OpenJob): void {
    if (!this.#state.open.has(job.id)) return;
    const clearing = this.#clearWork(job).finally(() => this.#clearing.delete(clearing));
    this.#clearing.add(clearing);
    void this.#forget(job);
  }

  async #forget(job: OpenJob): Promise<void> {
    await this.#journal.note({ type: "closed", job: job.id });
    this.#state.open.delete(job.id);
    this.#compactIfDue();
  }

  async release(): Promise<void> {
    await Promise.all([this.#turn, this.#compacting, ...this.#clearing]);
    await this.#journal.close();
    await this.#lock.release();
  }

  async #place(job: OpenJob, key: string, completeness: Completeness): Promise<Archived> {
    const before = await this.placed(job);
    if (before !== undefined) return before;
    job.key = key;
    const twin = await this.find(key);
    if (twin !== undefined) {
      job.archived = { path: twin.path, sha256: twin.sha256 };
      return twin;
    }
    try {
      const { path, sha256, manifest } = await this.#writer.write(job, this.workFolder(job.id), {
        ...completeness,
        previous: this.#state.head,
        onNamed: async (placing) => {
          await this.#journal.commit({ type: "placing", job: job.id, key, ...placing });
          job.placing = placing;
        },
      });
      this.#archived(job, key, { path, sha256 });
      return this.#result({ path, sha256 }, manifest, false);
    } catch (error) {
      throw asFileError(error, join(this.folder, ...job.intent.folder), this.folder);
    }
  }

  #result({ path, sha256 }: PlacedPackage, manifest: Manifest, wasThere: boolean): Archived {
    return { path, sha256, manifest, wasThere, folder: join(this.folder, path) };
  }

  /** Need not be waited for: the line before says where the package is. */
  #archived(job: OpenJob, key: string, placed: PlacedPackage): void {
    job.archived = placed;
    this.#state.head = placed;
    const finished = { job: job.id, ...placed };
    this.#state.finished.set(key, finished);
    void this.#noteFinished(key, finished);
  }

  async #noteFinished(key: string, finished: FinishedJob): Promise<void> {
    const offset = await this.#journal.note({ type: "archived", key, ...finished });
    if (this.#state.finished.get(key) === finished) this.#state.finished.set(key, offset);
  }

  /** A package has taken its work folder along; what nobody could fetch again is put aside, not deleted. */
  async #clearWork(job: OpenJob): Promise<void> {
    if (job.archived !== null || job.intent.source === "cloud") {
      await this.removeWorkFolder(job.id);
      return;
    }
    const given = join(this.stateFolder, "given-up");
    await makeStateFolder(given, this.disk)
      .then(() => this.disk.rename(this.workFolder(job.id), join(given, job.id)))
      .catch(() => undefined);
  }

  /** After a kill: names the packages that were just being placed, and removes what no job needs. */
  async #tidy(): Promise<void> {
    for (const job of this.#state.open.values()) await this.placed(job);
    for (const name of await this.disk.readdir(join(this.stateFolder, "work"))) {
      const job = this.#state.open.get(name);
      if (job === undefined || job.archived !== null) await this.removeWorkFolder(name);
    }
    this.#compactIfDue();
    await this.#compacting;
  }

  #compactIfDue(): void {
    const isDue = this.#journal.size > 2 * this.#compactedBytes + COMPACT_SLACK_BYTES;
    if (!isDue || this.#compacting !== undefined) return;
    this.#compacting = compactJournal(this.#journal, this.#state, this.stateFolder, this.disk)
      // On a full disk the journal stays as it is; it is tried again when it has grown once more.
      .catch(() => undefined)
      .finally(() => {
        this.#compactedBytes = this.#journal.size;
        this.#compacting = undefined;
      });
  }
}
