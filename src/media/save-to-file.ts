import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Readable, addAbortSignal } from "node:stream";
import { finished } from "node:stream/promises";
import { ProblemError, phrase } from "../errors/interpolation.ts";
import type { Download } from "../model/download.ts";
import type { SavedFile } from "../model/shapes.ts";
import { guardedDisk } from "./disk-guard.ts";
import {
  type Disk,
  type TransferFacts,
  cannotSync,
  diskError,
  endWithAbort,
  fileError,
  throwIfAborted,
} from "./disk.ts";
import { newPartName, safeParts, suggestedName } from "./file-names.ts";
import { type CheckedContent, ContentCheck } from "./formats.ts";
import {
  type IfExists,
  type MediaFolders,
  checkRoot,
  createMediaFolders,
  makeSubfolders,
  placeFile,
  syncFolder,
} from "./place-file.ts";

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
      const { contentType, found } = content;
      return { path, bytes, sha256, contentType, ...(found === null && { recognized: false }) };
    } catch (error) {
      await disk.unlink(part).catch(() => folders.addLeftover(part));
      throw diskError(error, about, facts, folder);
    }
  } finally {
    await sweep;
  }
}

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

/** The bytes of one write. While the thread pool writes them, the main thread receives and hashes the next batch. */
const batchBytes = 1024 * 1024;
/** What a chunk counts for in addition to its bytes, so that many chunks of single bytes cannot pile up either. */
const chunkBytes = 256;
/** A file is synced after each so many bytes, so that little is left to sync at its end. */
const syncEveryBytes = 64 * 1024 * 1024;
/**
 * If a sync takes longer than this, more of them would only delay the writing: the file is then synced at its end only.
 */
const slowSyncMs = 500;

/** What was written. */
export interface WrittenBody {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly content: ContentCheck;
}

/**
 * Writes a body to an empty open file, and hashes and checks it at the same time. One batch is being written while the
 * next one is gathered; the body is paused while both are full, so that two batches are the most that is in memory,
 * whatever the size. The hashed memory is the one that is written, and nothing else writes to it.
 */
export class BodyWriter {
  readonly #body: Readable;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  readonly #content = new ContentCheck();
  /** Rejects with the first error of a sync. */
  readonly #failure = Promise.withResolvers<never>();
  readonly #sync: EarlySync;
  #bytes = 0;
  #batch: Batch = { chunks: [], position: 0, weight: 0 };
  #writing = Promise.resolve();
  #isStopped = false;

  constructor(body: Readable, file: FileHandle) {
    this.#body = body;
    this.#file = file;
    this.#sync = new EarlySync(file, this.#failure.reject);
  }

