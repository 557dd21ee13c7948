/**
 * The folders in which the media of open jobs are until they are a package, on this computer's disk: one for each worker, and in it
 * one for each job. Beside a medium of a device is a note of what it is, until the database has its row.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Worker } from "../database/worker-lease.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, phrase } from "../errors/interpolation.ts";
import { spaceOf } from "../media/disk-guard.ts";
import { systemCode } from "../media/disk.ts";
import { syncFolder } from "../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  asideFolderName,
  diskFacts,
  exists,
  makeStateFolder,
  namesIn,
  removeTree,
  workFolderName,
  writeDurably,
} from "../vault/archive-disk.ts";
import { type StoredItem, mostNoteBytes, readMediaNote, writeMediaNote } from "../vault/packages/intent.ts";
import { hashFile, readPlain } from "../vault/packages/package-files.ts";
import type { EarlierJobs, OwnSpool, Spool } from "./job-rows.ts";
import { dayMs } from "../time/clocks.ts";

const mediaName = "media";
const packageName = "package";
/** In the state folder, has an empty folder for each ID of the spool. */
const spoolName = "spool";

/**
 * The folders of the media of unfinished packages. They are in the folder of packages, so that a rename can move them to their place, or
 * in a spool on the disk of Node-RED, and separate from those of any other worker and store with the same folder.
 *
 * A job's media are in `media`. Sealing moves exactly those that the manifest names into `package`; a file that is not
 * named can never get into a package.
 */
export class WorkFolders implements OwnSpool {
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

