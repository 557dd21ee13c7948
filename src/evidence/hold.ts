import { join } from "node:path";
import { type Database, lockLog } from "../database/database.ts";
import type { LogTable } from "../database/log-table.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import {
  type ReadDisk,
  asFileError,
  exists,
  holdFileName,
  holdName,
  manifestFileName,
} from "../vault/archive-disk.ts";
import type { Vault } from "../vault/vault.ts";
import { entryOf } from "../vault/log/events.ts";
import { heldOf, isPruned, namedOf, wasPruned } from "../vault/log/log-state.ts";
import { addToLog, publishLog, readyLog } from "../vault/log/open-log.ts";
import type { Manifest } from "../vault/packages/manifest.ts";
import { openPlain } from "../vault/packages/package-files.ts";
import { type IndexedPackage, indexNumber } from "../vault/packages/package-index.ts";
import { loadManifestWithin } from "../vault/walk.ts";

/** How long the reason of a hold can be, in characters. */
export const longestReason = 1_000;
/** A file of this package is shorter, however many of its characters JSON has as escapes. */
const mostReadBytes = 65_536;
/** A longer text is somebody else's; only its beginning is shown. */
const mostShown = longestReason;

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

/**
 * Reads the hold of a package: what the log says, or else what somebody has written into a file that he has put there by hand. Null if there
 * is none.
 */
export async function readHold(
  { database, vault: { disk } }: HoldSource,
  { folder, manifest }: Pick<OpenedPackage, "folder" | "manifest">,
): Promise<Hold | null> {
  const logged = (await heldOf(database, [manifest.job])).get(manifest.job);
  if (logged !== undefined) {
    return { heldAt: logged.at, person: logged.person, reason: logged.reason };
  }
  const name = await handMadeHold(folder, disk);
  if (name === undefined) {
    return null;
  }
  const shown = (await readStart(join(folder, name), disk)).slice(0, mostShown).toWellFormed().trim();
  return { heldAt: null, person: null, reason: shown === "" ? null : shown };
}

/** What a hold is changed in. */
export interface HoldSource {
  readonly database: Pick<Database, "transaction">;
  readonly vault: Vault;
}

/** The same, to change it. */
export interface HoldTarget extends HoldSource {
  readonly log: LogTable;
}

/**
 * Puts a package on hold: a line in the log, which keeps it and all that belong to it from being pruned, and a file in its folder that
 * says so to people. The file comes first: whoever is deleting the package finds it. Throws ERR_FILE, ERR_STORE, or ERR_NOT_FOUND
 * if the package was deleted meanwhile.
 */
export async function holdPackage(
  opened: OpenedPackage,
  change: HoldChange,
  { database, vault, log }: HoldTarget,
): Promise<Hold> {
  const { folder, location, sha256, manifest } = opened;
  const hold: Hold = { heldAt: new Date().toISOString(), ...change };
  const at = new Date().toISOString();
  const one = { at, package: manifest.job, path: location, sha256 };
  await asFileErrors(vault.addressOf(location), async () => {
    const path = join(folder, holdFileName);
    await vault.write(path, `${JSON.stringify(hold, null, 2)}\n`);
    // A bucket takes an object also where there is no package any more.
    if (!(await exists(join(folder, manifestFileName), vault.disk))) {
      await vault.remove(path);
      throw goneError(location);
    }
    await readyLog({ table: log, vault }, database);
    await database.transaction([
      lockLog,
      // It is there: a run was killed before it deleted the package, or the package was brought back from a backup.
      ...log.append(
        entryOf({ what: "kept", ...one, transactionId: manifest.transactionId, reason: "it is on hold" }),
        isPruned(manifest.job),
      ),
      ...log.append(entryOf({ what: "held", ...one, ...change })),
    ]);
    await publishLog({ table: log, vault });
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
  { database, vault, log }: HoldTarget,
): Promise<null> {
  const { folder, location, sha256, manifest } = opened;
  const byHand = await handMadeHold(folder, vault.disk);
  if (byHand !== undefined) {
    const facts = { surface: "disk", operation: "release" } as const;
    throw new DimensionerError("evidenceHeldByFile", facts, { path: location, name: byHand });
  }
  return asFileErrors(vault.addressOf(location), async () => {
    const at = new Date().toISOString();
    const event = { what: "released", at, package: manifest.job, path: location, sha256, ...change } as const;
    await addToLog({ table: log, vault }, database, event);
    await vault.remove(join(folder, holdFileName));
    return null;
  });
}

/** The name of a file that says that a package is on hold, and that this package has not written. */
async function handMadeHold(folder: string, disk: ReadDisk): Promise<string | undefined> {
  return (await disk.readdir(folder)).find((name) => holdName.test(name) && name !== holdFileName);
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
  { root, disk }: Pick<Vault, "disk" | "root">,
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

/** How long an added number can be, in characters, and how many can be added to a package. */
export const longestNumber = 200;
export const mostNumbers = 50;

/** A number that was not known yet when its package was archived. */
export interface AddedNumber {
  readonly number: string;
  /** ISO 8601, UTC. */
  readonly addedAtUtc: string;
  readonly person: string | null;
  /** Why, or where it comes from. */
  readonly reason: string | null;
}

/** The numbers that were added to some packages, in their order; by the IDs of the packages. */
export async function readNumbers(
  database: Pick<Database, "transaction">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly AddedNumber[]>> {
  const named = await namedOf(database, ids);
  return new Map(
    [...named].map(([id, events]) => [
      id,
      events.map(({ number, at, person, reason }) => ({ number, addedAtUtc: at, person, reason })),
    ]),
  );
}

/**
 * Adds numbers to a package: a line in the log for each of them, and their words in the index, in one transaction. The package and its
 * manifest stay as they are. Throws ERR_FILE, ERR_STORE, or ERR_NOT_FOUND if the package was deleted meanwhile; then nothing is added.
 */
export async function namePackage(
  { location, sha256, manifest }: OpenedPackage,
  numbers: readonly string[],
  change: Pick<AddedNumber, "person" | "reason">,
  { database, vault, log }: HoldTarget,
): Promise<void> {
  try {
    await readyLog({ table: log, vault }, database);
    const isThere = { sql: `NOT (${wasPruned("?")})`, values: [manifest.job] };
    const at = new Date().toISOString();
    const one = { what: "named", at, package: manifest.job, path: location, sha256, ...change } as const;
    const [, [found] = []] = await database.transaction([
      lockLog,
      { sql: `SELECT 1 AS there WHERE ${isThere.sql}`, values: isThere.values },
      ...numbers.flatMap((number) => [
        ...log.append(entryOf({ ...one, number }), isThere),
        ...indexNumber(manifest.job, number, isThere),
      ]),
    ]);
    if (found === undefined) {
      throw goneError(location);
    }
    await publishLog({ table: log, vault });
  } catch (error) {
    throw asFileError(error, vault.addressOf(location));
  }
}
