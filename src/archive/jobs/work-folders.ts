import { join } from "node:path";
import { asFileError, makeStateFolder, removeTree, type ArchiveDisk } from "../archive-disk.ts";

const workFolderName = "work";
const givenUpFolderName = "given-up";

/** Where the media of unfinished packages lie: a folder for each job, in the archive's state folder. */
export class WorkFolders {
  readonly #stateFolder: string;
  readonly #disk: ArchiveDisk;

  constructor(stateFolder: string, disk: ArchiveDisk) {
    this.#stateFolder = stateFolder;
    this.#disk = disk;
  }

  /** Makes the place for all of them. */
  async prepare(): Promise<void> {
    await makeStateFolder(this.#stateFolder, this.#disk);
    await makeStateFolder(join(this.#stateFolder, workFolderName), this.#disk);
  }

  /** Ids of the jobs that have one. */
  async list(): Promise<string[]> {
    return this.#disk.readdir(join(this.#stateFolder, workFolderName));
  }

  of(jobId: string): string {
    return join(this.#stateFolder, workFolderName, jobId);
  }

  /** Makes the folder, where it is not there yet. Throws ERR_FILE. */
  async make(jobId: string): Promise<string> {
    const path = this.of(jobId);
    try {
      await makeStateFolder(path, this.#disk);
    } catch (error) {
      throw asFileError(error, path);
    }
    return path;
  }

  async remove(jobId: string): Promise<void> {
    await removeTree(this.of(jobId), this.#disk).catch(() => undefined);
  }

  /** Out of the way, but not deleted: nobody can fetch its media again. */
  async putAside(jobId: string): Promise<void> {
    const given = join(this.#stateFolder, givenUpFolderName);
    await makeStateFolder(given, this.#disk)
      .then(() => this.#disk.rename(this.of(jobId), join(given, jobId)))
      .catch(() => undefined);
  }
}
