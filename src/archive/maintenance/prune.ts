import { randomUUID } from "node:crypto";
import { dirname, join, sep } from "node:path";
import { syncFolder } from "../../media/target-folder.ts";
import type { ArchiveProgress, PrunedPackage } from "../../model/archive-reports.ts";
import {
  diskFacts,
  holdName,
  makeStateFolder,
  manifestFileName,
  plainDisk,
  removeTree,
  stateFolderName,
} from "../archive-disk.ts";
import { filesOf } from "../packages/manifest.ts";
import { loadManifestInside } from "./inside.ts";
import { PruneLog } from "./prune-log.ts";
import { findPlace, straysOf, walkPackages, type WalkedPackage } from "./walk-packages.ts";

export interface PruneOptions {
  /** Packages archived before this are deleted. */
  readonly before: Date;
  /** Only tells what would be deleted. */
  readonly isDryRun: boolean;
  /** Aborting ends it between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes packages for their age. Only what its own manifest shows to be a package, and nothing else, is ever deleted;
 * a file called hold keeps a package. Each deletion is in the log before it happens.
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

  /** What was looked at so far. */
  progress(): ArchiveProgress {
    return { packages: this.#packages, bytes: this.#bytes, expectedPackages: null, expectedBytes: null };
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const { before, isDryRun, signal } = this.#options;
    const { root, hasState, start } = await findPlace(this.#folder);
    const stateFolder = join(root, stateFolderName);
    const trash = join(stateFolder, "trash");
    if (!isDryRun && hasState) {
      // What a killed run had moved there is in the log already.
      await removeTree(trash, plainDisk);
    }
    const place = { log: new PruneLog(stateFolder), stateFolder, trash, start };
    for await (const entry of walkPackages(root, start)) {
      signal?.throwIfAborted();
      if (entry.kind === "archive") {
        const reason = "it is an archive of its own: prune it by itself";
        yield { what: "kept", path: entry.path, bytes: 0, reason };
      }
      if (entry.kind !== "package") {
        continue;
      }
      const bytes = filesOf(entry.manifest).reduce((sum, file) => sum + file.bytes, 0);
      this.#packages += 1;
      this.#bytes += bytes;
      if (new Date(entry.manifest.times.archived) < before) {
        yield await pruneOne(root, entry, bytes, isDryRun ? undefined : place);
      }
    }
  }
}

interface PrunePlace {
  readonly log: PruneLog;
  readonly stateFolder: string;
  readonly trash: string;
  /** The folder that is pruned; it stays, also when it becomes empty. */
  readonly start: string;
}

async function pruneOne(
  root: string,
  entry: WalkedPackage,
  bytes: number,
  place: PrunePlace | undefined,
): Promise<PrunedPackage> {
  const { path } = entry;
  try {
    const reason = (await reasonToKeep(entry)) ?? (await holdOfFirst(entry, root));
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

async function reasonToKeep({ folder, manifest }: WalkedPackage): Promise<string | null> {
  const named = new Set([manifestFileName, ...filesOf(manifest).map(({ path }) => path)]);
  let stray: string | null = null;
  for await (const name of straysOf(folder, named)) {
    if (holdName.test(name)) {
      return "hold";
    }
    stray ??= name;
  }
  return stray === null ? null : `it holds ${stray}, which is none of its files`;
}

/** A hold on a package protects the supplements to it too. */
async function holdOfFirst({ manifest }: WalkedPackage, root: string): Promise<"hold" | null> {
  const first = manifest.supplements?.path ?? null;
  if (first === null) {
    return null;
  }
  const found = await loadManifestInside(root, first, plainDisk);
  const names = typeof found === "object" ? await plainDisk.readdir(join(root, dirname(first))) : [];
  return names.some((name) => holdName.test(name)) ? "hold" : null;
}

async function remove(
  { path, folder, manifest, sha256 }: WalkedPackage,
  bytes: number,
  { log, stateFolder, trash, start }: PrunePlace,
): Promise<void> {
  // Not before: a wrong folder is left without a trace.
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
  // First out of sight in one step: a kill leaves no half of a package under its name.
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
