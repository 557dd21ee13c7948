import { dirname, join } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import type { Worker } from "../../database/worker-lease.ts";
import {
  asFileError,
  asideFolderName,
  diskFacts,
  makeStateFolder,
  removeTree,
  workFolderName,
  type ArchiveDisk,
} from "../../vault/archive-disk.ts";
import { hashNotedMedia, hasNotedMedium } from "./item-notes.ts";
import { takeFolders } from "./take-folders.ts";

const mediaName = "media";
const packageName = "package";

/**
 * The folders of the media of unfinished packages. They are in the store's folder, so that a rename can move them to
 * their place, and separate from those of any other worker and store with the same folder.
 *
 * A job's media are in `media`. Sealing moves exactly those that the manifest names into `package`; a file that is not
 * named can never get into a package.
 */
export class WorkFolders {
  readonly #stateFolder: string;
  readonly #worker: Worker;
  readonly #disk: ArchiveDisk;

  constructor(stateFolder: string, worker: Worker, disk: ArchiveDisk) {
    this.#stateFolder = stateFolder;
    this.#worker = worker;
    this.#disk = disk;
  }

  /** The folder of this worker's work folders. */
  get root(): string {
    return join(this.#all, this.#worker.id);
  }

  /** The folder that is there if the media of open jobs are. */
  get claimed(): string {
    return this.#worker.isAlone ? this.root : this.#all;
  }

  get #all(): string {
    return join(this.#stateFolder, workFolderName);
  }

  /** Creates the folder of all work folders. */
  async prepare(): Promise<void> {
    for (const folder of [this.#stateFolder, this.#all, this.root]) {
      if (await makeStateFolder(folder, this.#disk)) {
        await syncFolder(dirname(folder), this.#disk, diskFacts);
      }
    }
  }

  /** The ids of the jobs that have a folder; none if another worker has removed them all. */
  async list(): Promise<string[]> {
    try {
      return await this.#disk.readdir(this.root);
    } catch (error) {
      if (systemCode(error) === "ENOENT") {
        return [];
      }
      throw error;
    }
  }

  /** The names of the folders of all workers, also of other stores. */
  async workers(): Promise<string[]> {
    return (await this.#disk.readdir(this.#all)).filter((name) => name !== this.#worker.id);
  }

  /** The work folders of another worker, whose lease has ended. */
  ofWorker(id: string): WorkFolders {
    return new WorkFolders(this.#stateFolder, { id, isAlone: false }, this.#disk);
  }

  /** When something was last added to the folder of a job; now, if it is gone. */
  async changedAtMs(jobId: string): Promise<number> {
    try {
      return (await this.#disk.lstat(this.#jobFolder(jobId))).mtimeMs;
    } catch (error) {
      if (systemCode(error) === "ENOENT") {
        return Date.now();
      }
      throw error;
    }
  }

  /** Removes the folder of this worker's work folders if there is nothing in it. */
  async removeRoot(): Promise<void> {
    await this.#disk.rmdir(this.root).catch(() => undefined);
  }

  /** The folder of a job's media until they are sealed. */
  of(jobId: string): string {
    return join(this.#jobFolder(jobId), mediaName);
  }

  /** Creates the folder of a job's media if it is missing. Throws ERR_FILE. */
  async make(jobId: string): Promise<void> {
    const path = this.of(jobId);
    try {
      await this.#makeJobFolder(jobId);
      await makeStateFolder(path, this.#disk);
    } catch (error) {
      // The store's folder is missing: all folders below it are created here.
      throw asFileError(error, path, dirname(this.#stateFolder));
    }
  }

  /**
   * Takes what other workers have of a job, and keeps its media. A worker that was only suspended does not find its folder
   * any more: it can change nothing, nor place a package. Throws ERR_FILE.
   */
  async takeOver(jobId: string, isMedium: (name: string) => boolean): Promise<void> {
    if (this.#worker.isAlone) {
      return;
    }
    const [folder, media] = [this.#jobFolder(jobId), this.of(jobId)];
    const parts = { folder, media, make: () => this.make(jobId), sync: () => this.sync(jobId) };
    const others = (await this.workers()).map((worker) => join(this.#all, worker, jobId));
    try {
      await takeFolders(others, { ...parts, isMedium }, this.#disk);
    } catch (error) {
      throw asFileError(error, media, dirname(this.#stateFolder));
    }
  }

  /** Syncs the folder of a job's media, so that their names survive a loss of power. Throws ERR_FILE. */
  async sync(jobId: string): Promise<void> {
    for (const folder of [this.of(jobId), this.#jobFolder(jobId), this.root]) {
      await syncFolder(folder, this.#disk, diskFacts);
    }
  }

  /** Whether a job has media of a device that its rows may not name. */
  async hasNoted(jobId: string): Promise<boolean> {
    return await hasNotedMedium(this.of(jobId), this.#disk);
  }

  /** Whether all such media are among those with these hashes. */
  async hasNotedOnly(jobId: string, sha256s: ReadonlySet<string>): Promise<boolean> {
    const hashes = await hashNotedMedia(this.of(jobId), this.#disk);
    return hashes.every((sha256) => sha256 !== undefined && sha256s.has(sha256));
  }

  /** Moves the named media into the folder that becomes the package; returns that folder. */
  async seal(jobId: string, names: readonly string[]): Promise<string> {
    const folder = join(this.#jobFolder(jobId), packageName);
    await makeStateFolder(folder, this.#disk);
    for (const name of names) {
      await this.#disk.rename(join(this.of(jobId), name), join(folder, name));
    }
    return folder;
  }

  /** Undoes an unfinished sealing: moves the media back, and deletes the other files. */
  async reopen(jobId: string, isMedium: (name: string) => boolean): Promise<void> {
    const folder = join(this.#jobFolder(jobId), packageName);
    try {
      if (!(await this.#disk.lstat(folder)).isDirectory()) {
        // A link would lead out of the store.
        await this.#disk.unlink(folder);
        return;
      }
      for (const name of await this.#disk.readdir(folder)) {
        if (isMedium(name)) {
          await this.#disk.rename(join(folder, name), join(this.of(jobId), name));
        } else {
          await removeTree(join(folder, name), this.#disk);
        }
      }
      await this.#disk.rmdir(folder);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") {
        throw asFileError(error, folder);
      }
    }
  }

  /** Removes the folder of a job whose package has its final name. */
  async remove(jobId: string): Promise<void> {
    await removeTree(this.#jobFolder(jobId), this.#disk).catch(() => undefined);
  }

  /**
   * Moves a folder that belongs to no open job aside, where nothing deletes it. Returns its path; null if there is
   * nothing in it, or it is gone. `syncAside` makes it durable.
   */
  async moveAside(name: string): Promise<string | null> {
    if (await this.#removeEmpty(name)) {
      return null;
    }
    const aside = join(this.#stateFolder, asideFolderName);
    if (await makeStateFolder(aside, this.#disk)) {
      await syncFolder(this.#stateFolder, this.#disk, diskFacts);
    }
    for (let number = 1; ; number += 1) {
      const target = number === 1 ? this.asidePath(name) : `${this.asidePath(name)}-${number}`;
      try {
        await this.#disk.rename(this.#jobFolder(name), target);
        return target;
      } catch (error) {
        if (systemCode(error) === "ENOENT") {
          return null;
        }
        // A part that was too late may have left another folder of the same job.
        if (systemCode(error) !== "ENOTEMPTY" && systemCode(error) !== "EEXIST") {
          throw error;
        }
      }
    }
  }

  /** Makes what was moved aside durable. */
  async syncAside(): Promise<void> {
    await syncFolder(join(this.#stateFolder, asideFolderName), this.#disk, diskFacts);
  }

  /** The path to which `moveAside` moves it, the first time. */
  asidePath(name: string): string {
    return join(this.#stateFolder, asideFolderName, name);
  }

  /** Removes the folder of a job if there is nothing in it; returns whether it is gone. */
  async #removeEmpty(name: string): Promise<boolean> {
    for (const folder of [this.of(name), this.#jobFolder(name)]) {
      try {
        await this.#disk.rmdir(folder);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") {
          return false;
        }
      }
    }
    return true;
  }

  /** The folders above it may have been deleted while the store was open. */
  async #makeJobFolder(jobId: string): Promise<void> {
    try {
      await makeStateFolder(this.#jobFolder(jobId), this.#disk);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") {
        throw error;
      }
      await this.prepare();
      await makeStateFolder(this.#jobFolder(jobId), this.#disk);
    }
  }

  #jobFolder(jobId: string): string {
    return join(this.root, jobId);
  }
}
