import { dirname, join } from "node:path";
import { always } from "../../database/database.ts";
import { phrase } from "../../errors/interpolation.ts";
import { fileError, systemCode } from "../../media/disk.ts";
import { makeSubfolders, syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  asFileError,
  diskFacts,
  exists,
  manifestFileName,
  namesIn,
} from "../archive-disk.ts";
import type {
  FoundPackage,
  MaybePlaced,
  NotedPackage,
  Committer,
  SamePackage,
  SealedPackage,
} from "../vault.ts";
import type { PlacedPackage } from "../packages/intent.ts";
import { numberedFolder, foldersInUse } from "../packages/layout.ts";
import { type Manifest, filesOf } from "../packages/manifest.ts";
import { loadManifest, hashFile } from "../packages/package-files.ts";
import { type IndexKeys, indexPackage } from "../packages/package-index.ts";
import { copyPlain } from "../plain-files.ts";
import type { FolderVault } from "./folder-vault.ts";

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
  /** Rejects while the folder of packages is away. */
  demandPackages(): Promise<void>;
}

/**
 * A folder of packages. The work folders are on the same disk, so that one rename gives a package its name, or in a spool on the disk of
 * Node-RED.
 */
export class FolderCommitter implements Committer {
  readonly vault: FolderVault;
  readonly #spool: Spool | undefined;
  readonly #numbers = new UsedNumbers();
  #isOnOtherDisk = false;

  constructor(vault: FolderVault, spool?: Spool) {
    this.vault = vault;
    this.#spool = spool;
  }

  async key(): Promise<string> {
    const { root, disk } = this.vault;
    try {
      return await disk.realpath(root);
    } catch (error) {
      throw asFileError(error, root);
    }
  }

  async find({ path, sha256 }: PlacedPackage): Promise<Manifest | "damaged" | undefined> {
    await this.#spool?.demandPackages();
    return await findPackage(this.vault.root, { path, sha256 }, this.vault.disk);
  }

  async seek(job: string, parts: readonly string[]): Promise<FoundPackage | undefined> {
    await this.#spool?.demandPackages();
    return await seekPackage(
      { root: this.vault.root, disk: this.vault.disk, parts },
      (manifest) => manifest.job === job,
    );
  }

  retainUntil(): Promise<null> {
    return Promise.resolve(null);
  }

  async commit(
    sealed: SealedPackage,
    same: SamePackage,
    maybePlaced: MaybePlaced,
  ): Promise<FoundPackage | { readonly path: string }> {
    const { root, disk } = this.vault;
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
    return await deliver(sealed, { vault: this.vault, spoolDisk: this.#spool.disk }, place);
  }

  /** Even if another worker has the job by now: the package is there, and its row is the same whoever writes it. */
  note({ path, sha256, manifest }: FoundPackage, keys: IndexKeys): NotedPackage {
    return { condition: always, statements: indexPackage(keys, { path, sha256 }, manifest) };
  }

  /** What has its name stays. */
  async discard({ path, sha256 }: PlacedPackage): Promise<boolean> {
    await this.#spool?.demandPackages();
    const { root, disk } = this.vault;
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
 * The path of folders as the disk has spelled them. A disk that ignores capital and small letters has ORDER-1 where order-1 is, and
 * those who walk through it find order-1: what is recorded has to agree with that. Only a folder of such a disk is read, and not if its
 * names have no letters, such as dates.
 */
async function spelledOnDisk(
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
  if (!(await isWhole(join(root, path), manifest, disk))) {
    return undefined;
  }
  return { path: (await spelledOnDisk(root, path.split("/"), disk)).join("/"), sha256, manifest };
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
    const there = await hashFile(join(folder, file.path), disk, undefined, file.bytes);
    if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
      return false;
    }
  }
  return true;
}

/**
 * Copies a sealed package from the spool to a hidden place on the disk of the packages, from where a rename can give it its name: `place` is
 * called with that path. Each file is read back there and compared: the spool keeps its own only until the package is archived. What has no
 * name after that is removed. Rejects with ERR_FILE.
 */
async function deliver<T>(
  { folder, files: sealed, manifest }: SealedPackage,
  { vault, spoolDisk }: { readonly vault: FolderVault; readonly spoolDisk: ArchiveDisk },
  place: (copy: string) => Promise<T>,
): Promise<T> {
  return await vault.unfinished(async (copy, { target, written }) => {
    await written(() => target.mkdir(copy));
    for (const file of [...sealed, manifest]) {
      const [from, to] = [join(folder, file.path), join(copy, file.path)];
      let problem: string | undefined;
      try {
        problem = await copyPlain(from, to, file, { source: spoolDisk, target, written });
      } catch (error) {
        throw asFileError(error, from);
      }
      if (problem !== undefined) {
        throw fileError("fileOther", from, diskFacts, phrase("fileChanged"));
      }
      const there = await written(() => hashFile(to, target, undefined, file.bytes));
      if (there?.bytes !== file.bytes || there.sha256 !== file.sha256) {
        throw fileError("fileOther", to, diskFacts, phrase("fileChanged"));
      }
    }
    await written(() => syncFolder(copy, target, diskFacts));
    return await place(copy);
  });
}

/** Numbers that other computers have used again, after a package was deleted because of its age, are seen after this time. */
const knownMs = 24 * 60 * 60 * 1_000;
/** How many packages are known of all names together. */
const mostKnown = 100_000;

/** What has one name: the packages from the one without a number on, up to the next free number. */
export class KnownNumbers {
  readonly sinceMs: number;
  readonly #ofKey = new Map<string, number[]>();
  readonly #unreadable: number[] = [];
  #next = 0;

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  get next(): number {
    return this.#next;
  }

  /** The numbers before `next` that may have a package with this key. */
  candidates(key: string): readonly number[] {
    return [...this.#unreadable, ...(this.#ofKey.get(key) ?? [])];
  }

  /** Notes what has the next number: a package with this key, or nothing that could be read. */
  add(key: string | undefined): void {
    const numbers = key === undefined ? this.#unreadable : (this.#ofKey.get(key) ?? []);
    numbers.push(this.#next);
    if (key !== undefined) {
      this.#ofKey.set(key, numbers);
    }
    this.#next += 1;
  }
}

/**
 * Remembers which packages have the same name, so that the twenty-thousandth one does not read the manifests of all the
 * others again to find out that it is none of them.
 */
export class UsedNumbers {
  readonly #nowMs: () => number;
  /** The one that was used longest ago first. */
  readonly #names = new Map<string, KnownNumbers>();
  #known = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Takes out what is known of a name. */
  take(path: string): KnownNumbers {
    const nowMs = this.#nowMs();
    const found = this.#names.get(path);
    this.#names.delete(path);
    this.#known -= found?.next ?? 0;
    const isNew = found !== undefined && Math.abs(nowMs - found.sinceMs) < knownMs;
    return isNew ? found : new KnownNumbers(nowMs);
  }

  /** Keeps what is known of a name that several packages have. */
  keep(path: string, numbers: KnownNumbers): void {
    if (numbers.next < 2) {
      return;
    }
    this.#names.set(path, numbers);
    this.#known += numbers.next;
    for (const oldest of this.#names.keys()) {
      if (this.#known <= mostKnown || oldest === path) {
        return;
      }
      this.take(oldest);
    }
  }
}
