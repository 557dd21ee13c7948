import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import type { Download } from "../model/download.ts";
import type { SavedFile } from "../model/shapes.ts";
import type { CheckedContent } from "./content-check.ts";
import {
  cannotSync,
  diskError,
  endWithAbort,
  fileError,
  throwIfAborted,
  type Disk,
  type TransferFacts,
} from "./disk.ts";
import { guardedDisk } from "./disk-guard.ts";
import { newPartName, safeParts, suggestedName } from "./file-names.ts";
import { createMediaFolders, type MediaFolders } from "./media-folders.ts";
import { placeFile, type IfExists } from "./place-file.ts";
import { checkRoot, makeSubfolders, syncFolder } from "./target-folder.ts";
import { BodyWriter } from "./body-writer.ts";

/** Where a download is to be saved. */
export interface FileTarget {
  /** The root: it must be there, and nothing is saved outside it. */
  folder: string;
  /** As a message gave it, perhaps with sub-folders. Not given: `suggestedBase` with an extension by content. */
  filename?: string | undefined;
  suggestedBase: string;
  ifExists: IfExists;
}

/** What a save knows of its transfer, and what it shares with the other saves of the process. */
export interface SaveFacts extends TransferFacts {
  folders?: MediaFolders;
  disk?: Disk;
}

/**
 * Runs a download into a file. Under its final name the file is whole and verified, or it is not there at all: the
 * bytes go to a hidden name in the same folder, are checked and synced, and only then get their name.
 *
 * Throws ERR_CONFIG (blank folder), ERR_INPUT (a filename that can't be used; nothing was sent), ERR_FILE,
 * ERR_BAD_RESPONSE (empty, a web page, cut short) and, untouched, what the download rejects with.
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
  /** What errors call it as long as the content has not decided the extension. */
  const about = join(
    folder,
    givenName ?? suggestedName(target.suggestedBase, "part").slice(0, -".part".length),
  );
  const part = join(folder, newPartName());

  const sweep = folders.sweep(folder, disk);
  try {
    const file = await disk.open(part, "wx").catch((error: unknown) => {
      throw diskError(error, about, facts, folder);
    });
    try {
      throwIfAborted(facts);
      const { contentType, content, ...written } = await transfer(start, file, facts);
      await syncFile(file);
      await checkSize(file, written.bytes);
      await file.close();
      throwIfAborted(facts);
      const name = givenName ?? suggestedName(target.suggestedBase, content.extension);
      const path = await placeFile({ part, folder, name, ifExists: target.ifExists, disk, facts });
      await disk.unlink(part).catch(() => undefined);
      await syncFolder(folder, disk, facts);
      return { path, bytes: written.bytes, sha256: written.sha256, contentType };
    } catch (error) {
      await discard(part, file, disk, folders);
      throw error instanceof ProblemError
        ? fileError("fileOther", about, facts, error.problem, error)
        : diskError(error, about, facts, folder);
    }
  } finally {
    await sweep;
  }
}

/** Brings the body into the file; one that fails and may begin again does so, in the emptied file. */
async function transfer(
  start: () => Promise<Download>,
  file: FileHandle,
  facts: TransferFacts,
): Promise<{ bytes: number; sha256: string; contentType: string; content: CheckedContent }> {
  for (let download = await start(); ;) {
    const { body, source } = download;
    const writer = new BodyWriter(body, file);
    try {
      if (facts.signal !== undefined) {
        addAbortSignal(facts.signal, body);
      }
      const { bytes, sha256, content } = await writer.write();
      const checked = content.verdict(download.contentType, source);
      return { bytes, sha256, contentType: checked.contentType, content: checked };
    } catch (error) {
      throwIfAborted(facts);
      if (error !== body.errored) {
        throw error;
      }
    }
    download = await download.restart();
    // What a slow disk has not taken yet would otherwise come between the new bytes.
    await writer.stop();
    await file.truncate(0);
  }
}

async function checkSize(file: FileHandle, bytes: number): Promise<void> {
  const { size } = await file.stat();
  if (size !== bytes) {
    throw new ProblemError(phrase("bytesOnDisk", { bytes: size, total: bytes }));
  }
}

async function syncFile(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!cannotSync(error)) {
      throw error;
    }
  }
}

/** Removes the unfinished file, later where the disk does not let it now. */
async function discard(part: string, file: FileHandle, disk: Disk, folders: MediaFolders): Promise<void> {
  const removed = await disk.unlink(part).then(
    () => true,
    () => false,
  );
  await file.close().catch(() => undefined);
  // Some systems remove no open file.
  if (!removed) {
    await disk.unlink(part).catch(() => folders.leave(part));
  }
}
