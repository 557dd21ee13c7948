import { randomUUID } from "node:crypto";
import { dirname, join, relative, sep } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/place-file.ts";
import {
  type ArchiveDisk,
  diskFacts,
  exists,
  holdName,
  makeStateFolder,
  manifestFileName,
  namesIn,
  removeTree,
  stateFolderName,
  writeDurably,
} from "../archive-disk.ts";
import { type FoundManifest, loadManifest, openPlain } from "../packages/package-files.ts";
import type { ArchiveFiles, SentFile } from "./archive-files.ts";
import { logEnd, logParts, textOfLines } from "../log/log-files.ts";
import { appendText } from "./appended-lines.ts";
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
    const trash = join(this.root, stateFolderName, trashName);
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

  /**
   * Ends removals that a kill has interrupted. `isDeleted`: whether a log says that a package was deleted. All others stay, as do those
   * that are on hold: returns their paths, from the archive's folder. Throws ERR_FILE if the trash is a link.
   */
  async emptyTrash(isDeleted: (found: FoundManifest) => Promise<boolean>): Promise<string[]> {
    const trash = join(this.root, stateFolderName, trashName);
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
        left.push(`${stateFolderName}/${trashName}/${name}`);
      }
    }
    return left;
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
