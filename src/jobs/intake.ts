/** Takes the media that messages bring into the work folder of their job. */
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, phrase, verbatim } from "../errors/interpolation.ts";
import { guardedDisk } from "../media/disk-guard.ts";
import { systemCode } from "../media/disk.ts";
import type { Download } from "../model/download.ts";
import { type ArchiveDisk, asFileError, diskFacts, stateFolderName } from "../vault/archive-disk.ts";
import type { Intent, StoredItem } from "../vault/packages/intent.ts";
import { openPlain } from "../vault/packages/package-files.ts";
import { type JobStore, reserveName, storeItem } from "./collect.ts";
import { isVideo, otherParcelsVideo } from "./completeness.ts";
import { messageSlot } from "./job-rows.ts";

/** A medium of a message: its bytes, or a file that one of the fetch nodes has saved. */
export interface GivenMedium {
  readonly content: Uint8Array | { readonly path: string; readonly bytes: number; readonly sha256: string };
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly description: string | null;
  /** A file name, with or without folders and extension. */
  readonly filename: string | null;
}

const pieceBytes = 256 * 1024;

/** What is needed to add the media of a message to a job. */
interface GivenOptions {
  /** The names of files that the package has already. */
  readonly used: Set<string>;
  /** The position of the message in its sequence. */
  readonly position: number;
  /** The folders in which a message may name files. */
  readonly outputFolders: () => Promise<readonly string[]>;
  /** What their message says of its recording. */
  readonly recording: Intent["recording"];
  readonly signal: AbortSignal;
}

/**
 * Stores a message's media in the job's work folder. Files are copied, not linked, because a link would show whatever a
 * flow later writes to the original.
 */
export async function storeGivenMedia(
  store: JobStore,
  jobId: string,
  media: readonly GivenMedium[],
  options: GivenOptions,
): Promise<Map<string, StoredItem>> {
  const { position } = options;
  const items = new Map<string, StoredItem>();
  await store.work.make(jobId);
  for (const [index, medium] of media.entries()) {
    const slot = messageSlot(position, media.length === 1 ? null : index);
    items.set(slot, await storeOne(store, jobId, medium, options));
  }
  // They cannot be sent again once their message was accepted, so their names are synced.
  await store.work.sync(jobId);
  return items;
}

async function storeOne(
  to: JobStore,
  jobId: string,
  medium: GivenMedium,
  { used, outputFolders, recording, signal }: GivenOptions,
): Promise<StoredItem> {
  const { content, contentType, contentId, description } = medium;
  const remove = async (item: StoredItem): Promise<void> =>
    to.disk.unlink(join(to.work.of(jobId), item.path)).catch(() => undefined);
  const store = async (path: string | null, start: () => Promise<Download>): Promise<StoredItem> => {
    const base = reserveName(used, description ?? stemOf(medium.filename ?? path) ?? contentId ?? "item");
    const facts = { source: "message", contentId, description, url: null, base } as const;
    const item = await storeItem(to, jobId, start, facts, { surface: "disk", host: "msg.payload", signal });
    const whose = otherParcelsVideo({ recording });
    // A failed measurement leaves the parcel's own recording waiting.
    if (whose !== undefined && whose !== "waiting" && isVideo(item)) {
      await remove(item);
      throw new DimensionerError("inputOthersVideo", diskFacts, { value: whose });
    }
    return item;
  };
  if (content instanceof Uint8Array) {
    return await store(null, sendBytes(content, contentType));
  }
  const { path } = content;
  const file = await open(content, await outputFolders());
  try {
    const item = await store(path, sendFile(file, path, contentType));
    if (content.sha256 !== item.sha256 || content.bytes !== item.bytes) {
      await remove(item);
      throw refuse(path, phrase("fileChanged"));
    }
    return item;
  } finally {
    await file.close().catch(() => undefined);
  }
}

