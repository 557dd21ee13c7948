import { chown, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../media/disk.ts";
import { syncFolder } from "../../media/target-folder.ts";
import { failureError } from "../../database/sqlite-failures.ts";
import { StoreDatabase } from "../../database/store-database.ts";
import { diskFacts, exists, plainDisk } from "../archive-disk.ts";

/** A database that is created beside the one that it will replace. */
export interface NewDatabase {
  /** The name that it will get. */
  readonly file: string;
  readonly database: StoreDatabase;
  /**
   * Moves the existing database aside and gives the new one its name. Returns the path of the old one; null if there
   * was none.
   */
  finish(): Promise<string | null>;
  /** Removes the new database; the existing one was not touched. */
  discard(): Promise<void>;
}

/** The suffixes of SQLite's own files beside a database. */
const sqliteSuffixes = ["-wal", "-shm"];
/** What each SQLite file begins with. */
const sqliteMark = "SQLite format 3\0";

/**
 * Creates a database that will replace the one at this path. The caller holds the lock of that one. Rejects with ERR_STORE if
 * the file there is something else.
 */
export async function beginDatabase(file: string): Promise<NewDatabase> {
  if (!(await mayBeDatabase(file))) {
    throw failureError(file, { reason: "foreign" });
  }
  const beginning = `${file}.rebuilding`;
  const discard = async (): Promise<void> => {
    for (const suffix of ["", "-lock", ...sqliteSuffixes]) {
      await rm(`${beginning}${suffix}`, { force: true });
    }
  };
  // Left by a killed rebuild.
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

/** Whether nothing is lost if the file at a path is replaced, or its name or its beginning says that it was a database. */
async function mayBeDatabase(file: string): Promise<boolean> {
  if (file.endsWith(".sqlite") || !(await exists(file, plainDisk))) {
    return true;
  }
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(sqliteMark.length), 0, sqliteMark.length, 0);
    return bytesRead === 0 || buffer.toString("latin1") === sqliteMark;
  } finally {
    await handle.close();
  }
}

/**
 * Node-RED must be able to write a database that an administrator has created: it gets the owner of the file that it
 * replaces, or of the folder.
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
 * The file also keeps its old name until the new one takes it, so that there is always a file: otherwise Node-RED could
 * create an empty one. Its log must not stay, because SQLite would use it for the new file.
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
      // Not every file system has hard links.
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
