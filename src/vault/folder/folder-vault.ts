import { randomUUID } from "node:crypto";
import { dirname, join, relative, sep } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { type Space, spaceOf } from "../../media/disk-guard.ts";
import { systemCode, timeInFolder } from "../../media/disk.ts";
import { syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  type ReadDisk,
  asFileError,
  diskFacts,
  exists,
  holdName,
  makeStateFolder,
  manifestFileName,
  namesIn,
  removeTree,
  stateFolderName,
  trashFolderName,
  workFolderName,
  writeDurably,
} from "../archive-disk.ts";
import { logEnd, logParts, textOfLines } from "../log/log-files.ts";
import { type FoundManifest, hashFile, loadManifest, openPlain } from "../packages/package-files.ts";
import { appendText, copyPlain, wholeOf } from "../plain-files.ts";
import type { Vault, NotPutFile, PutFile, SentFile, StoredFile } from "../vault.ts";
import { dayMs } from "../../time/clocks.ts";

/** In the archive's own folder: what is not there completely yet. */
const copyingName = "copying";
/** A folder that is being written is hidden; what a kill leaves of it goes when it is this old. */
const unfinishedPrefix = ".unfinished-";
const unfinishedMs = dayMs;

/** The files of an archive in a folder. */
export class FolderVault implements Vault {
  readonly kind = "folder";
  readonly readsAtOnce = 2;
  readonly worksAtOnce = 1;
  readonly showsUnfinished = false;
  readonly disk: ArchiveDisk;
  readonly root: string;

  /** Rejects unless the folder is there, and is that of the store. */
  readonly demandThere: () => Promise<void>;

  /** `demandThere`: for a folder that may be a share or a disk that is not mounted. */
  constructor(root: string, disk: ArchiveDisk, demandThere: () => Promise<void> = () => Promise.resolve()) {
    this.root = root;
    this.disk = disk;
    this.demandThere = demandThere;
  }

  get name(): string {
    return this.root;
  }

  addressOf(location: string): string {
    return join(this.root, location);
  }

  async openToSend(path: string): Promise<SentFile | undefined> {
    return await wholeOf(await openPlain(path, this.disk));
  }

  async write(path: string, content: string | Buffer): Promise<void> {
    const folder = dirname(path);
    await this.#makeFolder(folder);
    const unfinished = `${path}.${randomUUID()}`;
    await writeDurably(unfinished, content, this.disk);
    await this.disk.rename(unfinished, path);
    await syncFolder(folder, this.disk, diskFacts);
  }

  async writeFolder(path: string, files: readonly (readonly [string, Buffer])[]): Promise<void> {
    const parent = dirname(path);
    await this.#makeFolder(parent);
    await this.#removeUnfinished(parent);
    const unfinished = join(parent, `${unfinishedPrefix}${randomUUID()}`);
    try {
      await this.disk.mkdir(unfinished);
      for (const [name, content] of files) {
        await writeDurably(join(unfinished, name), content, this.disk);
      }
      await syncFolder(unfinished, this.disk, diskFacts);
      await this.disk.rename(unfinished, path);
    } catch (error) {
      await removeTree(unfinished, this.disk).catch(() => undefined);
      throw error;
    }
    await syncFolder(parent, this.disk, diskFacts);
  }

  async putFile(
    from: string,
    path: string,
    expected: PutFile,
    source: Pick<ReadDisk, "open">,
  ): Promise<NotPutFile | undefined> {
    return await this.unfinished(async (unfinished, disks) => {
      const problem = await copyPlain(from, unfinished, expected, { source, ...disks });
      if (problem === undefined) {
        await disks.written(async () => {
          const folder = dirname(path);
          await this.makeFolders(folder);
          await this.disk.rename(unfinished, path);
          await syncFolder(folder, this.disk, diskFacts);
        });
      }
      return problem;
    });
  }

  /**
   * Works on something at a hidden place, from where a rename gives it its name; what is left there is removed. `written` makes ERR_FILE
   * of each error of this disk.
   */
  async unfinished<T>(
    work: (
      path: string,
      disks: { readonly target: ArchiveDisk; readonly written: <R>(step: () => Promise<R>) => Promise<R> },
    ) => Promise<T>,
  ): Promise<T> {
    const folder = join(this.root, stateFolderName, copyingName);
    const written = <R>(step: () => Promise<R>): Promise<R> => this.#written(step);
    await written(() => this.makeFolders(folder));
    const path = join(folder, randomUUID());
    try {
      return await work(path, { target: this.disk, written });
    } finally {
      await removeTree(path, this.disk).catch(() => undefined);
    }
  }

