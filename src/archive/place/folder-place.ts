import { join } from "node:path";
import { fileError, systemCode } from "../../media/disk.ts";
import { makeSubfolders, syncFolder } from "../../media/target-folder.ts";
import {
  asFileError,
  diskFacts,
  exists,
  manifestFileName,
  namesIn,
  type ArchiveDisk,
} from "../archive-disk.ts";
import { always } from "../../store/database.ts";
import type { FolderFiles } from "../files/folder-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { foldersInUse, numberedFolder } from "../packages/layout.ts";
import { filesOf, type Manifest } from "../packages/manifest.ts";
import { indexPackage, type IndexKeys } from "../packages/package-index.ts";
import { hashFile, loadManifest } from "../packages/package-files.ts";
import type {
  FoundPackage,
  MaybePlaced,
  NotedPackage,
  PackagePlace,
  PreparedPackage,
  SealedFiles,
} from "./package-place.ts";

const mostNumbers = 100_000;
/** The error codes of a rename to a name that is taken by a file or a folder that is not empty. */
const takenCodes: ReadonlySet<string | undefined> = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR"]);
/** The codes of Windows for the same, which also mean that something is open or not permitted. */
const refusedCodes: ReadonlySet<string | undefined> = new Set(["EPERM", "EACCES"]);
/** The codes of a rename that has certainly not happened. After another one, a share may have executed it. */
const notRenamedCodes: ReadonlySet<string | undefined> = new Set([
  ...takenCodes,
  ...refusedCodes,
  "EDQUOT",
  "ENAMETOOLONG",
  "ENOSPC",
  "EROFS",
]);

/** A folder of packages. Work folders are in it as well, so that one rename gives a package its name. */
export class FolderPlace implements PackagePlace {
  readonly files: FolderFiles;
  readonly key: string;

  /** `realPath`: that of the folder, without links. */
  constructor(files: FolderFiles, realPath: string) {
    this.files = files;
    this.key = realPath;
  }

  find({ path, sha256 }: PlacedPackage): Promise<Manifest | "damaged" | undefined> {
    return findPackage(this.files.root, { path, sha256 }, this.files.disk);
  }

  seek(job: string, parts: readonly string[]): Promise<FoundPackage | undefined> {
    return seekPackage(
      { root: this.files.root, disk: this.files.disk, parts },
      (manifest) => manifest.job === job,
    );
  }

  prepare({ folder, parts }: SealedFiles): Promise<PreparedPackage> {
    const { root, disk } = this.files;
    return Promise.resolve({
      place: (_manifest, isSame, maybePlaced) =>
        placePackage(folder, { root, parts, disk }, { isSame, maybePlaced }),
    });
  }

  /** Even if another worker has the job by now: the package is there, and its row is the same whoever writes it. */
  note({ path, sha256, manifest }: FoundPackage, keys: IndexKeys): NotedPackage {
    return { condition: always, statements: indexPackage(keys, { path, sha256 }, manifest) };
  }

  /** What has its name stays. */
  async discard({ path, sha256 }: PlacedPackage): Promise<boolean> {
    const { root, disk } = this.files;
    const folder = join(root, path);
    try {
      const found = await loadManifest(join(folder, manifestFileName), disk);
      return typeof found === "string" || found.sha256 !== sha256;
    } catch (error) {
      throw asFileError(error, folder, root);
    }
  }

  forget(): void {
    // It remembers nothing.
  }
}

interface PlacingOptions {
  readonly isSame: (manifest: Manifest) => boolean;
  readonly maybePlaced: MaybePlaced;
}

/**
 * Gives a package its name in one step that overwrites nothing, whoever else works in the same folder. If the name is
 * taken, the next number is tried; an existing package for which `isSame` returns true is returned instead.
 */