  /**
   * Writes the whole body, once; its last bytes are not synced yet. Throws the error of the body, also while the disk
   * hangs, and the errors of the disk. The body is destroyed then.
   */
  async write(): Promise<WrittenBody> {
    const { promise: failure, reject: fail } = this.#failure;
    // A loop over the body (`for await`) would take a turn of the event loop, and garbage, for each chunk.
    this.#body.on("data", (chunk: unknown) => {
      if (chunk instanceof Uint8Array) {
        this.#take(chunk);
      } else {
        fail(new TypeError("The body of a download must be a stream of bytes."));
      }
    });
    // A body that was paused before would otherwise stay paused.
    this.#body.resume();
    try {
      await Promise.race([finished(this.#body, { writable: false }), failure]);
      await Promise.race([this.#flush(), failure]);
      await Promise.race([Promise.all([this.#writing, this.#sync.running]), failure]);
    } finally {
      this.#body.destroy();
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex"), content: this.#content };
  }

  /**
   * Stops writing, and waits until the disk has finished what it was given, so that the file can be used otherwise.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled([this.#writing, this.#sync.running]);
  }

  #take(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#content.update(chunk);
    this.#batch.chunks.push(chunk);
    this.#batch.weight += chunk.byteLength + chunkBytes;
    this.#bytes += chunk.byteLength;
    if (this.#batch.weight >= batchBytes) {
      this.#body.pause();
      this.#flush().then(() => this.#body.resume(), this.#failure.reject);
    }
  }

  /** Writes the gathered chunks after those that are being written. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#sync.startIfDue(this.#batch.position);
    this.#writing = this.#writeBatch(this.#batch);
    this.#writing.catch(this.#failure.reject);
    this.#batch = { chunks: [], position: this.#bytes, weight: 0 };
  }

  /** Writes the chunks and frees their memory. */
  async #writeBatch({ chunks, position: start }: Batch): Promise<void> {
    let position = start;
    for (let left = chunks; left.length > 0 && !this.#isStopped;) {
      const { bytesWritten } = await this.#file.writev(left, position);
      if (bytesWritten === 0) {
        throw new ProblemError(phrase("diskTakesNothing"));
      }
      position += bytesWritten;
      left = afterBytes(left, bytesWritten);
    }
    if (this.#body instanceof ReceivedBody) {
      for (const chunk of chunks) {
        this.#body.release(chunk);
      }
    }
  }
}

/** Chunks that are written with one call. */
interface Batch {
  readonly chunks: Uint8Array[];
  /** Where in the file they begin. */
  readonly position: number;
  weight: number;
}

/** The chunks that a short write has not written. */
function afterBytes(chunks: Uint8Array[], bytesWritten: number): Uint8Array[] {
  let passed = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (passed + chunk.byteLength > bytesWritten) {
      return [chunk.subarray(bytesWritten - passed), ...chunks.slice(index + 1)];
    }
    passed += chunk.byteLength;
  }
  return [];
}

/** Syncs a file while it is being written, one sync at a time. */
class EarlySync {
  readonly #file: FileHandle;
  readonly #onFailure: (error: unknown) => void;
  #dueAtBytes = syncEveryBytes;
  running = Promise.resolve();

  constructor(file: FileHandle, onFailure: (error: unknown) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  startIfDue(writtenBytes: number): void {
    if (writtenBytes >= this.#dueAtBytes) {
      this.#dueAtBytes = Number.POSITIVE_INFINITY;
      this.running = this.#sync(writtenBytes).catch(this.#onFailure);
    }
  }

  async #sync(writtenBytes: number): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#file.datasync();
    } catch (error) {
      // Another sync would not report the failure again: systems report lost bytes only once.
      if (!cannotSync(error)) {
        throw error;
      }
    }
    if (performance.now() - startedAt < slowSyncMs) {
      this.#dueAtBytes = writtenBytes + syncEveryBytes;
    }
  }
}

/**
 * The body of a download as it arrives from a connection. Node.js reads each 64 KB of it into new memory. If the
 * garbage collector had to free it, it would walk through all of Node-RED's memory after every 30 to 60 MB. So whoever
 * has written a chunk to the disk frees its memory at once.
 */
export class ReceivedBody extends Readable {
  /**
   * Frees the memory of a chunk, which is empty afterwards. The garbage collector keeps its task for a chunk that is
   * only a part of what was read at once, and for all chunks while somebody besides the one reader listens, who may
   * keep them.
   */
  release({ buffer, byteLength }: Uint8Array): void {
    const isAllOfIt = buffer.byteLength === byteLength;
    if (isAllOfIt && buffer instanceof ArrayBuffer && this.listenerCount("data") <= 1) {
      buffer.transfer(0);
    }
  }
}

/**
 * Calls `begun` now and at each restart of the download, when its headers have arrived: what is told then holds for the bytes
 * that follow. If `begun` throws, the transfer is ended and the download fails with that error.
 */
export function eachTransfer(download: Download, begun: () => void): Download {
  const { contentType, contentLength, framing, suggestedName, source, body } = download;
  try {
    begun();
  } catch (error) {
    body.destroy();
    throw error;
  }
  return {
    contentType,
    contentLength,
    framing,
    suggestedName,
    source,
    body,
    restart: async () => eachTransfer(await download.restart(), begun),
  };
}
