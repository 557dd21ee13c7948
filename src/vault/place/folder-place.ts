import { dirname, join } from "node:path";
import { always } from "../../database/database.ts";
import { fileError, systemCode } from "../../media/disk.ts";
import { makeSubfolders, syncFolder } from "../../media/place-file.ts";
import { type ArchiveDisk, asFileError, diskFacts, exists, manifestFileName } from "../archive-disk.ts";
import type { FolderFiles } from "../files/folder-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { numberedFolder } from "../packages/layout.ts";
import type { Manifest } from "../packages/manifest.ts";
import { loadManifest } from "../packages/package-files.ts";
import { type IndexKeys, indexPackage } from "../packages/package-index.ts";
import { findAt, findPackage, outsidePackages, seekPackage, spelledOnDisk } from "./folder-packages.ts";
import type {
  FoundPackage,
  MaybePlaced,
  NotedPackage,
  PackagePlace,
  PreparedPackage,
  SamePackage,
  SealedFiles,
} from "./package-place.ts";
import { UsedNumbers } from "./used-numbers.ts";

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
  readonly #numbers = new UsedNumbers();

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
      place: (_manifest, same, maybePlaced) =>
        placePackage(folder, { root, parts, disk }, { same, maybePlaced, numbers: this.#numbers }),
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
  readonly same: SamePackage;
  readonly maybePlaced: MaybePlaced;
  readonly numbers: UsedNumbers;
}

/**
 * Gives a package its name in one step that overwrites nothing, whoever else works in the same folder. If the name is
 * taken, the next number is tried; an existing package that is the same one is returned instead.
 */
async function placePackage(
  from: string,
  { root, parts, disk }: { root: string; parts: readonly string[]; disk: ArchiveDisk },
  { same, maybePlaced, numbers }: PlacingOptions,
): Promise<FoundPackage | { readonly path: string }> {
  const folders = await outsidePackages(root, parts.slice(0, -1), disk);
  const parent = await makeSubfolders(root, folders, disk, diskFacts);
  const above = await spelledOnDisk(root, folders, disk);
  const name = parts.at(-1) ?? "";
  const unnumbered = [...above, name].join("/");
  const known = numbers.take(unnumbered);
  const pathOf = (number: number): string => [...above, numberedFolder(name, number)].join("/");
  try {
    for (const number of known.candidates(same.key)) {
      const found = await findAt(root, pathOf(number), disk, same.isSame);
      if (found !== undefined) {
        return found;
      }
    }
    while (known.next < mostNumbers) {
      const path = pathOf(known.next);
      if (await renameFree(from, { target: join(root, path), disk, maybePlaced: () => maybePlaced(path) })) {
        known.add(same.key);
        return { path };
      }
      let key: string | undefined;
      const found = await findAt(root, path, disk, (manifest) => {
        key = same.keyOf(manifest);
        return same.isSame(manifest);
      });
      known.add(key);
      if (found !== undefined) {
        return found;
      }
    }
  } finally {
    // The next attempt after the last number tries those that have become free.
    if (known.next < mostNumbers) {
      numbers.keep(unnumbered, known);
    }
  }
  throw fileError("fileExists", join(parent, name), diskFacts);
}

/** Returns false if the name is taken. */
async function renameFree(
  from: string,
  { target, disk, maybePlaced }: { target: string; disk: ArchiveDisk; maybePlaced: () => () => void },
): Promise<boolean> {
  // A share may execute it after its answer was given up.
  const notPlaced = maybePlaced();
  try {
    await disk.rename(from, target);
  } catch (error) {
    const code = systemCode(error);
    if (notRenamedCodes.has(code)) {
      // Before anything else fails: the other jobs wait until it is certain.
      notPlaced();
    }
    if (takenCodes.has(code) || (refusedCodes.has(code) && (await exists(target, disk)))) {
      return false;
    }
    throw error;
  }
  await syncFolder(dirname(target), disk, diskFacts);
  return true;
}
