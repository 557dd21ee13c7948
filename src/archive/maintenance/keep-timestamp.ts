import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import { sha256Of } from "../../model/sha256.ts";
import {
  diskFacts,
  makeStateFolder,
  removeTree,
  stateFolderName,
  writeDurably,
  type ArchiveDisk,
} from "../archive-disk.ts";
import { addLines } from "../files/checked-lines.ts";
import {
  filesOfTimestamp,
  timestampLogName,
  timestampsName,
  type KeptTimestamp,
  type LoggedTimestamp,
} from "./timestamp-folder.ts";

/** A folder that is being written is hidden; what a kill leaves of it goes when it is this old. */
const unfinishedPrefix = ".unfinished-";
const unfinishedMs = 24 * 3_600_000;

/**
 * Keeps a time stamp in the archive's own folder; resolves when it is on the disk. Throws the system's error; then
 * nothing is kept.
 */
export async function keepTimestamp(root: string, kept: KeptTimestamp, disk: ArchiveDisk): Promise<void> {
  const { name, about, response } = kept;
  const state = join(root, stateFolderName);
  const folder = join(state, timestampsName);
  await makeStateFolder(state, disk);
  if (await makeStateFolder(folder, disk)) {
    await syncFolder(state, disk, diskFacts);
  }
  await removeUnfinished(folder, disk);
  const unfinished = join(folder, `${unfinishedPrefix}${randomUUID()}`);
  try {
    await disk.mkdir(unfinished);
    for (const [file, content] of filesOfTimestamp(kept)) {
      await writeDurably(join(unfinished, file), content, disk);
    }
    await syncFolder(unfinished, disk, diskFacts);
    await disk.rename(unfinished, join(folder, name));
  } catch (error) {
    await removeTree(unfinished, disk).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder, disk, diskFacts);
  // Only now: a line without its time stamp is reported as a loss.
  const line = {
    at: about.received,
    timestamp: name,
    package: about.package,
    response: sha256Of(response),
  };
  await addLines(join(state, timestampLogName), [line satisfies LoggedTimestamp], disk);
}

/** When a folder has changed; infinite if it has got its name meanwhile, as that of another process does. */
async function changedAtMs(path: string, disk: ArchiveDisk): Promise<number> {
  try {
    return (await disk.lstat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return Infinity;
    }
    throw error;
  }
}

async function removeUnfinished(folder: string, disk: ArchiveDisk): Promise<void> {
  for (const name of await disk.readdir(folder)) {
    if (name.startsWith(unfinishedPrefix)) {
      const path = join(folder, name);
      if ((await changedAtMs(path, disk)) < Date.now() - unfinishedMs) {
        await removeTree(path, disk);
      }
    }
  }
}
