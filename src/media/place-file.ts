import { type Stats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { sha256Of } from "../model/sha256.ts";
import { timedOut } from "./disk-guard.ts";
import {
  type Disk,
  type TransferFacts,
  cannotSync,
  diskError,
  fileError,
  systemCode,
  throwIfAborted,
  timeInFolder,
} from "./disk.ts";
import { isOwnPart, numberedName, numbersInUse, partName } from "./file-names.ts";
import { dayMs, hourMs } from "../time/clocks.ts";

/** What to do if the name is taken by other content. */
export type IfExists = "error" | "rename" | "replace";

const mostNumbers = 100_000;
const claimPollMs = 20;
/** A claim that nobody has touched for so long is that of a process that is gone. */
const claimStaleMs = 6_000;
/** A claim that is older may be lost in the next moment, so nothing is renamed under it any more. */
const claimSureMs = 3_000;
const mostClaims = 5;

/** What is needed to give a finished file its name. */
export interface Placement {
  /** The finished file, in `folder` too. */
  part: string;
  folder: string;
  name: string;
  ifExists: IfExists;
  disk: Disk;
  facts: TransferFacts;
}

/**
 * Gives a finished file its final name and returns its path, or the path of a file there with the same content. The
 * unfinished name may still exist afterwards; the caller removes it. Throws the errors of the disk, or ERR_FILE
 * fileExists.
 */
export async function placeFile(placement: Placement): Promise<string> {
  const { folder, name, facts } = placement;
  const path = join(folder, name);
  switch (placement.ifExists) {
    case "replace":
      return await replace(placement, path);
    case "rename":
      return await numbered(placement);
    case "error": {
      const result = await take(placement, path);
      if (result === "other") {
        throw fileError("fileExists", path, facts);
      }
      return path;
    }
  }
}

async function replace({ part, disk, facts }: Placement, path: string): Promise<string> {
  if ((await compareWith(path, part, disk, facts)) === "same") {
    return path;
  }
  try {
    await disk.rename(part, path);
  } catch (error) {
    // A folder of that name is never replaced; Windows reports EPERM then.
    const isFolder = await disk.lstat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    throw isFolder ? fileError("fileExists", path, facts) : error;
  }
  return path;
}

/** Takes the first free number, unless a file of another number has the same content. */
async function numbered(placement: Placement): Promise<string> {
  const { folder, name, part, disk, facts } = placement;
  const used = new Set(numbersInUse(name, await listOf(folder, disk)));
  for (const number of used) {
    const path = join(folder, numberedName(name, number));
    if ((await compareWith(path, part, disk, facts)) === "same") {
      return path;
    }
  }
  for (let number = 0; number < mostNumbers; number += 1) {
    if (used.has(number)) {
      continue;
    }
    const path = join(folder, numberedName(name, number));
    if ((await take(placement, path)) !== "other") {
      return path;
    }
  }
  throw fileError("fileExists", join(folder, name), facts);
}

/** The folder may not be listed: its names are found by trying them. */
async function listOf(folder: string, disk: Disk): Promise<string[]> {
  try {
    return await disk.readdir(folder);
  } catch (error) {
    if (systemCode(error) === "EACCES" || systemCode(error) === "EPERM") {
      return [];
    }
    throw error;
  }
}

/** Takes a free name: "taken", or "same" or "other" for the content that already has it. */
async function take(placement: Placement, path: string): Promise<"other" | "same" | "taken"> {
  const { part, disk, facts } = placement;
  for (;;) {
    throwIfAborted(facts);
    if (await moveIfFree(placement, path)) {
      return "taken";
    }
    const found = await compareWith(path, part, disk, facts);
    if (found !== "gone") {
      return found;
    }
  }
}

/** The errors of file systems without hard links (FAT, exFAT, some shares). */
const cannotLink: ReadonlySet<string> = new Set([
  "EACCES",
  "EMLINK",
  "ENOSYS",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EPERM",
  "EXDEV",
  "UNKNOWN",
]);

/**
 * Returns false if the name is taken. A hard link cannot overwrite, so each of several simultaneous saves gets a name
 * of its own.
 */
async function moveIfFree(placement: Placement, path: string): Promise<boolean> {
  try {
    await placement.disk.link(placement.part, path);
    return true;
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (code === "EEXIST") {
      return false;
    }
    if (!cannotLink.has(code)) {
      throw error;
    }
    return await moveUnderClaim(placement, path);
  }
}

/**
 * For file systems without hard links: checks and renames while a hidden file claims the name against all other saves,
 * those of other processes too. Only another program that creates exactly that name at exactly that moment could lose
 * its file. The usual solution, an empty file under the final name, would be seen by everybody who watches the folder.
 */
async function moveUnderClaim({ part, folder, disk, facts }: Placement, path: string): Promise<boolean> {
  const digest = sha256Of(basename(path));
  const claim = join(folder, `.dimensioner-${digest.slice(0, 36)}.name`);
  for (let claims = 0; claims < mostClaims; claims += 1) {
    const held = await holdClaim(claim, disk, facts);
    const heldAtMs = performance.now();
    const isSure = (): boolean => performance.now() - heldAtMs < claimSureMs;
    let id = "";
    try {
      try {
        id = idOf(await held.stat());
      } finally {
        await held.close();
      }
      if (await exists(path, disk)) {
        return false;
      }
      // A process or a share can be held up for longer than a claim lasts; then somebody else may have the name by now.
      if (isSure()) {
        await disk.rename(part, path);
        return true;
      }
    } finally {
      if (isSure() || (await isClaimOf(id, claim, disk))) {
        await disk.unlink(claim).catch(() => undefined);
      }
    }
  }
  throw timedOut("rename");
}

/** Whether a claim is not that of another save by now. */
async function isClaimOf(id: string, claim: string, disk: Disk): Promise<boolean> {
  return await disk.lstat(claim).then(
    (stats) => idOf(stats) === id,
    () => false,
  );
}

function idOf({ ino, mtimeMs }: Stats): string {
  return `${ino} ${mtimeMs}`;
}

/** Waits until the claim is free. */
async function holdClaim(claim: string, disk: Disk, facts: TransferFacts): Promise<FileHandle> {
  let seen = "";
  let seenAtMs = 0;
  for (;;) {
    try {
      return await disk.open(claim, "wx");
    } catch (error) {
      if (systemCode(error) !== "EEXIST") {
        throw error;
      }
    }
    throwIfAborted(facts);
    const holder = await disk.lstat(claim).then(idOf, () => "");
    if (holder !== seen) {
      seen = holder;
      seenAtMs = performance.now();
    } else if (holder !== "" && performance.now() - seenAtMs > claimStaleMs) {
      await disk.unlink(claim).catch(() => undefined);
    }
    await delay(claimPollMs);
  }
}

async function exists(path: string, disk: Disk): Promise<boolean> {
  try {
    await disk.lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return false;
    }
    throw error;
  }
}