async function placePackage(
  from: string,
  { root, parts, disk }: { root: string; parts: readonly string[]; disk: ArchiveDisk },
  { isSame, maybePlaced }: PlacingOptions,
): Promise<FoundPackage | { readonly path: string }> {
  const above = await outsidePackages(root, parts.slice(0, -1), disk);
  const parent = await makeSubfolders(root, above, disk, diskFacts);
  const name = parts.at(-1) ?? "";
  for (let number = 0; number < mostNumbers; number += 1) {
    const path = [...above, numberedFolder(name, number)].join("/");
    const target = join(parent, numberedFolder(name, number));
    // A share may execute it after its answer was given up.
    const notPlaced = maybePlaced(path);
    try {
      await disk.rename(from, target);
      await syncFolder(parent, disk, diskFacts);
      return { path };
    } catch (error) {
      const code = systemCode(error);
      if (notRenamedCodes.has(code)) {
        // Before anything else fails: the other jobs wait until it is certain.
        notPlaced();
      }
      const isTaken = takenCodes.has(code) || (refusedCodes.has(code) && (await exists(target, disk)));
      if (!isTaken) {
        throw error;
      }
    }
    const found = await findAt(root, path, disk, isSame);
    if (found !== undefined) {
      return found;
    }
  }
  throw fileError("fileExists", join(parent, name), diskFacts);
}

/**
 * The folders in which a package is placed. With another layout, one of them may be the name of an existing package, and
 * nobody would find a package within a package: then the folder gets the next number.
 */
async function outsidePackages(
  root: string,
  parts: readonly string[],
  disk: ArchiveDisk,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const part of parts) {
    let number = 0;
    while (await exists(join(root, ...found, numberedFolder(part, number), manifestFileName), disk)) {
      number += 1;
    }
    found.push(numberedFolder(part, number));
  }
  return found;
}

/**
 * Finds the first complete package with a name or one of its numbers for which `isSought` returns true. Throws
 * ERR_FILE.
 */
async function seekPackage(
  { root, parts, disk }: { root: string; parts: readonly string[]; disk: ArchiveDisk },
  isSought: (manifest: Manifest) => boolean,
): Promise<FoundPackage | undefined> {
  try {
    return await seek(root, parts, disk, isSought);
  } catch (error) {
    throw asFileError(error, join(root, ...parts), root);
  }
}

/** Numbers of packages that were deleted because of their age are missing. */
async function seek(
  root: string,
  parts: readonly string[],
  disk: ArchiveDisk,
  isSought: (manifest: Manifest) => boolean,
): Promise<FoundPackage | undefined> {
  const above = await outsidePackages(root, parts.slice(0, -1), disk);
  const names = await namesIn(join(root, ...above), disk);
  for (const name of foldersInUse(parts.at(-1) ?? "", names)) {
    const found = await findAt(root, [...above, name].join("/"), disk, isSought);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Reads the package in a folder; undefined if there is none, it is not sought, or it is not as its manifest says. */
async function findAt(
  root: string,
  path: string,
  disk: ArchiveDisk,
  isSought: (manifest: Manifest) => boolean,
): Promise<FoundPackage | undefined> {
  const found = await loadManifest(join(root, path, manifestFileName), disk);
  // First, since the files of thousands of packages with the same name may take hours to read.
  if (typeof found === "string" || !isSought(found.manifest)) {
    return undefined;
  }
  const { manifest, sha256 } = found;
  return (await isWhole(join(root, path), manifest, disk)) ? { path, sha256, manifest } : undefined;
}

/**
 * Returns the manifest of a package whose files are all unchanged, by their hashes, because sizes do not reveal a
 * flipped bit. Undefined if there is no package, "damaged" if it is not what was archived. Throws ERR_FILE.
 */
async function findPackage(
  root: string,
  placed: PlacedPackage,
  disk: ArchiveDisk,
): Promise<Manifest | "damaged" | undefined> {
  const folder = join(root, placed.path);
  try {
    return await readPackage(folder, placed.sha256, disk);
  } catch (error) {
    throw asFileError(error, folder, root);
  }
}

async function readPackage(
  folder: string,
  sha256: string,
  disk: ArchiveDisk,
): Promise<Manifest | "damaged" | undefined> {
  const found = await loadManifest(join(folder, manifestFileName), disk);
  if (found === "none") {
    return (await exists(folder, disk)) ? "damaged" : undefined;
  }
  if (found === "damaged" || found.sha256 !== sha256) {
    return "damaged";
  }
  return (await isWhole(folder, found.manifest, disk)) ? found.manifest : "damaged";
}

async function isWhole(folder: string, manifest: Manifest, disk: ArchiveDisk): Promise<boolean> {
  for (const file of filesOf(manifest)) {
    const there = await hashFile(join(folder, file.path), disk);
    if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
      return false;
    }
  }
  return true;
}
