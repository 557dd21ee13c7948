import type { FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileError, systemCode, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";
import { numberedName, numbersInUse } from "./file-names.ts";
import { compareWith } from "./same-content.ts";
import { sha256Of } from "../model/sha256.ts";

/** What happens when the name is taken by other content. */
export type IfExists = "error" | "rename" | "replace";

const mostNumbers = 100_000;
const claimPollMs = 20;
const claimStaleMs = 3_000;

/** Everything that moving one finished file needs. */
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
 * Gives a finished file its name and returns its path, or that of a file there with the same content. The unfinished
 * name may still be there afterwards; the caller removes it. Throws what the disk says, or ERR_FILE fileExists.
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
    // A folder of that name is never replaced; Windows says EPERM for it.
    const isFolder = await disk.lstat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    throw isFolder ? fileError("fileExists", path, facts) : error;
  }
  return path;
}

/** The first free number; files of other numbers may hold the same content already. */
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

/** A folder that may be written but not listed: its names are found by trying them. */
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

/** Takes a name that must be free: "taken", or "same" or "other" for what was there first. */
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

/** What systems answer whose folders know no second name for a file (FAT, exFAT, some shares). */
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

/** False when something has that name. A link can't overwrite, so of many at once each gets a name of its own. */
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
 * Where links are not known: look and rename, while a hidden file claims the name against all other saves, those of
 * other processes too. Only a foreign program that makes just that name in just that moment could lose its file; an
 * empty file under the final name, the usual way out, would be seen by everybody who watches the folder.
 */
async function moveUnderClaim({ part, folder, disk, facts }: Placement, path: string): Promise<boolean> {
  const digest = sha256Of(basename(path));
  const claim = join(folder, `.dimensioner-${digest.slice(0, 36)}.name`);
  const held = await holdClaim(claim, disk, facts);
  try {
    await held.close();
    if (await exists(path, disk)) {
      return false;
    }
    await disk.rename(part, path);
    return true;
  } finally {
    await disk.unlink(claim).catch(() => undefined);
  }
}

/** Waits for the claim to be free; one that nobody touches for seconds, though it takes moments, is a dead process's. */
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
    const holder = await disk.lstat(claim).then(
      ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
      () => "",
    );
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