/** The root folder as an absolute path. It is never created: it may be a share that is not mounted. */
export async function checkRoot(folder: string, disk: Disk, facts: TransferFacts): Promise<string> {
  if (folder.trim() === "") {
    throw new DimensionerError("configFolder", { surface: "config", operation: facts.operation });
  }
  const root = resolve(folder);
  if (root.includes("\0")) {
    throw fileError("fileNoFolder", root.replaceAll("\0", "�"), facts);
  }
  let isFolder: boolean;
  try {
    isFolder = (await disk.stat(root)).isDirectory();
  } catch (error) {
    throw diskError(error, root, facts);
  }
  if (!isFolder) {
    throw fileError("fileNotFolder", root, facts);
  }
  return root;
}

/**
 * Creates the folder for a file, `parts` under `root`, one by one. Throws ERR_FILE if a link leads out of the root.
 */
export async function makeSubfolders(
  root: string,
  parts: readonly string[],
  disk: Disk,
  facts: TransferFacts,
): Promise<string> {
  if (parts.length === 0) {
    return root;
  }
  const realRoot = await disk.realpath(root).catch((error: unknown) => {
    throw diskError(error, root, facts);
  });
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    const created = await makeFolder(folder, disk, facts);
    await checkInside(folder, realRoot, disk, facts);
    if (created) {
      await syncFolder(dirname(folder), disk, facts);
    }
  }
  return folder;
}

async function makeFolder(folder: string, disk: Disk, facts: TransferFacts): Promise<boolean> {
  try {
    await disk.mkdir(folder);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") {
      return false;
    }
    throw diskError(error, folder, facts);
  }
}

async function checkInside(
  folder: string,
  realRoot: string,
  disk: Disk,
  facts: TransferFacts,
): Promise<void> {
  let real: string;
  let isFolder: boolean;
  try {
    real = await disk.realpath(folder);
    isFolder = (await disk.lstat(real)).isDirectory();
  } catch (error) {
    // The path exists, so it is a link that leads nowhere or in a circle.
    const code = systemCode(error);
    throw code === "ENOENT" || code === "ELOOP"
      ? fileError("fileOutside", folder, facts)
      : diskError(error, folder, facts);
  }
  const inside = real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
  if (!inside) {
    throw fileError("fileOutside", folder, facts);
  }
  if (!isFolder) {
    throw fileError("fileNotFolder", folder, facts);
  }
}

/** The errors of systems that do not open folders as files (Windows), or not this one. */
const cannotOpen: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EPERM"]);

/** Syncs a folder, so that its new names survive a loss of power. Returns whether the system supports that. */
export async function syncFolder(folder: string, disk: Disk, facts: TransferFacts): Promise<boolean> {
  try {
    const handle = await disk.open(folder, "r");
    try {
      await handle.sync();
      return true;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!cannotSync(error) && !cannotOpen.has(systemCode(error) ?? "")) {
      throw diskError(error, folder, facts);
    }
    return false;
  }
}

