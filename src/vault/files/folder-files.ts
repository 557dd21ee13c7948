import { randomUUID } from "node:crypto";
import { dirname, join, relative, sep } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  diskFacts,
  holdName,
  makeStateFolder,
  namesIn,
  removeTree,
  stateFolderName,
  writeDurably,
} from "../archive-disk.ts";
import { openPlain } from "../packages/package-files.ts";
import { type ArchiveFiles, type SentFile, nothingElse } from "./archive-files.ts";
import { addLines } from "./checked-lines.ts";
import { wholeOf } from "./sent-file.ts";

const trashName = "trash";
/** A folder that is being written is hidden; what a kill leaves of it goes when it is this old. */
const unfinishedPrefix = ".unfinished-";
const unfinishedMs = 24 * 3_600_000;

/** The files of an archive in a folder. */
export class FolderFiles implements ArchiveFiles {
  readonly kind = "folder";
  readonly disk: ArchiveDisk;
  readonly root: string;

  /** `root` has no links. */
  constructor(root: string, disk: ArchiveDisk) {
    this.root = root;
    this.disk = disk;
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

  async remove(path: string): Promise<void> {
    await this.disk.unlink(path).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") {
        throw error;
      }
    });
    await syncFolder(dirname(path), this.disk, diskFacts);
  }

  async addToLog(path: string, records: readonly object[]): Promise<void> {
    await this.#makeFolder(dirname(path));
    await addLines(path, records, this.disk);
  }

  /** Moves it away in one step first, so that a kill leaves no incomplete package under its name. */
  async removePackage(folder: string, start: string, isHeld = nothingElse): Promise<boolean> {
    const trash = join(this.root, stateFolderName, trashName);
    await this.#makeFolder(trash);
    const away = join(trash, randomUUID());
    await this.disk.rename(folder, away);
    // If it cannot be known, it stays as well.
    let stays = true;
    try {
      const names = await this.disk.readdir(away);
      stays = names.some((name) => holdName.test(name)) || (await isHeld());
    } finally {
      if (stays) {
        await this.disk.rename(away, folder);
      }
    }
    if (stays) {
      return false;
    }
    await syncFolder(dirname(folder), this.disk, diskFacts);
    await removeTree(away, this.disk);
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

  /**
   * Ends removals that a kill has interrupted; they are in a log already. A package on hold stays, as it does where it could not be put
   * back: returns the paths of those, from the archive's folder.
   */
  async emptyTrash(): Promise<string[]> {
    const trash = join(this.root, stateFolderName, trashName);
    const held: string[] = [];
    for (const name of await namesIn(trash, this.disk)) {
      const away = join(trash, name);
      if ((await namesIn(away, this.disk)).some((file) => holdName.test(file))) {
        held.push(`${stateFolderName}/${trashName}/${name}`);
      } else {
        await removeTree(away, this.disk);
      }
    }
    return held;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  /** Creates a folder below the archive's own one, which is created as well. What is elsewhere exists. */
  async #makeFolder(folder: string): Promise<void> {
    const parts = relative(this.root, folder).split(sep);
    if (parts[0] !== stateFolderName) {
      return;
    }
    let at = this.root;
    for (const part of parts) {
      const parent = at;
      at = join(at, part);
      if (await makeStateFolder(at, this.disk)) {
        await syncFolder(parent, this.disk, diskFacts);
      }
    }
  }

  async #removeUnfinished(folder: string): Promise<void> {
    for (const name of await this.disk.readdir(folder)) {
      if (name.startsWith(unfinishedPrefix)) {
        const path = join(folder, name);
        if ((await changedAtMs(path, this.disk)) < Date.now() - unfinishedMs) {
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
