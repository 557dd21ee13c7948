import { dirname, join } from "node:path";
import { syncFolder } from "../../media/target-folder.ts";
import { asFileError, diskFacts, type ArchiveDisk } from "../archive-disk.ts";
import type { Journal } from "../journal/journal.ts";
import type { Manifest } from "./manifest.ts";
import type { FinishedJob, JournalState, OpenJob } from "../journal/open-job.ts";
import { findPackage, PackageWriter, type Completeness } from "./package-writer.ts";
import type { PlacedPackage } from "./records.ts";
import type { WorkFolders } from "../jobs/work-folders.ts";

/** A job's result: its package, and whether another job had made it before. */
export interface Archived extends PlacedPackage {
  /** The package's absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly wasThere: boolean;
}

/** What becomes of a job whose media are all there. */
interface Placement extends Completeness {
  /** The same job has a package already, which is damaged: it is left as it is, and a whole one is made. */
  readonly onDamaged: (path: string) => void;
}

/** The packages of one archive: how a job gets its own, and how it is found again. */
export class Packages {
  readonly #folder: string;
  readonly #disk: ArchiveDisk;
  readonly #work: WorkFolders;
  readonly #journal: Journal;
  readonly #state: JournalState;
  readonly #writer: PackageWriter;
  /** Damaged packages are told of once: a job looks for its package when it begins and when it ends. */
  readonly #toldDamaged = new Set<string>();
  /** They get their names one after the other, since each manifest names the one before. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    folder: string,
    parts: { disk: ArchiveDisk; work: WorkFolders; journal: Journal; state: JournalState },
  ) {
    this.#folder = folder;
    this.#disk = parts.disk;
    this.#work = parts.work;
    this.#journal = parts.journal;
    this.#state = parts.state;
    this.#writer = new PackageWriter(folder, parts.disk);
  }

  /** Resolves when none is being placed any more. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  /** The whole package of a finished job; undefined where there is none (any more), or only a damaged one. */
  async find(key: string, onDamaged: (path: string) => void): Promise<Archived | undefined> {
    const at = this.#state.finished.get(key);
    if (at === undefined) {
      return undefined;
    }
    const record = typeof at === "number" ? await this.#journal.read(at) : at;
    if (record === undefined || !("sha256" in record) || !("path" in record)) {
      return undefined;
    }
    const { path, sha256 } = record;
    const manifest = await findPackage(this.#folder, { path, sha256 }, this.#disk);
    if (manifest === "damaged" && !this.#toldDamaged.has(path)) {
      this.#toldDamaged.add(path);
      onDamaged(path);
    }
    return typeof manifest === "object" ? this.#result({ path, sha256 }, manifest, true) : undefined;
  }

  /** Makes the package of a job whose media are all there. Throws ERR_FILE; may be called again then. */
  async place(job: OpenJob, key: string, placement: Placement): Promise<Archived> {
    const turn = this.#turn.then(() => this.#place(job, key, placement));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  /** The package of a job that a killed process had finished. */
  async placed(job: OpenJob): Promise<Archived | undefined> {
    const found = job.archived ?? job.placing;
    if (found === null || job.key === null) {
      return undefined;
    }
    const manifest = await findPackage(this.#folder, found, this.#disk);
    if (typeof manifest !== "object") {
      return undefined;
    }
    if (job.archived === null) {
      await syncFolder(dirname(join(this.#folder, found.path)), this.#disk, diskFacts);
      this.#archived(job, job.key, found);
    }
    return this.#result(found, manifest, false);
  }

  async #place(job: OpenJob, key: string, { onDamaged, ...completeness }: Placement): Promise<Archived> {
    const before = await this.placed(job);
    if (before !== undefined) {
      return before;
    }
    job.key = key;
    const existing = await this.find(key, onDamaged);
    if (existing !== undefined) {
      job.archived = { path: existing.path, sha256: existing.sha256 };
      return existing;
    }
    try {
      const { path, sha256, manifest } = await this.#writer.write(job, this.#work.of(job.id), {
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
      throw asFileError(error, join(this.#folder, ...job.intent.folder), this.#folder);
    }
  }

  #result({ path, sha256 }: PlacedPackage, manifest: Manifest, wasThere: boolean): Archived {
    return { path, sha256, manifest, wasThere, folder: join(this.#folder, path) };
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
    if (this.#state.finished.get(key) === finished) {
      this.#state.finished.set(key, offset);
    }
  }
}
