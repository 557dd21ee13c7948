import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Database } from "./database.ts";
import { migrations } from "./schema.ts";
import { SqliteDatabase } from "./sqlite-database.ts";

/** A use of a database; the last one to release it closes it. */
export interface DatabaseLease {
  readonly database: Database;
  release(): Promise<void>;
}

interface Shared {
  readonly database: Promise<Database>;
  users: number;
}

/** The embedded databases that this process has open. A file can be open once, so nodes that name the same one share it. */
export class StoreDatabases {
  readonly #open = new Map<string, Shared>();
  readonly #closing = new Map<string, Promise<void>>();

  /** Opens the file, makes it and its folder where they are missing. Rejects with ERR_STORE. */
  async open(file: string): Promise<DatabaseLease> {
    const path = resolve(file);
    // A deploy closes the old node and opens the new one at once.
    await this.#closing.get(path);
    const shared = this.#open.get(path) ?? this.#begin(path);
    shared.users += 1;
    try {
      const database = await shared.database;
      let isReleased = false;
      const release = async (): Promise<void> => {
        if (!isReleased) {
          isReleased = true;
          await this.#leave(path, shared);
        }
      };
      return { database, release };
    } catch (error) {
      await this.#leave(path, shared);
      throw error;
    }
  }

  #begin(path: string): Shared {
    const shared: Shared = { database: openFile(path), users: 0 };
    this.#open.set(path, shared);
    return shared;
  }

  async #leave(path: string, shared: Shared): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) {
      return;
    }
    this.#open.delete(path);
    const closed = shared.database.then(
      (database) => database.close(),
      () => undefined,
    );
    const gone = closed.finally(() => this.#closing.delete(path));
    this.#closing.set(path, gone);
    await gone;
  }
}

async function openFile(file: string): Promise<Database> {
  // A folder that cannot be made is told by the database, which then cannot open its file.
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
  return SqliteDatabase.open({ file, migrations });
}
