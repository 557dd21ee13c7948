import { chown, link, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import { StoreDatabase } from "../../store/store-database.ts";
import { diskFacts, exists, plainDisk } from "../archive-disk.ts";

/** A database that is made beside the one whose place it takes. */
export interface NewDatabase {
  /** The name that it gets. */
  readonly file: string;
  readonly database: StoreDatabase;
  /** Moves what is there aside and gives the new one its name. Returns where the other one is; null where there was none. */
  finish(): Promise<string | null>;
  /** Removes what was made; what is there has not been touched. */
  discard(): Promise<void>;
}

/** SQLite's own files beside a database. */
const sqliteSuffixes = ["-wal", "-shm"];

/** Begins a database that is to replace the one at this path. The caller holds the lock of that one. */
export async function beginDatabase(file: string): Promise<NewDatabase> {
  const beginning = `${file}.rebuilding`;
  const discard = async (): Promise<void> => {
    for (const suffix of ["", "-lock", ...sqliteSuffixes]) {
      await rm(`${beginning}${suffix}`, { force: true });
    }
  };
  // What a killed rebuild has left.
  await discard();
  const database = await StoreDatabase.open({ file: beginning });
  return {
    file,
    database,
    async finish() {
      await database.close();
      await giveToOwner(file, beginning);
      const movedTo = await moveAside(file);
      await rename(beginning, file);
      await syncFolder(dirname(file), plainDisk, diskFacts);
      await discard();
      return movedTo;
    },
    async discard() {
      await database.close();
      await discard();
    },
  };
}

/**
 * Node-RED has to be able to write what an administrator has made: it belongs to the owner of the file that it replaces, or of the
 * folder.
 */
async function giveToOwner(file: string, beginning: string): Promise<void> {
  if (process.getuid?.() !== 0) {
    return;
  }
  const { uid, gid } = await stat(file).catch(() => stat(dirname(file)));
  await chown(beginning, uid, gid);
  await chown(`${file}-lock`, uid, gid);
}

/**
 * The file keeps its name as well, until another one takes it: at no time is there none, in whose place Node-RED would begin an empty one.
 * Its log must not stay, because SQLite would take it for the new one's.
 */
async function moveAside(file: string): Promise<string | null> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const aside = `${file}.damaged-${time}`;
  const isThere = await exists(file, plainDisk);
  if (isThere) {
    await link(file, aside).catch(async (error: unknown) => {
      if (systemCode(error) === "EEXIST") {
        throw error;
      }
      // Not every file system has a second name for a file.
      await rename(file, aside);
    });
  }
  let hasMoved = isThere;
  for (const suffix of sqliteSuffixes) {
    if (await exists(`${file}${suffix}`, plainDisk)) {
      await rename(`${file}${suffix}`, `${aside}${suffix}`);
      hasMoved = true;
    }
  }
  return hasMoved ? aside : null;
}
