import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { systemCode, throwIfAborted, type TransferFacts } from "../../media/disk.ts";
import { isAbsent, type ReadDisk, type ReadFile } from "../archive-disk.ts";
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

/** Hashes a file in blocks. Undefined if it is missing or not a regular file. */
export async function hashFile(
  path: string,
  disk: OpensFiles<ReadFile>,
  facts?: TransferFacts,
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
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return "none";
  }
  try {
    const { size } = await file.stat();
    if (size > largestManifestBytes) {
      return "damaged";
    }
    const content = await file.readFile();
    const manifest = readManifest(content.toString());
    if (manifest === undefined) {
      return "damaged";
    }
    return { manifest, sha256: sha256Of(content) };
  } finally {
    await file.close();
  }
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