  /**
   * The spool as the database names it. Its ID outlives the process, and is that of all processes that use this folder, on whatever computer
   * its disk is. Throws ERR_FILE.
   */
  async spool(): Promise<Spool> {
    const folder = join(this.#stateFolder, spoolName);
    try {
      const [before] = await this.spoolIds();
      const id = before ?? randomUUID();
      await makeStateFolder(folder, this.#disk);
      await makeStateFolder(join(folder, id), this.#disk);
      // Another process may have made it just now.
      await syncFolder(folder, this.#disk, diskFacts);
      await syncFolder(this.#stateFolder, this.#disk, diskFacts);
      return { id, host: hostname() };
    } catch (error) {
      throw asFileError(error, folder, dirname(this.#stateFolder));
    }
  }

  async spoolIds(): Promise<readonly string[]> {
    return await namesIn(join(this.#stateFolder, spoolName), this.#disk);
  }

  async hasFolder(jobId: string): Promise<boolean> {
    for (const worker of await namesIn(this.#all, this.#disk)) {
      if (await exists(join(this.#all, worker, jobId), this.#disk)) {
        return true;
      }
    }
    return false;
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
    return (await notedMedia(this.of(jobId), this.#disk)).length > 0;
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

  /**
   * Makes the folder of a job's media, in one step, the one that becomes the package, if it has exactly these files; returns it. Undefined
   * if it does not: then nothing has changed.
   */
  async sealAll(jobId: string, names: readonly string[]): Promise<string | undefined> {
    const there = new Set(await this.#disk.readdir(this.of(jobId)));
    if (there.size !== names.length || !names.every((name) => there.has(name))) {
      return undefined;
    }
    const folder = join(this.#jobFolder(jobId), packageName);
    await this.#disk.rename(this.of(jobId), folder);
    return folder;
  }

  /** Whether `sealAll` was called for a job that has a folder. */
  async isSealed(jobId: string): Promise<boolean> {
    return !(await exists(this.of(jobId), this.#disk));
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

/** How much may wait on the disk of Node-RED until the packages are where they belong. */
export interface SpoolLimits {
  readonly bytes: number;
  /** So much stays free for everything else on that disk, but no more than a twentieth of it. */
  readonly freeBytes: number;
}

export const spoolLimits: SpoolLimits = { bytes: 64_000_000_000, freeBytes: 1_000_000_000 };

/** The room in a spool: media that are not where the packages are yet must not fill the disk of Node-RED. */
export class SpoolRoom {
  readonly #spool: { readonly folder: string; readonly disk: ArchiveDisk };
  readonly #packages: string;
  readonly #limits: SpoolLimits;
  readonly #usedBytes: () => number;

  /** `packages`: where these are, for people. `usedBytes`: how much the open jobs have. */
  constructor(
    spool: { readonly folder: string; readonly disk: ArchiveDisk },
    {
      packages,
      limits,
      usedBytes,
    }: { readonly packages: string; readonly limits: SpoolLimits; readonly usedBytes: () => number },
  ) {
    this.#spool = spool;
    this.#packages = packages;
    this.#limits = limits;
    this.#usedBytes = usedBytes;
  }

  /** Throws ERR_FILE if nothing more may be stored now. */
  async demand(): Promise<void> {
    const { folder, disk } = this.#spool;
    const { bytes, freeBytes } = this.#limits;
    const values = { path: folder, name: this.#packages };
    const used = this.#usedBytes();
    if (used >= bytes) {
      const [what, limit] = [megabytes(used), megabytes(bytes)];
      throw new DimensionerError("spoolFull", diskFacts, { ...values, what, limit });
    }
    // A disk that does not tell its space says itself when it is full.
    const space = await spaceOf(folder, disk).catch(() => undefined);
    const least = Math.min(freeBytes, (space?.totalBytes ?? 0) / 20);
    if (space !== undefined && space.freeBytes < least) {
      const [what, limit] = [megabytes(space.freeBytes), megabytes(least)];
      throw new DimensionerError("spoolReserve", diskFacts, { ...values, what, limit });
    }
  }
}

function megabytes(bytes: number): Phrase {
  return phrase("megabytes", { count: Math.round(bytes / 1e6) });
}

/** The folder of a job in the work folders of a worker. */
interface JobFolder {
  readonly folder: string;
  readonly media: string;
  /** Makes both. */
  make(): Promise<void>;
  /** Syncs both. */
  sync(): Promise<void>;
  /** Whether a file of this name is one of the job's media. */
  readonly isMedium: (name: string) => boolean;
}

/** In a job's folder, what another worker had of it, until it is sorted. */
const takenName = "of-";

/**
 * Takes the folders that other workers have of a job, each in one step, and keeps the media in them. What a worker that died meanwhile had
 * taken itself is sorted as well.
 */
async function takeFolders(others: readonly string[], job: JobFolder, disk: ArchiveDisk): Promise<void> {
  await sortTaken(job, disk);
  for (const other of others) {
    await takeFolder(other, job, disk);
  }
  await sortTaken(job, disk);
}

async function takeFolder(other: string, { folder, make }: JobFolder, disk: ArchiveDisk): Promise<void> {
  if (!(await exists(other, disk))) {
    return;
  }
  await make();
  try {
    await disk.rename(other, join(folder, `${takenName}${basename(dirname(other))}`));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") {
      throw error;
    }
  }
}

/** Named media, and those with a note of what they are, become those of the job, and the rest is removed. */
async function sortTaken(job: JobFolder, disk: ArchiveDisk): Promise<void> {
  if (!(await exists(job.folder, disk))) {
    return;
  }
  const names = await disk.readdir(job.folder);
  for (const name of names.filter((one) => one.startsWith(takenName))) {
    const taken = join(job.folder, name);
    await job.make();
    await moveMedia(taken, job, disk);
    await job.sync();
    await removeTree(taken, disk);
  }
}

async function moveMedia(from: string, job: JobFolder, disk: ArchiveDisk): Promise<void> {
  const names = await disk.readdir(from);
  // A note comes after its medium: a kill between the two does not take it from it.
  for (const name of names.toSorted((a, b) => Number(isNote(a)) - Number(isNote(b)))) {
    const path = join(from, name);
    if ((await disk.lstat(path)).isDirectory()) {
      await moveMedia(path, job, disk);
    } else if (job.isMedium(name) || isNote(name) || names.includes(noteOf(name))) {
      await disk.rename(path, join(job.media, name));
    }
  }
}

/** The end of a note's name, after that of its medium. No medium has this extension. */
const noteEnd = ".item";

/** The name of the note of a medium. */
function noteOf(name: string): string {
  return `${name}${noteEnd}`;
}

function isNote(name: string): boolean {
  return name.endsWith(noteEnd);
}

/**
 * Notes beside a medium of a device what it is, until the database has noted it: the device may not have it any more when the
 * process is started again. The folder is not synced. Throws ERR_FILE.
 */
export async function writeNote(
  folder: string,
  slot: string,
  item: StoredItem,
  disk: ArchiveDisk,
): Promise<void> {
  const path = join(folder, noteOf(item.path));
  try {
    await writeDurably(path, writeMediaNote([[slot, item]]), disk);
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** Removes the note of a medium; one that stays does no harm, because the database is asked first. */
export async function removeNote(folder: string, { path }: StoredItem, disk: ArchiveDisk): Promise<void> {
  await disk.unlink(join(folder, noteOf(path))).catch(() => undefined);
}

/** Reads the notes in a folder, by slot. What was not written to its end is none. Throws ERR_FILE. */
export async function readNotes(folder: string, disk: ArchiveDisk): Promise<ReadonlyMap<string, StoredItem>> {
  const notes = new Map<string, StoredItem>();
  try {
    for (const name of (await namesIn(folder, disk)).filter(isNote)) {
      const content = await readPlain(join(folder, name), disk, mostNoteBytes);
      for (const [slot, item] of typeof content === "string" ? [] : readMediaNote(content.toString())) {
        if (noteOf(item.path) === name) {
          notes.set(slot, item);
        }
      }
    }
  } catch (error) {
    throw asFileError(error, folder);
  }
  return notes;
}

async function notedMedia(folder: string, disk: ArchiveDisk): Promise<readonly string[]> {
  const names = new Set(await namesIn(folder, disk));
  return [...names].filter((name) => names.has(noteOf(name)));
}

/** Hashes the media in a folder that have a note; undefined for one that cannot be read. */
async function hashNotedMedia(folder: string, disk: ArchiveDisk): Promise<readonly (string | undefined)[]> {
  const hashes: (string | undefined)[] = [];
  for (const name of await notedMedia(folder, disk)) {
    hashes.push((await hashFile(join(folder, name), disk).catch(() => undefined))?.sha256);
  }
  return hashes;
}

/**
 * Tidies up the folders of workers whose lease has ended. A folder without a job is left alone for a day: a suspended process may be
 * accepting its message.
 */
export async function tidyEndedWorkers(work: WorkFolders, earlier: EarlierJobs): Promise<string[]> {
  const movedAside: string[] = [];
  for (const worker of await earlier.endedWorkers(await work.workers())) {
    const other = work.ofWorker(worker);
    const names = await other.list();
    const open = await earlier.open(names);
    const left = names.filter((name) => !open.has(name));
    movedAside.push(...(await tidyWork(other, earlier, left, dayMs)));
    await other.removeRoot();
  }
  return movedAside;
}

/**
 * Removes the work folders of jobs that have ended, and moves aside those of unknown jobs and those with media that are
 * nowhere else. Returns where these are. `names` are the folders that no open job has. A folder without a job that is younger than
 * `keepMs` stays.
 */
export async function tidyWork(
  work: WorkFolders,
  earlier: EarlierJobs,
  names: readonly string[],
  keepMs = 0,
): Promise<string[]> {
  const ended = await earlier.withoutMedia(names);
  const movedAside: string[] = [];
  for (const name of names) {
    const kept = ended.get(name);
    // A worker that had lost the job may have left a medium that is in the package, or one that is nowhere else.
    if (kept !== undefined && (await work.hasNotedOnly(name, kept))) {
      await work.remove(name);
      continue;
    }
    if (keepMs > 0 && Date.now() - (await work.changedAtMs(name)) < keepMs) {
      continue;
    }
    const path = await work.moveAside(name);
    if (path !== null) {
      movedAside.push(path);
    }
  }
  if (movedAside.length > 0) {
    await work.syncAside();
  }
  return movedAside;
}