const leftOverMs = dayMs;

/**
 * The state that saves share: which folders were searched for the unfinished files of a killed process. Without a
 * shared state, each save searches anew.
 */
export interface MediaFolders {
  /**
   * Removes files of other processes that are unfinished for more than a day, at most once an hour in each folder. That day
   * has to be over when something else was changed in the folder: a clock that is ahead makes files look old that are being written.
   * A file that cannot be removed stays; this never throws.
   */
  sweep(folder: string, disk: Disk): Promise<void>;
  /**
   * Remembers an unfinished file of this process that could not be removed; the next sweep of its folder tries again.
   */
  addLeftover(part: string): void;
}

export function createMediaFolders(): MediaFolders {
  /** By folder, the one that was swept longest ago first. */
  const sweptAtMs = new Map<string, number>();
  const leftParts = new Map<string, string[]>();

  async function removeIfLeftOver(path: string, nowMs: number, disk: Disk): Promise<void> {
    const stats = await disk.lstat(path);
    if (stats.isFile() && nowMs - stats.mtimeMs > leftOverMs) {
      await disk.unlink(path);
    }
  }

  async function removeLeftovers(parts: readonly string[], disk: Disk): Promise<void> {
    for (const part of parts) {
      await disk.unlink(part).catch((error: unknown) => {
        if (systemCode(error) !== "ENOENT") {
          addLeftover(part);
        }
      });
    }
  }

  function addLeftover(part: string): void {
    const folder = dirname(part);
    leftParts.set(folder, [...(leftParts.get(folder) ?? []), part]);
  }

  return {
    addLeftover,
    async sweep(folder, disk) {
      const nowMs = performance.now();
      const left = leftParts.get(folder);
      if (left !== undefined) {
        leftParts.delete(folder);
        await removeLeftovers(left, disk);
      }
      for (const [swept, atMs] of sweptAtMs) {
        if (nowMs - atMs < hourMs) {
          break;
        }
        sweptAtMs.delete(swept);
      }
      if (sweptAtMs.has(folder)) {
        return;
      }
      sweptAtMs.set(folder, nowMs);
      try {
        const parts = (await disk.readdir(folder)).filter((name) => partName.test(name) && !isOwnPart(name));
        const timeMs = parts.length === 0 ? 0 : await timeInFolder(folder, disk);
        await Promise.allSettled(parts.map((name) => removeIfLeftOver(join(folder, name), timeMs, disk)));
      } catch {
        // A folder that can be written but not listed keeps its unfinished files.
      }
    },
  };
}

const blockBytes = 256 * 1024;

/**
 * Compares what is at a path with a file that was just written. It compares bytes rather than hashes, because pictures
 * of equal size differ in their first block, so that the rest need not be read. A link, a folder or a device is
 * "other", and is never opened.
 */
async function compareWith(
  existing: string,
  part: string,
  disk: Disk,
  facts: TransferFacts,
): Promise<"gone" | "other" | "same"> {
  try {
    const [stats, ours] = await Promise.all([disk.lstat(existing), disk.lstat(part)]);
    if (!stats.isFile() || stats.size !== ours.size) {
      return "other";
    }
  } catch (error) {
    return verdict(error);
  }
  const handles: FileHandle[] = [];
  try {
    // The path may be replaced by a link or a pipe after the check: neither is followed or waited for.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    for (const path of [existing, part]) {
      handles.push(await disk.open(path, flags));
    }
    const [theirs, ours] = handles;
    if (theirs === undefined || ours === undefined) {
      return "other";
    }
    const stats = await theirs.stat();
    return stats.isFile() && (await sameBytes(theirs, ours, facts)) ? "same" : "other";
  } catch (error) {
    return verdict(error);
  } finally {
    await Promise.allSettled(handles.map((handle) => handle.close()));
  }
}

async function sameBytes(a: FileHandle, b: FileHandle, facts: TransferFacts): Promise<boolean> {
  const blocks = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)] as const;
  for (let position = 0; ;) {
    throwIfAborted(facts);
    const [left, right] = await Promise.all([
      readBlock(a, blocks[0], position),
      readBlock(b, blocks[1], position),
    ]);
    if (left !== right || blocks[0].compare(blocks[1], 0, right, 0, left) !== 0) {
      return false;
    }
    if (left < blockBytes) {
      return true;
    }
    position += left;
  }
}

/** Reads a whole block, or up to the end of the file: a single read may return less. */
async function readBlock(file: FileHandle, block: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < block.length) {
    const { bytesRead } = await file.read(block, filled, block.length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return filled;
}

/** A file that cannot be read counts as other content. */
function verdict(error: unknown): "gone" | "other" {
  const code = systemCode(error);
  if (code === "ENOENT") {
    return "gone";
  }
  if (code === undefined) {
    throw error;
  }
  return "other";
}
