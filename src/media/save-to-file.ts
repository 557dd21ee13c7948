import { join } from "node:path";
import type { Download } from "../model/download.ts";
import type { SavedFile } from "../model/shapes.ts";
import { diskError, endWithAbort, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";
import { guardedDisk } from "./disk-guard.ts";
import { newPartName, safeParts, suggestedName } from "./file-names.ts";
import { createMediaFolders, type MediaFolders } from "./media-folders.ts";
import { placeFile, type IfExists } from "./place-file.ts";
import { receiveFile } from "./receive-file.ts";
import { checkRoot, makeSubfolders, syncFolder } from "./target-folder.ts";

/** Where a download is to be saved. */
export interface FileTarget {
  /** The root folder: it must exist, and nothing is saved outside it. */
  folder: string;
  /**
   * A name from a message, which may contain sub-folders. If it is not given: `suggestedBase` with an extension by
   * content.
   */
  filename?: string | undefined;
  suggestedBase: string;
  ifExists: IfExists;
}

/** The facts of the transfer, and the state that is shared with the other saves of the process. */
export interface SaveFacts extends TransferFacts {
  folders?: MediaFolders;
  disk?: Disk;
}

/**
 * Saves a download to a file. Under its final name the file is complete and checked, or it does not exist: the bytes go
 * to a hidden name in the same folder, are checked and synced, and only then get their final name.
 *
 * Throws ERR_CONFIG (blank folder), ERR_INPUT (the file name is not valid; nothing was sent), ERR_FILE,
 * ERR_BAD_RESPONSE (empty, a web page, cut short), and the download's own errors unchanged.
 */
export async function saveToFile(
  start: () => Promise<Download>,
  target: FileTarget,
  facts: SaveFacts,
): Promise<SavedFile> {
  return await endWithAbort(save(start, target, facts), facts);
}

async function save(
  start: () => Promise<Download>,
  target: FileTarget,
  facts: SaveFacts,
): Promise<SavedFile> {
  const { disk = guardedDisk(target.folder), folders = createMediaFolders() } = facts;
  throwIfAborted(facts);
  const parts = target.filename === undefined ? [] : safeParts(target.filename, facts);
  const root = await checkRoot(target.folder, disk, facts);
  const folder = await makeSubfolders(root, parts.slice(0, -1), disk, facts);
  const givenName = parts.at(-1);
  /** The name of the file in errors until the content decides the extension. */
  const about = join(
    folder,
    givenName ?? suggestedName(target.suggestedBase, "part").slice(0, -".part".length),
  );
  const part = join(folder, newPartName());

  const sweep = folders.sweep(folder, disk);
  try {
    const onLeftover = (path: string): void => folders.addLeftover(path);
    const received = await receiveFile(start, { path: part, folder, about, disk, onLeftover }, facts);
    try {
      const { bytes, sha256, content } = received;
      const name = givenName ?? suggestedName(target.suggestedBase, content.extension);
      const path = await placeFile({ part, folder, name, ifExists: target.ifExists, disk, facts });
      await disk.unlink(part).catch(() => undefined);
      await syncFolder(folder, disk, facts);
      return { path, bytes, sha256, contentType: content.contentType };
    } catch (error) {
      await disk.unlink(part).catch(() => folders.addLeftover(part));
      throw diskError(error, about, facts, folder);
    }
  } finally {
    await sweep;
  }
}
