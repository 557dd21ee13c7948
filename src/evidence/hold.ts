import { join } from "node:path";
import * as v from "valibot";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { parseFields, recordLimits } from "../model/parse-json.ts";
import {
  type ReadDisk,
  asFileError,
  exists,
  holdLogName,
  holdName,
  manifestFileName,
  pruneLogName,
  stateFolderName,
} from "../vault/archive-disk.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import { decodeLine, readLog } from "../vault/files/checked-lines.ts";
import type { Manifest } from "../vault/packages/manifest.ts";
import { openPlain } from "../vault/packages/package-files.ts";
import type { IndexedPackage } from "../vault/packages/package-index.ts";
import { PruneLog } from "../vault/prune-log.ts";
import { loadManifestWithin } from "../vault/walk.ts";

const holdFileName = "hold.json";
/** How long the reason of a hold can be, in characters. */
export const longestReason = 1_000;
/** A file of this package is shorter, however many of its characters JSON has as escapes. */
const mostReadBytes = 65_536;
/** A longer text is somebody else's; only its beginning is shown. */
const mostShown = longestReason;

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
export async function readHold(folder: string, disk: ReadDisk): Promise<Hold | null> {
  const [name] = await holdFiles(folder, disk);
  if (name === undefined) {
    return null;
  }
  const text = await readStart(join(folder, name), disk);
  const written = v.safeParse(holdFile, parseFields(text, recordLimits));
  const shown = text.slice(0, mostShown).toWellFormed().trim();
  const byHand = { heldAt: null, person: null, reason: shown === "" ? null : shown };
  return written.success ? written.output : byHand;
}

/**
 * Puts packages on hold: a file in the folder keeps each from being pruned, with its supplements. Every change is in a
 * log first. Throws ERR_FILE, ERR_STORE, or ERR_NOT_FOUND if the package was deleted meanwhile.
 */
export async function holdPackage(
  opened: OpenedPackage,
  change: HoldChange,
  files: ArchiveFiles,
): Promise<Hold> {
  const { folder, location } = opened;
  const hold: Hold = { heldAt: new Date().toISOString(), ...change };
  await asFileErrors(files.addressOf(location), async () => {
    await logChange("hold", opened, change, files);
    const path = join(folder, holdFileName);
    await files.write(path, `${JSON.stringify(hold, null, 2)}\n`);
    // A bucket takes an object also where there is no package any more.
    if (!(await exists(join(folder, manifestFileName), files.disk))) {
      await files.remove(path);
      throw goneError(location);
    }
  });
  return hold;
}

/**
 * To be called when packages are on hold. One of them may be in the log of deleted packages: a run was killed before it deleted it, or
 * it was brought back from a backup. Then nobody would notice its loss. Throws ERR_FILE and ERR_STORE; the holds stay.
 */
export async function takeBackHeld(packages: readonly OpenedPackage[], files: ArchiveFiles): Promise<void> {
  const held = packages.map(({ location, sha256, manifest }) => ({ path: location, sha256, manifest }));
  await asFileErrors(files.addressOf(`${stateFolderName}/${pruneLogName}`), () =>
    new PruneLog(files).addKeptIfAny(held),
  );
}

/**
 * Ends the hold of a package. A hold file that somebody has put there by hand stays: ERR_INPUT names it, and nothing is
 * changed.
 */
export async function releasePackage(
  opened: OpenedPackage,
  change: HoldChange,
  files: ArchiveFiles,
): Promise<null> {
  const { folder, location } = opened;
  const byHand = (await holdFiles(folder, files.disk)).find((name) => name !== holdFileName);
  if (byHand !== undefined) {
    const facts = { surface: "disk", operation: "release" } as const;
    throw new DimensionerError("evidenceHeldByFile", facts, { path: location, name: byHand });
  }
  return asFileErrors(files.addressOf(location), async () => {
    await logChange("release", opened, change, files);
    await files.remove(join(folder, holdFileName));
    return null;
  });
}

async function logChange(
  what: "hold" | "release",
  { location, sha256, manifest }: OpenedPackage,
  change: HoldChange,
  files: ArchiveFiles,
): Promise<void> {
  const entry = {
    at: new Date().toISOString(),
    what,
    path: location,
    sha256,
    transactionId: manifest.transactionId,
    transactionReference: manifest.references.transactionReference,
    ...change,
  };
  await files.addToLog(join(files.root, stateFolderName, holdLogName), [entry]);
}

const holdLine = v.object({ what: v.picklist(["hold", "release"]), path: v.string() });

/**
 * Lists the folders of the packages that are on hold as the log of holds says, the last one that was put on hold at the end. It does
 * not know of files that somebody has put into a folder by hand, or removed from it. Throws ERR_FILE and ERR_STORE.
 */
export async function listHeld({ root, disk }: Pick<ArchiveFiles, "disk" | "root">): Promise<string[]> {
  const path = join(root, stateFolderName, holdLogName);
  return asFileErrors(path, async () => {
    const held = new Set<string>();
    for await (const text of readLog(path, disk)) {
      const line = v.safeParse(holdLine, decodeLine(text));
      if (line.success) {
        held.delete(line.output.path);
        if (line.output.what === "hold") {
          held.add(line.output.path);
        }
      }
    }
    return [...held];
  });
}

/** The file that this package writes comes last: what somebody has put there by hand says why. */
async function holdFiles(folder: string, disk: ReadDisk): Promise<string[]> {
  const names = await disk.readdir(folder);
  const isOurs = (name: string): number => Number(name === holdFileName);
  return names.filter((name) => holdName.test(name)).sort((a, b) => isOurs(a) - isOurs(b));
}

async function readStart(path: string, disk: ReadDisk): Promise<string> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return "";
  }
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(mostReadBytes), 0, mostReadBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
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

/** A package of the index that is in the folder or the bucket. */
export interface OpenedPackage {
  /** The package's folder below the folder of packages, with slashes. */
  readonly location: string;
  /** Its absolute path on the disk of the files. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Of its manifest. */
  readonly sha256: string;
}

/**
 * Opens a package that the index lists. A path that leads out of the root counts as missing. Throws ERR_NOT_FOUND if it
 * is not there, or its manifest cannot be read.
 */
export async function openPackage(
  { root, disk }: Pick<ArchiveFiles, "disk" | "root">,
  { path: location }: Pick<IndexedPackage, "path">,
): Promise<OpenedPackage> {
  const found = await loadManifestWithin(root, `${location}/${manifestFileName}`, disk);
  if (typeof found === "string") {
    throw goneError(location);
  }
  return { location, folder: join(root, location), ...found };
}

/** The ERR_NOT_FOUND for a package that the index lists, and that is not there. */
export function goneError(location: string): DimensionerError {
  return new DimensionerError("evidenceGone", { surface: "disk", operation: "find" }, { path: location });
}
