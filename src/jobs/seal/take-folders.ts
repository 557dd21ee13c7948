import { basename, dirname, join } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { isNote, noteOf } from "./item-notes.ts";
import { exists, removeTree, type ArchiveDisk } from "../../vault/archive-disk.ts";

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
export async function takeFolders(
  others: readonly string[],
  job: JobFolder,
  disk: ArchiveDisk,
): Promise<void> {
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
