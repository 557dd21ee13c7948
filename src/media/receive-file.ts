import type { FileHandle } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import type { Download } from "../model/download.ts";
import { BodyWriter } from "./body-writer.ts";
import type { CheckedContent } from "./content-check.ts";
import { cannotSync, diskError, fileError, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";

/** A download that is on the disk, whole and verified. */
export interface ReceivedFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly content: CheckedContent;
}

interface NewFile {
  readonly path: string;
  /** The folder that is missing where the path cannot be opened. */
  readonly folder: string;
  /** What errors call it. */
  readonly about: string;
  readonly disk: Disk;
  /** Told of an unfinished file that could not be removed. */
  readonly onLeft: (path: string) => void;
}

/**
 * Runs a download into a new file, which is checked, synced and closed afterwards; where that fails there is no file. The name is
 * not synced: that is for whoever gives the file its last one.
 *
 * Throws ERR_FILE, ERR_BAD_RESPONSE (empty, a web page, cut short) and, untouched, what the download rejects with.
 */
export async function receiveFile(
  start: () => Promise<Download>,
  { path, folder, about, disk, onLeft }: NewFile,
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
      onLeft(path);
    }
    throw explain(error);
  }
}

/** Brings the body into the file; one that fails and may begin again does so, in the emptied file. */
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

/** Removes the unfinished file; false where the disk does not let it. */
async function discard(path: string, file: FileHandle, disk: Disk): Promise<boolean> {
  const remove = (): Promise<boolean> =>
    disk.unlink(path).then(
      () => true,
      () => false,
    );
  const removed = await remove();
  await file.close().catch(() => undefined);
  // Some systems remove no open file.
  return removed || (await remove());
}
