import type { FileHandle } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import type { Download } from "../model/download.ts";
import { BodyWriter } from "./body-writer.ts";
import type { CheckedContent } from "./content-check.ts";
import { cannotSync, diskError, fileError, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";

/** A download that is completely on the disk, and checked. */
export interface ReceivedFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly content: CheckedContent;
}

interface NewFile {
  readonly path: string;
  /** The folder that is missing if the path cannot be opened. */
  readonly folder: string;
  /** The name of the file in errors. */
  readonly about: string;
  readonly disk: Disk;
  /** Called for an unfinished file that could not be removed. */
  readonly onLeftover: (path: string) => void;
}

/**
 * Saves a download to a new file, which is checked, synced and closed; if that fails there is no file. The name is not
 * synced: that is left to the function that gives the file its final name.
 *
 * Throws ERR_FILE, ERR_BAD_RESPONSE (empty, a web page, cut short), and the download's own errors unchanged.
 */
export async function receiveFile(
  start: () => Promise<Download>,
  { path, folder, about, disk, onLeftover }: NewFile,
  facts: TransferFacts,
): Promise<ReceivedFile> {
  const explain = (error: unknown): unknown =>
    error instanceof ProblemError
      ? fileError("fileOther", about, facts, error.problem, error)
      : diskError(error, about, facts, folder);
  const file = await disk.open(path, "wx").catch((error: unknown) => {
    throw explain(error);
  });
  try {
    throwIfAborted(facts);
    const received = await transfer(start, file, facts);
    await syncFile(file);
    await checkSize(file, received.bytes);
    await file.close();
    throwIfAborted(facts);
    return received;
  } catch (error) {
    if (!(await discard(path, file, disk))) {
      onLeftover(path);
    }
    throw explain(error);
  }
}

/** Writes the body into the file, and restarts the download with an emptied file where that helps. */
async function transfer(
  start: () => Promise<Download>,
  file: FileHandle,
  facts: TransferFacts,
): Promise<ReceivedFile> {
  for (let download = await start(); ;) {
    const { body, source } = download;
    const writer = new BodyWriter(body, file);
    try {
      if (facts.signal !== undefined) {
        addAbortSignal(facts.signal, body);
      }
      const { bytes, sha256, content } = await writer.write();
      return { bytes, sha256, content: content.verdict(download.contentType, source) };
    } catch (error) {
      throwIfAborted(facts);
      if (error !== body.errored) {
        throw error;
      }
    }
    download = await download.restart();
    // Earlier bytes that a slow disk has not written yet would otherwise mix with the new ones.
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

/** Removes the unfinished file; returns false if the disk does not allow it. */
async function discard(path: string, file: FileHandle, disk: Disk): Promise<boolean> {
  const remove = (): Promise<boolean> =>
    disk.unlink(path).then(
      () => true,
      () => false,
    );
  const removed = await remove();
  await file.close().catch(() => undefined);
  // Some systems do not remove an open file.
  return removed || (await remove());
}
