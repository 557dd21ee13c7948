import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { systemCode, throwIfAborted, type TransferFacts } from "../../media/disk.ts";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import { isAbsent, plainDisk, type ReadDisk, type ReadFile } from "../archive-disk.ts";
import { largestManifestBytes, readManifest, type Manifest } from "./manifest.ts";
import { sha256Of } from "../../model/sha256.ts";

const blockBytes = 1024 * 1024;
/** A file may be replaced by a link or a pipe: neither is followed or waited for. */
const plainRead = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A disk whose files are of one kind. */
interface OpensFiles<File extends ReadFile> extends Pick<ReadDisk, "open"> {
  open(path: string, flags: number): Promise<File>;
}

/** The length and hash of a file. */
export interface FoundFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** A manifest on the disk, with its hash. */
export interface FoundManifest {
  readonly manifest: Manifest;
  readonly sha256: string;
}

/** Hashes a file in blocks. Undefined if it is missing or not a regular file; one of more than `most` bytes is not read further, and has no hash. */
export async function hashFile(
  path: string,
  disk: OpensFiles<ReadFile>,
  facts?: TransferFacts,
  most = Infinity,
): Promise<FoundFile | undefined> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return undefined;
  }
  const hash = createHash("sha256");
  let bytes = 0;
  let ahead: Promise<{ readonly bytesRead: number }> | undefined;
  try {
    const { size } = await file.stat();
    if (size > most) {
      return { bytes: size, sha256: "" };
    }
    const read = (block: Buffer, position: number): Promise<{ readonly bytesRead: number }> =>
      file.read(block, 0, block.length, position);
    // One byte more than the file has, so that a single read is enough for most files.
    let block: Buffer = Buffer.allocUnsafe(Math.min(size + 1, blockBytes));
    let other: Buffer | undefined;
    ahead = read(block, 0);
    for (;;) {
      if (facts !== undefined) {
        throwIfAborted(facts);
      }
      const { bytesRead } = await ahead;
      if (bytesRead === 0) {
        return { bytes, sha256: hash.digest("hex") };
      }
      bytes += bytesRead;
      if (bytes > most) {
        return { bytes, sha256: "" };
      }
      // The next block is read while this one is hashed: another core does that, and the disk does not wait.
      other ??= Buffer.allocUnsafe(bytes < size ? blockBytes : 1);
      const full = block;
      block = other;
      ahead = read(block, bytes);
      hash.update(full.subarray(0, bytesRead));
      other = full;
    }
  } finally {
    await ahead?.catch(() => undefined);
    await file.close();
  }
}

/** "none" if there is no such file, "damaged" if it is not a valid manifest. */
export async function loadManifest(
  path: string,
  disk: OpensFiles<ReadFile>,
): Promise<FoundManifest | "damaged" | "none"> {
  const content = await readPlain(path, disk, largestManifestBytes);
  if (content === "none") {
    return "none";
  }
  const manifest = content === "too-large" ? undefined : readManifest(content.toString());
  return manifest === undefined || content === "too-large"
    ? "damaged"
    : { manifest, sha256: sha256Of(content) };
}

/** The content of a file; "none" if there is no regular file at this path, "too-large" if it has more bytes than `most`. */
export async function readPlain(
  path: string,
  disk: OpensFiles<ReadFile>,
  most: number,
): Promise<Buffer | "none" | "too-large"> {
  const file = await openPlain(path, disk);
  try {
    return file === undefined ? "none" : ((await readWhole(file, most)) ?? "too-large");
  } finally {
    await file?.close();
  }
}

/** The content of a small file that somebody has named. Throws a ProblemError that says that there is none, or that it is too large. */
export async function readNamedFile(path: string, most: number): Promise<Buffer> {
  const content = await readPlain(path, plainDisk, most);
  if (typeof content === "string") {
    const limit = phrase("megabytes", { count: Math.floor(most / 1_000_000) });
    throw new ProblemError(content === "none" ? phrase("fileNone") : phrase("bodyLarge", { limit }));
  }
  return content;
}

/** The content of an open file; undefined if it has more bytes than `most`, whatever its length is said to be. */
export async function readWhole(
  file: Pick<ReadFile, "read" | "stat">,
  most: number,
): Promise<Buffer | undefined> {
  const { size } = await file.stat();
  if (size > most) {
    return undefined;
  }
  const blocks: Buffer[] = [];
  // One byte more than the file has, so that a single read is enough for most files. A length may be announced that never comes.
  for (let bytes = 0, block = Buffer.allocUnsafe(Math.min(size + 1, blockBytes)); bytes <= most;) {
    const { bytesRead } = await file.read(block, 0, block.length, bytes);
    if (bytesRead === 0) {
      return blocks.length === 1 ? blocks[0] : Buffer.concat(blocks);
    }
    blocks.push(block.subarray(0, bytesRead));
    bytes += bytesRead;
    block = Buffer.allocUnsafe(bytes < size ? Math.min(size - bytes + 1, blockBytes) : 1);
  }
  return undefined;
}

/** Undefined if there is no regular file at this path. */
export async function openPlain<const File extends ReadFile>(
  path: string,
  disk: OpensFiles<File>,
): Promise<File | undefined> {
  let file: File;
  try {
    file = await disk.open(path, plainRead);
  } catch (error) {
    const code = systemCode(error);
    if (isAbsent(error) || code === "ELOOP" || code === "ENXIO") {
      return undefined;
    }
    throw error;
  }
  let isPlain = false;
  try {
    isPlain = (await file.stat()).isFile();
    return isPlain ? file : undefined;
  } finally {
    if (!isPlain) {
      await file.close();
    }
  }
}
