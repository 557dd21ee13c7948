import { join } from "node:path";
import { asFileError, exists, manifestFileName, namesIn, type ArchiveDisk } from "../archive-disk.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { foldersInUse, numberedFolder } from "../packages/layout.ts";
import { filesOf, type Manifest } from "../packages/manifest.ts";
import { hashFile, loadManifest } from "../packages/package-files.ts";
import type { FoundPackage } from "./package-place.ts";

/**
 * The folders in which a package is placed. With another layout, one of them may be the name of an existing package, and
 * nobody would find a package within a package: then the folder gets the next number.
 */
export async function outsidePackages(
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
 * The path of folders as the disk has spelled them. A disk that ignores capital and small letters has ORDER-1 where order-1 is, and
 * those who walk through it find order-1: what is recorded has to agree with that. Only a folder of such a disk is read, and not if its
 * names have no letters, such as dates.
 */
export async function spelledOnDisk(
  root: string,
  parts: readonly string[],
  disk: ArchiveDisk,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const part of parts) {
    found.push(await spellingOf(part, join(root, ...found), disk));
  }
  return found;
}

async function spellingOf(name: string, folder: string, disk: ArchiveDisk): Promise<string> {
  const other = name.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  if (other === name || !(await exists(join(folder, other), disk))) {
    return name;
  }
  const names = await namesIn(folder, disk);
  // Both are there where letters are told apart.
  if (names.includes(name) || !(await exists(join(folder, name), disk))) {
    return name;
  }
  const comparable = (one: string): string => one.normalize("NFC").toLowerCase();
  return names.find((one) => comparable(one) === comparable(name)) ?? name;
}

/**
 * Finds the first complete package with a name or one of its numbers for which `isSought` returns true. Throws
 * ERR_FILE.
 */
export async function seekPackage(
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
export async function findAt(
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
  if (!(await isWhole(join(root, path), manifest, disk))) {
    return undefined;
  }
  return { path: (await spelledOnDisk(root, path.split("/"), disk)).join("/"), sha256, manifest };
}

/**
 * Returns the manifest of a package whose files are all unchanged, by their hashes, because sizes do not reveal a
 * flipped bit. Undefined if there is no package, "damaged" if it is not what was archived. Throws ERR_FILE.
 */
export async function findPackage(
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
