import { randomUUID } from "node:crypto";
import { basename, dirname, join, resolve, sep } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { systemCode } from "../media/disk.ts";
import { checkRoot, syncFolder } from "../media/place-file.ts";
import {
  asFileError,
  diskFacts,
  makeStateFolder,
  manifestFileName,
  namesIn,
  plainDisk,
  removeTree,
  stateFolderName,
} from "./archive-disk.ts";
import type { CopiedPackage, CopyTarget, NotPut } from "./copy-target.ts";
import { FolderFiles } from "./files/folder-files.ts";
import { copyPlain } from "./files/copy-plain.ts";
import { hashFile } from "./packages/package-files.ts";
import { isLeftOut } from "./walk.ts";

/** In the archive's own folder: what is being copied. */
const copyingName = "copying";
const dayMs = 24 * 3_600_000;

/** A folder to which packages are copied, such as one on another disk or on a server. */
export class FolderCopy implements CopyTarget {
  readonly files: FolderFiles;
  readonly #root: string;
  readonly #disks = {
    source: plainDisk,
    target: plainDisk,
    written: <T>(work: () => Promise<T>): Promise<T> => this.#written(work),
  };

  private constructor(root: string) {
    this.#root = root;
    this.files = new FolderFiles(root, plainDisk);
  }

  /**
   * Opens the folder; creates its last part if it is missing, but not what it is in: that may be a disk that is not mounted. Throws
   * ERR_CONFIG if the folder is something else, and ERR_FILE.
   */
  static async open(to: string, from: string): Promise<FolderCopy> {
    const named = resolve(to);
    const refuse = (): DimensionerError =>
      new DimensionerError(
        "copyFolder",
        { surface: "config", operation: "copy" },
        { path: named, name: from },
      );
    const parent = await checkRoot(dirname(named), plainDisk, diskFacts);
    try {
      const expected = await plainDisk
        .realpath(named)
        .catch(async () => join(await plainDisk.realpath(parent), basename(named)));
      const within = (one: string, other: string): boolean => `${one}${sep}`.startsWith(`${other}${sep}`);
      if (within(expected, from) || within(from, expected)) {
        throw refuse();
      }
      await plainDisk.mkdir(expected).catch((error: unknown) => {
        if (systemCode(error) !== "EEXIST") {
          throw error;
        }
      });
      const names = await plainDisk.readdir(expected);
      if (!names.includes(stateFolderName) && !names.every(isLeftOut)) {
        throw refuse();
      }
      return new FolderCopy(expected);
    } catch (error) {
      throw asFileError(error, named);
    }
  }

  async begin(): Promise<number> {
    const copying = join(this.#root, stateFolderName, copyingName);
    let removed = 0;
    await this.#written(async () => {
      for (const name of await namesIn(copying, plainDisk)) {
        const path = join(copying, name);
        if ((await plainDisk.lstat(path)).mtimeMs < Date.now() - dayMs) {
          await removeTree(path, plainDisk);
          removed += 1;
        }
      }
    });
    return removed;
  }

  mark(): Promise<void> {
    return Promise.resolve();
  }

  async lengthsOf(location: string): Promise<ReadonlyMap<string, number>> {
    const folder = join(this.#root, location);
    const lengths = new Map<string, number>();
    await this.#written(async () => {
      for (const name of await namesIn(folder, plainDisk)) {
        const found = await plainDisk.lstat(join(folder, name));
        lengths.set(name, found.isFile() ? found.size : -1);
      }
    });
    return lengths;
  }

  async sha256Of(location: string): Promise<string | undefined> {
    return await this.#written(async () => (await hashFile(join(this.#root, location), plainDisk))?.sha256);
  }

  async putPackage({ folder, location, manifest, files }: CopiedPackage): Promise<NotPut | undefined> {
    return await this.#staged(async (staging) => {
      await this.#written(() => plainDisk.mkdir(staging));
      for (const file of [...files, { ...manifest, path: manifestFileName }]) {
        const problem = await copyPlain(join(folder, file.path), join(staging, file.path), file, this.#disks);
        if (problem !== undefined) {
          return { what: problem, path: file.path };
        }
      }
      return await this.#written(async () => {
        await syncFolder(staging, plainDisk, diskFacts);
        const parent = await this.#makeParents(location);
        const isFree = await plainDisk.rename(staging, join(this.#root, location)).then(
          () => true,
          (error: unknown) => {
            if (!["EEXIST", "ENOTEMPTY", "ENOTDIR", "EPERM"].includes(systemCode(error) ?? "")) {
              throw error;
            }
            return false;
          },
        );
        await syncFolder(parent, plainDisk, diskFacts);
        return isFree ? undefined : { what: "taken", path: manifestFileName };
      });
    });
  }

  async putFile(
    path: string,
    location: string,
    expected: Parameters<CopyTarget["putFile"]>[2],
  ): Promise<NotPut["what"] | undefined> {
    return await this.#staged(async (staging) => {
      const problem = await copyPlain(path, staging, expected, this.#disks);
      if (problem === undefined) {
        await this.#written(async () => {
          const parent = await this.#makeParents(location);
          await plainDisk.rename(staging, join(this.#root, location));
          await syncFolder(parent, plainDisk, diskFacts);
        });
      }
      return problem;
    });
  }

  async remove(location: string): Promise<void> {
    await this.files.remove(join(this.#root, location));
  }

  close(): Promise<void> {
    return this.files.close();
  }

  /** Works on what has a hidden place until it is complete. */
  async #staged<T>(work: (staging: string) => Promise<T>): Promise<T> {
    const state = join(this.#root, stateFolderName);
    const copying = join(state, copyingName);
    await this.#written(async () => {
      await makeStateFolder(state, plainDisk);
      await makeStateFolder(copying, plainDisk);
    });
    const staging = join(copying, randomUUID());
    try {
      return await work(staging);
    } finally {
      await removeTree(staging, plainDisk).catch(() => undefined);
    }
  }

  /** Returns the folder that a location is in. Throws ERR_FILE if a link is on the way. */
  async #makeParents(location: string): Promise<string> {
    let at = this.#root;
    for (const part of location.split("/").slice(0, -1)) {
      const parent = at;
      at = join(at, part);
      if (await makeStateFolder(at, plainDisk)) {
        await syncFolder(parent, plainDisk, diskFacts);
      }
    }
    return at;
  }

  /** A copy that cannot be written ends the run; a file that cannot be read does not. */
  async #written<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asFileError(error, this.#root, this.#root);
    }
  }
}
