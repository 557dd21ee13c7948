import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import {
  asFileError,
  diskFacts,
  holdLogName,
  holdName,
  makeStateFolder,
  stateFolderName,
  writeDurably,
  type ArchiveDisk,
} from "../archive-disk.ts";
import { addLines } from "../files/checked-lines.ts";
import { openPlain } from "../packages/package-files.ts";
import type { OpenedPackage } from "./open-package.ts";

const holdFileName = "hold.json";
/** A longer file is somebody else's; only its beginning is shown. */
const mostShown = 1_000;

const holdFile = v.object({
  heldAt: v.string(),
  person: v.nullable(v.string()),
  reason: v.string(),
});

/** Why a package is kept, whatever its age. What nobody has written down is null. */
export interface Hold {
  /** ISO 8601, UTC. */
  readonly heldAt: string | null;
  readonly person: string | null;
  readonly reason: string | null;
}

/** Who holds or releases a package, and why. */
export interface HoldChange {
  readonly person: string | null;
  readonly reason: string;
}

/** Reads the hold of a package from its folder; null if there is none. People may put a file there by hand. */
export async function readHold(folder: string, disk: ArchiveDisk): Promise<Hold | null> {
  const [name] = await holdFiles(folder, disk);
  if (name === undefined) {
    return null;
  }
  const text = await readStart(join(folder, name), disk);
  const written = v.safeParse(holdFile, parseFields(text, recordLimits));
  const byHand = { heldAt: null, person: null, reason: text.trim() === "" ? null : text.trim() };
  return written.success ? written.output : byHand;
}

/**
 * Puts packages on hold: a file in the folder keeps each from being pruned, with its supplements. Every change is in a
 * log first. Throws ERR_FILE, or ERR_NOT_FOUND if the package was deleted meanwhile.
 */
export async function holdPackage(
  opened: OpenedPackage,
  change: HoldChange,
  disk: ArchiveDisk,
): Promise<Hold> {
  const { folder } = opened;
  const hold: Hold = { heldAt: new Date().toISOString(), ...change };
  await asFileErrors(folder, async () => {
    await logChange("hold", opened, change, disk);
    // Written beside it first, so that a kill leaves no half of a file.
    const unfinished = join(folder, `hold.${randomUUID()}`);
    await writeDurably(unfinished, `${JSON.stringify(hold, null, 2)}\n`, disk);
    await disk.rename(unfinished, join(folder, holdFileName));
    await syncFolder(folder, disk, diskFacts);
  });
  return hold;
}

/**
 * Ends the hold of a package. A hold file that somebody has put there by hand stays: ERR_INPUT names it, and nothing is
 * changed.
 */
export async function releasePackage(
  opened: OpenedPackage,
  change: HoldChange,
  disk: ArchiveDisk,
): Promise<null> {
  const { folder, location } = opened;
  const byHand = (await holdFiles(folder, disk)).find((name) => name !== holdFileName);
  if (byHand !== undefined) {
    const facts = { surface: "disk", operation: "release" } as const;
    throw new DimensionerError("evidenceHeldByFile", facts, { path: location, name: byHand });
  }
  return asFileErrors(folder, async () => {
    await logChange("release", opened, change, disk);
    await disk.unlink(join(folder, holdFileName)).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") {
        throw error;
      }
    });
    await syncFolder(folder, disk, diskFacts);
    return null;
  });
}

async function logChange(
  what: "hold" | "release",
  { root, location, sha256, manifest }: OpenedPackage,
  change: HoldChange,
  disk: ArchiveDisk,
): Promise<void> {
  const stateFolder = join(root, stateFolderName);
  await makeStateFolder(stateFolder, disk);
  const entry = {
    at: new Date().toISOString(),
    what,
    path: location,
    sha256,
    transactionId: manifest.transactionId,
    transactionReference: manifest.references.transactionReference,
    ...change,
  };
  await addLines(join(stateFolder, holdLogName), [entry], disk);
}

/** The file that this package writes comes last: what somebody has put there by hand says why. */
async function holdFiles(folder: string, disk: ArchiveDisk): Promise<string[]> {
  const names = await disk.readdir(folder);
  const isOurs = (name: string): number => Number(name === holdFileName);
  return names.filter((name) => holdName.test(name)).sort((a, b) => isOurs(a) - isOurs(b));
}

async function readStart(path: string, disk: ArchiveDisk): Promise<string> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return "";
  }
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(mostShown * 4), 0, mostShown * 4, 0);
    return buffer.toString("utf8", 0, bytesRead).slice(0, mostShown).toWellFormed();
  } finally {
    await file.close();
  }
}

async function asFileErrors<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFileError(error, folder);
  }
}
