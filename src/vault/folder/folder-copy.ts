import { basename, dirname, join, resolve, sep } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { systemCode } from "../../media/disk.ts";
import { checkRoot, syncFolder } from "../../media/place-file.ts";
import {
  asFileError,
  diskFacts,
  holdName,
  manifestFileName,
  namesIn,
  plainDisk,
  stateFolderName,
} from "../archive-disk.ts";
import type { CopiedFile, CopiedPackage, CopyTarget, NotPut } from "../upkeep/copy-target.ts";
import { FolderVault } from "./folder-vault.ts";
import { copyPlain } from "../plain-files.ts";
import { isLeftOut } from "../walk.ts";
import { dayMs } from "../../time/clocks.ts";

/** A folder to which packages are copied, such as one on another disk or on a server. */
export class FolderCopy implements CopyTarget {
  readonly vault: FolderVault;
  readonly retainUntil = undefined;

  private constructor(root: string) {
    this.vault = new FolderVault(root, plainDisk);
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
    return await this.vault.removeInterrupted((await this.vault.leastTimeMs()) - dayMs);
  }

  mark(): Promise<void> {
    return Promise.resolve();
  }

  async lengthsOf(location: string): Promise<ReadonlyMap<string, number>> {
    const { root } = this.vault;
    const folder = join(root, location);
    const lengths = new Map<string, number>();
    try {
      for (const name of await namesIn(folder, plainDisk)) {
        const found = await plainDisk.lstat(join(folder, name));
        lengths.set(name, found.isFile() ? found.size : -1);
      }
    } catch (error) {
      // A copy that cannot be read ends the run; a file of the archive that cannot be read does not.
      throw asFileError(error, root, root);
    }
    return lengths;
  }

  async putPackage({ folder, location, manifest, files }: CopiedPackage): Promise<NotPut | undefined> {
    return await this.vault.unfinished(async (unfinished, { target, written }) => {
      await written(() => target.mkdir(unfinished));
      for (const file of [...files, { ...manifest, path: manifestFileName }]) {
        const to = join(unfinished, file.path);
        const problem = await copyPlain(join(folder, file.path), to, file, {
          source: plainDisk,
          target,
          written,
        });
        if (problem !== undefined) {
          return { what: problem, path: file.path };
        }
      }
      return await written(async () => {
        await syncFolder(unfinished, target, diskFacts);
        const path = join(this.vault.root, location);
        await this.vault.makeFolders(dirname(path));
        const isFree = await target.rename(unfinished, path).then(
          () => true,
          (error: unknown) => {
            if (!["EEXIST", "ENOTEMPTY", "ENOTDIR", "EPERM"].includes(systemCode(error) ?? "")) {
              throw error;
            }
            return false;
          },
        );
        const all = [...files, { ...manifest, path: manifestFileName }];
        const isPut = isFree || (await this.#completes(path, all, unfinished));
        await syncFolder(dirname(path), target, diskFacts);
        return isPut ? undefined : { what: "taken", path: manifestFileName };
      });
    });
  }

  /** Gives a package back what was lost of it, its manifest last. False if something else is there: it is not replaced. */
  async #completes(
    path: string,
    files: readonly Pick<CopiedFile, "bytes" | "path" | "sha256">[],
    unfinished: string,
  ): Promise<boolean> {
    const there = await namesIn(path, plainDisk);
    const wanted = new Map(files.map((file) => [file.path, file]));
    if (there.length === 0) {
      return false;
    }
    for (const name of there.filter((one) => !holdName.test(one))) {
      const { bytes = 0, sha256 } = wanted.get(name) ?? {};
      if (sha256 === undefined || (await this.vault.sha256Of(join(path, name), bytes)) !== sha256) {
        return false;
      }
    }
    for (const { path: name } of files.filter((file) => !there.includes(file.path))) {
      await plainDisk.rename(join(unfinished, name), join(path, name));
    }
    await syncFolder(path, plainDisk, diskFacts);
    return true;
  }

  close(): Promise<void> {
    return this.vault.close();
  }
}
