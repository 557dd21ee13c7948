import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { isBucketKey } from "../files-location.ts";
import { isPostgresUrl, readPostgresUrl } from "../../database/postgres-address.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { findDatabases, folderOf, isFolder } from "./find-databases.ts";
import type { OpenedPlace } from "./open-place.ts";

interface PrunedPlace {
  /** Files are opened in it. */
  readonly thread: ToolThread;
  /** Whether the settings of one store name both the place and the database. */
  readonly isOwn: boolean;
}

/**
 * Throws ERR_STORE if a database lists the packages of another place, such as the folder that a bucket is a copy of: its
 * rows would be removed although their packages are there. What cannot be read is reported when rows are removed.
 */
export async function refuseOtherPlace(
  { key, location }: OpenedPlace,
  given: string,
  { thread, isOwn }: PrunedPlace,
): Promise<void> {
  const databases = await findDatabases(given, { key, name: location }, thread).catch(() => []);
  for (const database of databases) {
    const folder = await folderOf(database, thread);
    if (typeof folder !== "string" || (await isFolder(folder, key))) {
      continue;
    }
    if (!isOwn || !mayBeSame(database, folder, key)) {
      const path = isPostgresUrl(database) ? readPostgresUrl(database).name : database;
      const facts = { surface: "store", operation: "prune" } as const;
      throw new DimensionerError("storeNotPruned", facts, { path, name: folder, value: location });
    }
  }
}

/** Each computer may have another path to a share; a server has the path of one of them. */
function mayBeSame(database: string, folder: string, key: string): boolean {
  return isPostgresUrl(database) && !isBucketKey(folder) && !isBucketKey(key);
}
