import { dirname, join } from "node:path";
import { always } from "../../database/database.ts";
import { fileError, systemCode } from "../../media/disk.ts";
import { makeSubfolders, syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  exists,
  manifestFileName,
  removeTree,
} from "../archive-disk.ts";
import type { FolderFiles } from "../files/folder-files.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { numberedFolder } from "../packages/layout.ts";
import type { Manifest } from "../packages/manifest.ts";
import { loadManifest } from "../packages/package-files.ts";
import { type IndexKeys, indexPackage } from "../packages/package-index.ts";
import { deliver } from "./delivery.ts";
import { findAt, findPackage, outsidePackages, seekPackage, spelledOnDisk } from "./folder-packages.ts";
import type {
  FoundPackage,
  MaybePlaced,
  NotedPackage,
  PackagePlace,
  SamePackage,
  SealedPackage,
} from "./package-place.ts";
import { UsedNumbers } from "./used-numbers.ts";

const mostNumbers = 100_000;
/** The error codes of a rename to a name that is taken by a file or a folder that is not empty. */
const takenCodes: ReadonlySet<string | undefined> = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR"]);
/** The codes of Windows for the same, which also mean that something is open or not permitted. */
const refusedCodes: ReadonlySet<string | undefined> = new Set(["EPERM", "EACCES"]);
/** The code of a rename from one disk to another one. */
const otherDisk = "EXDEV";
/** The codes of a rename that has certainly not happened. After another one, a share may have executed it. */
const notRenamedCodes: ReadonlySet<string | undefined> = new Set([
  ...takenCodes,
  ...refusedCodes,
  "EDQUOT",
  "ENAMETOOLONG",
  "ENOSPC",
  "EROFS",
  otherDisk,
]);

/** Where the work folders are, if they are on another disk than the packages. */
interface Spool {
  readonly disk: ArchiveDisk;
  readonly worker: string;
  /** Rejects while the folder of packages is away. */
  demandPackages(): Promise<void>;
}

/**
 * A folder of packages. The work folders are on the same disk, so that one rename gives a package its name, or in a spool on the disk of
 * Node-RED.
 */
export class FolderPlace implements PackagePlace {
  readonly files: FolderFiles;
  readonly #spool: Spool | undefined;
  readonly #numbers = new UsedNumbers();
  #isOnOtherDisk = false;

  constructor(files: FolderFiles, spool?: Spool) {
    this.files = files;
    this.#spool = spool;
  }

  async key(): Promise<string> {
    const { root, disk } = this.files;
    try {
      return await disk.realpath(root);
    } catch (error) {
      throw asFileError(error, root);
    }
  }

  async find({ path, sha256 }: PlacedPackage): Promise<Manifest | "damaged" | undefined> {
    await this.#spool?.demandPackages();
    return await findPackage(this.files.root, { path, sha256 }, this.files.disk);
  }

  async seek(job: string, parts: readonly string[]): Promise<FoundPackage | undefined> {
    await this.#spool?.demandPackages();
    return await seekPackage(
      { root: this.files.root, disk: this.files.disk, parts },
      (manifest) => manifest.job === job,
    );
  }

  retainUntil(): null {
    return null;
  }

  async place(
    sealed: SealedPackage,
    same: SamePackage,
    maybePlaced: MaybePlaced,
  ): Promise<FoundPackage | { readonly path: string }> {
    const { root, disk } = this.files;
    const { folder, parts } = sealed;
    const place = (from: string): Promise<FoundPackage | { readonly path: string }> =>
      placePackage(from, { root, parts, disk }, { same, maybePlaced, numbers: this.#numbers });
    if (this.#spool === undefined) {
      return await place(folder);
    }
    await this.#spool.demandPackages();
    if (!this.#isOnOtherDisk) {
      try {
        return await place(folder);
      } catch (error) {
        if (systemCode(error) !== otherDisk) {
          throw error;
        }
        this.#isOnOtherDisk = true;
      }
    }
    const { disk: spoolDisk, worker } = this.#spool;
    const copy = await deliver(sealed, { root, disk, spoolDisk, worker });
    const placed = await place(copy);
    if ("manifest" in placed) {
      await removeTree(copy, disk);
    }
    return placed;
  }

  /** Even if another worker has the job by now: the package is there, and its row is the same whoever writes it. */
  note({ path, sha256, manifest }: FoundPackage, keys: IndexKeys): NotedPackage {
    return { condition: always, statements: indexPackage(keys, { path, sha256 }, manifest) };
  }

  /** What has its name stays. */
  async discard({ path, sha256 }: PlacedPackage): Promise<boolean> {
    await this.#spool?.demandPackages();
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
