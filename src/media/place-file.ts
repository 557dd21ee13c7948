import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileError, systemCode, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";
import { timedOut } from "./disk-guard.ts";
import { numberedName, numbersInUse } from "./file-names.ts";
import { compareWith } from "./same-content.ts";
import { sha256Of } from "../model/sha256.ts";

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
