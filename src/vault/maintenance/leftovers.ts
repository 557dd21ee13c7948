import { join } from "node:path";
import type { ArchiveNote } from "../../model/archive-reports.ts";
import {
  exists,
  isAbsent,
  namesIn,
  stateFolderName,
  workFolderName,
  type ReadDisk,
} from "../archive-disk.ts";

/** A medium that is stored for other workers is named by its SHA-256. */
export const stagedFileName = /^[0-9a-f]{64}$/;

/**
 * Finds what the state folder of an archive contains besides the log of deleted packages: work on open jobs, by store,
 * and folders that were moved aside. `known` is the only store that still has a database; undefined if that is not
 * known.
 */
export async function findLeftovers(root: string, disk: ReadDisk, known?: string): Promise<ArchiveNote[]> {
  const state = join(root, stateFolderName);
  const notes: ArchiveNote[] = [];
  let staged = 0;
  const work = join(state, workFolderName);
  for (const store of await foldersIn(work, disk)) {
    const jobs = (await foldersIn(join(work, store), disk)).length;
    // In a bucket, it is the folder of a job, with the media themselves in it.
    const names = jobs === 0 ? await namesIn(join(work, store), disk) : [];
    staged += names.some((name) => stagedFileName.test(name)) ? 1 : 0;
    if (jobs > 0) {
      const text = `the media of ${count(jobs, "open job")} of the store ${store} are here; ${
        known === undefined || known === store
          ? "Node-RED continues with them as long as it has the database of that store"
          : "only the database of that store knows which jobs they belong to"
      }`;
      notes.push({ kind: "work", path: `${stateFolderName}/${workFolderName}/${store}`, text });
    }
  }
  if (staged > 0) {
    const text = `media of ${count(staged, "job")} are here, for other workers to continue with; dimensioner prune removes those of jobs that have ended, or that the database does not know`;
    notes.push({ kind: "work", path: `${stateFolderName}/${workFolderName}`, text });
  }
  for (const [name, kind, text] of [
    ["aside", "aside", "moved aside: it belongs to no open job. Check whether it is needed, then delete it"],
    ["given-up", "earlier-version", "media of jobs that version 0.1 gave up"],
    ["trash", "trash", "deleted packages that the next dimensioner prune removes, unless they are on hold"],
  ] as const) {
    const entries = (await foldersIn(join(state, name), disk)).length;
    if (entries > 0) {
      notes.push({ kind, path: `${stateFolderName}/${name}`, text: `${count(entries, "folder")}: ${text}` });
    }
  }
  if (await exists(join(state, "journal.jsonl"), disk)) {
    const text = "the journal of version 0.1, which is no longer used and can be deleted";
    notes.push({ kind: "earlier-version", path: `${stateFolderName}/journal.jsonl`, text });
  }
  return notes;
}

/** The names of the folders in a folder, without links. */
async function foldersIn(folder: string, disk: ReadDisk): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await disk.opendir(folder)) {
      if (entry.isDirectory()) {
        names.push(entry.name);
      }
    }
  } catch (error) {
    if (!isAbsent(error)) {
      throw error;
    }
  }
  return names.sort();
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}
