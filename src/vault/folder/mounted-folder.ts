import { join } from "node:path";
import type { Database } from "../../database/database.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { checkRoot } from "../../media/place-file.ts";
import { type ArchiveDisk, asFileError, diskFacts, exists } from "../archive-disk.ts";
import { logParts } from "../log/log-files.ts";

interface StoreFolderParts {
  /** The folder of packages. */
  readonly root: string;
  readonly disk: ArchiveDisk;
  readonly database: Pick<Database, "transaction">;
  /** The ID of the database. */
  readonly store: string;
}

/**
 * A folder of packages that is not on the disk of Node-RED: a share or another disk, which may be away. Where it is not mounted, there
 * may be an empty folder at its path, and a package in that one would be found by nobody. So the folder counts as there only if the log
 * of the store is in it, which it is from the first use on.
 */
export class MountedFolder {
  readonly #parts: StoreFolderParts;
  #claim: () => Promise<void> = () => Promise.resolve();
  #claimed: Promise<void> | undefined;

  constructor(parts: StoreFolderParts) {
    this.#parts = parts;
  }

  /** `claim`: what is to be done before the store uses the folder for the first time in this process. */
  beforeUse(claim: () => Promise<void>): void {
    this.#claim = claim;
  }

  /** Rejects with ERR_FILE unless the folder is there, and is that of the store. */
  async demandThere(): Promise<void> {
    await demandStoreFolder(this.#parts);
  }

  /** The same, when the store has claimed the folder. Rejects with ERR_FILE and ERR_STORE, and is tried again by the next caller then. */
  async demandClaimed(): Promise<void> {
    await this.demandThere();
    const claimed = (this.#claimed ??= this.#begin());
    try {
      await claimed;
    } catch (error) {
      if (this.#claimed === claimed) {
        this.#claimed = undefined;
      }
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const { root } = this.#parts;
    try {
      await this.#claim();
    } catch (error) {
      throw asFileError(error, root, root);
    }
  }
}

/** The folder that a database says its packages are in; null before the first use. */
async function notedFolder(database: Pick<Database, "transaction">): Promise<string | null> {
  const [[row] = []] = await database.transaction([{ sql: "SELECT folder FROM store" }]);
  const folder = row?.["folder"];
  return typeof folder === "string" ? folder : null;
}

/**
 * Rejects with ERR_FILE unless a folder is there and, if it is the one that the database names, the log of the store is in it: where a
 * share or a disk is not mounted, there is an empty folder, and everything would be said to be missing.
 */
export async function demandStoreFolder({ root, disk, database, store }: StoreFolderParts): Promise<void> {
  const hasLog = (): Promise<boolean> => exists(join(root, ...logParts, store), disk);
  try {
    if (await hasLog()) {
      return;
    }
    await checkRoot(root, disk, diskFacts);
    // What another folder was moved to is compared by who claims it.
    const isNoted = (await notedFolder(database)) === (await disk.realpath(root));
    // The log is made before the folder is noted, and both may have happened since the first look.
    if (isNoted && !(await hasLog())) {
      throw new DimensionerError("folderEmptied", diskFacts, { path: root });
    }
  } catch (error) {
    throw asFileError(error, root, root);
  }
}
