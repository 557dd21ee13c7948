import { randomUUID } from "node:crypto";
import { dirname, join, sep } from "node:path";
import { syncFolder } from "../../media/target-folder.ts";
import {
  diskFacts,
  holdName,
  makeStateFolder,
  manifestFileName,
  plainDisk,
  removeTree,
  stateFolderName,
} from "../archive-disk.ts";
import { filesOf } from "./manifest.ts";
import { PruneLog } from "./prune-log.ts";
import { findRoot, straysOf, walkPackages, type WalkEntry } from "./walk-packages.ts";

type FoundPackage = Extract<WalkEntry, { kind: "package" }>;

/** What became of one package that is old enough. */
export interface Pruned {
  readonly what: "deleted" | "failed" | "held" | "kept";
  readonly path: string;
  readonly bytes: number;
  /** Why it was kept, or could not be deleted. */
  readonly reason?: string;
}

export interface PruneOptions {
  /** Packages archived before this are deleted. */
  readonly before: Date;
  /** Only tells what would be deleted. */
  readonly isDryRun: boolean;
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Reads an age such as "90d"; undefined for what is none. Nothing is ever 0 old. */
export function readAgeMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([hdwy])$/.exec(text.trim()) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}

/**
 * Deletes packages for their age. Only what its own manifest shows to be a package, and nothing else, is ever deleted;
 * a file called hold keeps a package. Each deletion is in the log before it happens.
 */
export async function* prune(folder: string, options: PruneOptions): AsyncGenerator<Pruned> {
  const { root, hasState } = await findRoot(folder);
  const start = await plainDisk.realpath(folder);
  await plainDisk.readdir(start);
  const stateFolder = join(root, stateFolderName);
  const trash = join(stateFolder, "trash");
  if (!options.isDryRun && hasState) {
    // What a killed run had moved there is in the log already.
    await removeTree(trash, plainDisk);
  }
  const log = new PruneLog(stateFolder);
  for await (const entry of walkPackages(await plainDisk.realpath(root), start)) {
    if (entry.kind === "archive") {
      yield {
        what: "kept",
        path: entry.path,
        bytes: 0,
        reason: "it is an archive of its own: prune it by itself",
      };
    }
    if (entry.kind !== "package" || !(new Date(entry.manifest.times.archived) < options.before)) {
      continue;
    }
    const bytes = filesOf(entry.manifest).reduce((sum, file) => sum + file.bytes, 0);
    const { path } = entry;
    try {
      const reason = await reasonToKeep(entry);
      if (reason !== null) {
        yield { what: reason === "hold" ? "held" : "kept", path, bytes, reason };
        continue;
      }
      if (!options.isDryRun) {
        // Not before: a wrong folder is left without a trace.
        await makeStateFolder(stateFolder, plainDisk);
        await remove(entry, bytes, { log, trash, start });
      }
      yield { what: "deleted", path, bytes };
    } catch (error) {
      yield { what: "failed", path, bytes, reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

async function reasonToKeep({ folder, manifest }: FoundPackage): Promise<string | null> {
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

async function remove(
  { path, folder, manifest, sha256 }: FoundPackage,
  bytes: number,
  { log, trash, start }: { log: PruneLog; trash: string; start: string },
): Promise<void> {
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
