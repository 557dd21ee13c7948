import { randomUUID } from "node:crypto";
import { dirname, join, sep } from "node:path";
import { syncFolder } from "../../media/target-folder.ts";
import type { ArchiveProgress, PrunedPackage } from "../../model/archive-reports.ts";
import {
  diskFacts,
  holdName,
  makeStateFolder,
  plainDisk,
  removeTree,
  stateFolderName,
} from "../archive-disk.ts";
import { filesOf } from "../packages/manifest.ts";
import { findHeld, firstOf, straysIn } from "./holds.ts";
import { PruneLog } from "./prune-log.ts";
import { findPlace, walkPackages, type WalkedPackage } from "./walk-packages.ts";

export interface PruneOptions {
  /** Packages archived before this are deleted. */
  readonly before: Date;
  /** Only reports what would be deleted. */
  readonly isDryRun: boolean;
  /** Aborting ends the run between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes packages because of their age. Only what its own manifest shows to be a package is ever deleted; a file named hold
 * keeps a package with its supplements. Each deletion is in the log before it happens.
 */
export class Pruning {
  readonly #folder: string;
  readonly #options: PruneOptions;
  #packages = 0;
  #bytes = 0;

  constructor(folder: string, options: PruneOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** How much was processed so far. */
  progress(): ArchiveProgress {
    return { packages: this.#packages, bytes: this.#bytes, expectedPackages: null, expectedBytes: null };
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const { before, isDryRun, signal } = this.#options;
    const { root, hasState, start } = await findPlace(this.#folder);
    const stateFolder = join(root, stateFolderName);
    const trash = join(stateFolder, "trash");
    if (!isDryRun && hasState) {
      // Packages that a killed run had moved there are in the log already.
      await removeTree(trash, plainDisk);
    }
    const held = await findHeld(root, signal);
    const place = { log: new PruneLog(stateFolder), stateFolder, trash, start };
    for await (const entry of walkPackages(root, start)) {
      signal?.throwIfAborted();
      if (entry.kind === "archive") {
        const reason = "it is a separate archive: prune it on its own";
        yield { what: "kept", path: entry.path, bytes: 0, reason };
      }
      if (entry.kind !== "package") {
        continue;
      }
      const bytes = filesOf(entry.manifest).reduce((sum, file) => sum + file.bytes, 0);
      this.#packages += 1;
      this.#bytes += bytes;
      if (new Date(entry.manifest.times.archived) < before) {
        yield await pruneOne(entry, bytes, held, isDryRun ? undefined : place);
      }
    }
  }
}

interface PrunePlace {
  readonly log: PruneLog;
  readonly stateFolder: string;
  readonly trash: string;
  /** The folder that is pruned; it stays even if it becomes empty. */
  readonly start: string;
}

async function pruneOne(
  entry: WalkedPackage,
  bytes: number,
  held: ReadonlySet<string>,
  place: PrunePlace | undefined,
): Promise<PrunedPackage> {
  const { path, manifest } = entry;
  try {
    const reason = held.has(firstOf(path, manifest)) ? "hold" : await reasonToKeep(entry);
    if (reason !== null) {
      return { what: reason === "hold" ? "held" : "kept", path, bytes, reason };
    }
    if (place !== undefined) {
      await remove(entry, bytes, place);
    }
    return { what: "deleted", path, bytes };
  } catch (error) {
    return { what: "failed", path, bytes, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Checked again right before a package is deleted, because a hold may have been set meanwhile. */
async function reasonToKeep(entry: WalkedPackage): Promise<string | null> {
  let stray: string | null = null;
  for await (const name of straysIn(entry)) {
    if (holdName.test(name)) {
      return "hold";
    }
    stray ??= name;
  }
  return stray === null ? null : `it contains ${stray}, which its manifest does not list`;
}

async function remove(
  { path, folder, manifest, sha256 }: WalkedPackage,
  bytes: number,
  { log, stateFolder, trash, start }: PrunePlace,
): Promise<void> {
  // Created only now, so that nothing is written to a wrong folder.
  if (await makeStateFolder(stateFolder, plainDisk)) {
    await syncFolder(dirname(stateFolder), plainDisk, diskFacts);
  }
  await log.add({
    at: new Date().toISOString(),
    path,
    sha256,
    transactionId: manifest.transactionId,
    transactionReference: manifest.references.transactionReference,
    archived: manifest.times.archived,
    files: filesOf(manifest).length,
    bytes,
  });
  // It is moved away in one step first, so that a kill leaves no incomplete package under its name.
  await makeStateFolder(trash, plainDisk);
  const away = join(trash, randomUUID());
  await plainDisk.rename(folder, away);
  await syncFolder(dirname(folder), plainDisk, diskFacts);
  await removeTree(away, plainDisk);
  for (let parent = dirname(folder); parent.startsWith(start + sep); parent = dirname(parent)) {
    const isEmpty = await plainDisk.rmdir(parent).then(
      () => true,
      () => false,
    );
    if (!isEmpty) {
      break;
    }
  }
}