  async #written<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asFileError(error, this.root, this.root);
    }
  }

  async sha256Of(path: string, most: number): Promise<string | undefined> {
    return await this.#written(async () => (await hashFile(path, this.disk, undefined, most))?.sha256);
  }

  async *filesBelow(folder: string): AsyncGenerator<readonly StoredFile[]> {
    for (const below of await namesIn(folder, this.disk)) {
      const files: StoredFile[] = [];
      for (const name of await namesIn(join(folder, below), this.disk)) {
        const path = join(folder, below, name);
        const found = await this.disk.lstat(path);
        files.push(...(found.isFile() ? [{ path, storedAtMs: found.mtimeMs }] : []));
      }
      yield files;
    }
  }

  async leastTimeMs(): Promise<number> {
    const folders = [copyingName, workFolderName].map((name) => join(this.root, stateFolderName, name));
    const times = await Promise.all(folders.map((one) => timeInFolder(one, this.disk).catch(() => 0)));
    return Math.max(...times);
  }

  async removeInterrupted(beforeMs: number): Promise<number> {
    const folder = join(this.root, stateFolderName, copyingName);
    return await this.#written(async () => {
      let removed = 0;
      for (const name of await namesIn(folder, this.disk)) {
        const path = join(folder, name);
        if ((await changedAtMs(path, this.disk)) < beforeMs) {
          await removeTree(path, this.disk);
          removed += 1;
        }
      }
      return removed;
    });
  }

  async removeEmpty(folder: string): Promise<void> {
    await this.disk.rmdir(folder).catch(() => undefined);
  }

  async remove(path: string): Promise<void> {
    await this.disk.unlink(path).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") {
        throw error;
      }
    });
    await syncFolder(dirname(path), this.disk, diskFacts);
  }

  async beginLog(store: string): Promise<void> {
    await this.#makeFolder(join(this.root, ...logParts, store));
  }

  async appendLog(store: string, writer: string, lines: readonly LogLine[]): Promise<void> {
    const folder = join(this.root, ...logParts, store);
    const path = join(folder, `${writer}${logEnd}`);
    const text = textOfLines(lines);
    if (await appendText(path, text, this.disk)) {
      return;
    }
    await this.demandThere();
    await this.#makeFolder(folder);
    await appendText(path, text, this.disk, true);
    await syncFolder(folder, this.disk, diskFacts);
  }

  compactLog(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Moves it away in one step first, so that a kill leaves no incomplete package under its name. */
  async removePackage(folder: string, start: string): Promise<boolean> {
    const trash = join(this.root, stateFolderName, trashFolderName);
    await this.#makeFolder(trash);
    const away = join(trash, randomUUID());
    await this.disk.rename(folder, away);
    // If it cannot be known, it stays as well.
    let stays = true;
    try {
      const names = await this.disk.readdir(away);
      stays = names.some((name) => holdName.test(name));
    } finally {
      if (stays) {
        await this.disk.rename(away, folder);
      }
    }
    if (stays) {
      return false;
    }
    await syncFolder(dirname(folder), this.disk, diskFacts);
    await removeTree(away, this.disk, manifestFileName);
    for (let parent = dirname(folder); parent.startsWith(start + sep); parent = dirname(parent)) {
      const isEmpty = await this.disk.rmdir(parent).then(
        () => true,
        () => false,
      );
      if (!isEmpty) {
        break;
      }
    }
    return true;
  }

  async emptyTrash(isDeleted: (found: FoundManifest) => Promise<boolean>): Promise<string[]> {
    const trash = join(this.root, stateFolderName, trashFolderName);
    if (!(await exists(trash, this.disk))) {
      return [];
    }
    await this.#makeFolder(trash);
    const left: string[] = [];
    for (const name of await namesIn(trash, this.disk)) {
      const away = join(trash, name);
      const found = await loadManifest(join(away, manifestFileName), this.disk);
      const isHeld = (await namesIn(away, this.disk)).some((file) => holdName.test(file));
      // Its manifest goes last, so that what is left of a package says what it was.
      if (!isHeld && typeof found === "object" && (await isDeleted(found))) {
        await removeTree(away, this.disk, manifestFileName);
      } else {
        left.push(`${stateFolderName}/${trashFolderName}/${name}`);
      }
    }
    return left;
  }

  async retainedUntilMs(): Promise<number> {
    return 0;
  }

  async space(): Promise<Space | undefined> {
    return await spaceOf(this.root, this.disk);
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  /** Creates a folder below the archive's own one, which is created as well. What is elsewhere exists. */
  async #makeFolder(folder: string): Promise<void> {
    if (relative(this.root, folder).split(sep)[0] === stateFolderName) {
      await this.makeFolders(folder);
    }
  }

  /** Creates a folder below the root, and those above it. Throws ERR_FILE if a link is on the way. */
  async makeFolders(folder: string): Promise<void> {
    let at = this.root;
    for (const part of relative(this.root, folder).split(sep)) {
      const parent = at;
      at = join(at, part);
      if (await makeStateFolder(at, this.disk)) {
        await syncFolder(parent, this.disk, diskFacts);
      }
    }
  }

  async #removeUnfinished(folder: string): Promise<void> {
    const timeMs = await timeInFolder(folder, this.disk);
    for (const name of await this.disk.readdir(folder)) {
      if (name.startsWith(unfinishedPrefix)) {
        const path = join(folder, name);
        if ((await changedAtMs(path, this.disk)) < timeMs - unfinishedMs) {
          await removeTree(path, this.disk);
        }
      }
    }
  }
}

/** When a folder has changed; infinite if it has got its name meanwhile, as that of another process does. */
async function changedAtMs(path: string, disk: ArchiveDisk): Promise<number> {
  try {
    return (await disk.lstat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return Infinity;
    }
    throw error;
  }
}
