import { DimensionerError } from "../errors/dimensioner-error.ts";
import { fileError } from "../media/disk.ts";
import { guardedDisk } from "../media/disk-guard.ts";
import { AbandonedJobs } from "./table/abandoned-jobs.ts";
import { closedLeaseSeconds } from "../database/worker-lease.ts";
import { settledWithin } from "../time/settled-within.ts";
import { databaseName } from "../database/database-location.ts";
import { filesKey, filesName } from "../vault/files-location.ts";
import type { Store, StoreFiles } from "../vault/store.ts";
import { openPackages } from "../vault/place/open-packages.ts";
import { Archive, type OpeningFindings } from "./run/archive.ts";
import type { OpenJobLimits } from "./table/open-jobs.ts";
import { diskFacts, type ArchiveDisk } from "../vault/archive-disk.ts";

interface Shared {
  readonly files: StoreFiles;
  readonly opened: Promise<{ archive: Archive; findings: OpeningFindings }>;
  users: number;
}

/** The use of an archive by one node; the last one that is released closes it. */
export interface ArchiveLease {
  readonly archive: Archive;
  /** What needs attention; nothing if another user has opened the archive. */
  readonly findings: OpeningFindings;
  release(): Promise<void>;
}

interface ArchivesOptions {
  /** How long a closed archive keeps its jobs for the deploy that opens it again. */
  readonly giveBackMs?: number;
  readonly disk?: ArchiveDisk;
  readonly openPackages?: typeof openPackages;
  readonly limits?: OpenJobLimits;
  readonly settleMs?: number;
}

/** How long an archive that is being closed is waited for; opening it may be tried again. */
const closedWithinMs = 30_000;

const nothing: OpeningFindings = { movedAside: [], damagedJobs: [], unknownMedia: null };

/** The archives that this process has open. Nodes with the same store share one. */
export class Archives {
  /** For tests; otherwise each archive uses the guarded disk of its own volume. */
  readonly #disk: ArchiveDisk | undefined;
  readonly #openPackages: typeof openPackages;
  readonly #limits: OpenJobLimits | undefined;
  readonly #settleMs: number | undefined;
  readonly #open = new Map<string, Shared>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #giveBackMs: number;
  /** Closed archives that still keep their jobs. */
  readonly #keeping = new Map<string, NodeJS.Timeout>();

  constructor(options: ArchivesOptions = {}) {
    this.#giveBackMs = options.giveBackMs ?? closedLeaseSeconds * 1000;
    this.#disk = options.disk;
    this.#openPackages = options.openPackages ?? openPackages;
    this.#limits = options.limits;
    this.#settleMs = options.settleMs;
  }

  /** The folders of the open archives. */
  async openFolders(): Promise<string[]> {
    const opened = await Promise.allSettled([...this.#open.values()].map(({ opened: one }) => one));
    return opened.flatMap((one) => (one.status === "fulfilled" ? one.value.archive.savedFolders : []));
  }

  /** Throws ERR_CONFIG (blank folder; another store uses the database with another folder), ERR_FILE (no such folder, denied) or ERR_STORE. */
  async open(store: Store): Promise<ArchiveLease> {
    await this.#untilClosed(store);
    const before = this.#open.get(store.databaseKey);
    if (before !== undefined) {
      demandSameFiles(before, store);
    }
    const shared = before ?? this.#begin(store);
    shared.users += 1;
    try {
      const { archive, findings } = await shared.opened;
      let isReleased = false;
      return {
        archive,
        findings: before === undefined ? findings : nothing,
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
  async #untilClosed({ databaseKey, location, files }: Store): Promise<void> {
    const closing = this.#closing.get(databaseKey);
    if (closing !== undefined && !(await settledWithin(closing, closedWithinMs))) {
      throw fileError("fileHung", "problem" in files ? databaseName(location) : filesName(files), diskFacts);
    }
  }

  #begin(store: Store): Shared {
    const shared: Shared = { files: store.files, opened: this.#openArchive(store), users: 0 };
    this.#open.set(store.databaseKey, shared);
    return shared;
  }

  async #openArchive(store: Store): Promise<{ archive: Archive; findings: OpeningFindings }> {
    const { files, location } = store;
    if ("problem" in files) {
      throw files.problem;
    }
    const lease = await store.lease();
    try {
      const disk = this.#disk ?? guardedDisk(files.kind === "folder" ? files.path : files.workFolder);
      const packages = await this.#openPackages(files, lease, disk);
      try {
        return await Archive.open(packages, lease, {
          databaseName: databaseName(location),
          limits: this.#limits,
          settleMs: this.#settleMs,
        });
      } catch (error) {
        await packages.close();
        throw error;
      }
    } catch (error) {
      await lease.release();
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
    this.#keeping.set(databaseKey, setTimeout(giveBack, this.#giveBackMs).unref());
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
function demandSameFiles({ files: first }: Shared, { files: second, location }: Store): void {
  if (!("problem" in first) && !("problem" in second) && filesKey(first) !== filesKey(second)) {
    throw new DimensionerError(
      "storeTwoFolders",
      { surface: "store", operation: "open" },
      { path: databaseName(location), name: filesName(first), value: filesName(second) },
    );
  }
}

async function giveBackJobs(store: Store): Promise<void> {
  const { database, worker, release } = await store.lease();
  try {
    await new AbandonedJobs(database, worker.id).giveBack();
  } finally {
    await release();
  }
}