/**
 * A message that names a file has to know its size and hash, and the file has to be one that a node has saved: no
 * message can make the archive copy or reveal what it could not read itself.
 */
async function open(
  { path, bytes }: { path: string; bytes: number },
  folders: readonly string[],
): Promise<FileHandle> {
  try {
    const file = await openSavedFile(path, folders);
    if (file === undefined) {
      throw refuse(path, phrase("notSaved"));
    }
    const { size } = await file.stat();
    if (size !== bytes) {
      await file.close();
      throw refuse(path, phrase("fileChanged"));
    }
    return file;
  } catch (error) {
    throw asFileError(error, path);
  }
}

function stemOf(filename: string | null): string | null {
  if (filename === null) {
    return null;
  }
  const name = basename(filename.replaceAll("\\", "/"));
  return name.slice(0, name.length - extname(name).length) || null;
}

function sendBytes(bytes: Uint8Array, contentType: string | null): () => Promise<Download> {
  function* pieces(): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  return async () => asDownload(pieces(), contentType);
}

function sendFile(file: FileHandle, path: string, contentType: string | null): () => Promise<Download> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (let bytes = 0; ;) {
        const piece = Buffer.allocUnsafe(pieceBytes);
        const { bytesRead } = await file.read(piece, 0, piece.length, bytes);
        if (bytesRead === 0) {
          return;
        }
        bytes += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    } catch (error) {
      throw asFileError(error, path);
    }
  }
  return async () => asDownload(pieces(), contentType);
}

/** Presents bytes that need no transfer as a download. */
function asDownload(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  contentType: string | null,
): Download {
  const body = Readable.from(pieces, { objectMode: false });
  return {
    contentType,
    contentLength: null,
    framing: "length",
    suggestedName: "item",
    source: diskFacts,
    body,
    restart: () => Promise.reject(body.errored ?? new Error("It has not failed.")),
  };
}

function refuse(value: string, problem: Phrase): DimensionerError {
  const field = verbatim("msg.payload.path");
  return new DimensionerError("inputValue", diskFacts, { field, value, problem });
}

/** How many links are followed, as in Linux. */
const mostLinks = 40;

/**
 * Opens a file that a message names. Undefined unless it is a regular file in one of these folders: nothing outside of
 * them is accessed, and no link is followed out of them.
 */
async function openSavedFile(path: string, folders: readonly string[]): Promise<FileHandle | undefined> {
  if (!isAbsolute(path) || path.includes("\0")) {
    return undefined;
  }
  const folder = folders.map((one) => resolve(one)).find((one) => isBelow(path, one));
  if (folder === undefined) {
    return undefined;
  }
  const disk = guardedDisk(folder);
  const real = await realPathBelow(folder, relative(folder, resolve(path)), disk);
  return real === undefined ? undefined : await openPlain(real, disk);
}

/** Resolves the links of a path; undefined if it does not exist or leads out of the folder. */
async function realPathBelow(folder: string, path: string, disk: ArchiveDisk): Promise<string | undefined> {
  try {
    const root = await disk.realpath(folder);
    let current = root;
    let parts = path.split(sep);
    for (let links = 0; parts.length > 0;) {
      const [part = "", ...rest] = parts;
      const next = join(current, part);
      if (part === stateFolderName) {
        return undefined;
      }
      if (!(await disk.lstat(next)).isSymbolicLink()) {
        current = next;
        parts = rest;
        continue;
      }
      links += 1;
      const target = resolve(dirname(next), await disk.readlink(next));
      const base = [root, folder].find((one) => isBelow(target, one));
      // A folder may be a link to another one in the folder; a saved file is never a link itself.
      if (base === undefined || rest.length === 0 || links > mostLinks) {
        return undefined;
      }
      current = root;
      parts = [...relative(base, target).split(sep), ...rest];
    }
    return current;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EINVAL" || code === "ENAMETOOLONG") {
      return undefined;
    }
    throw error;
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, resolve(path));
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
