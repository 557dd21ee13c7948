import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { isPostgresUrl } from "../../database/postgres-address.ts";
import { systemError } from "../../database/sqlite-failures.ts";
import { isAbsent } from "../archive-disk.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { IndexReader } from "./index-reader.ts";

const facts = { surface: "store", operation: "database" } as const;

/** A folder of packages or a bucket. */
interface SoughtPlace {
  /** The real path of the folder, or the key of the bucket. */
  readonly key: string;
  /** For people; the key if it is not given. */
  readonly name?: string;
}

/**
 * Finds the databases of a path: the file itself or, in a folder such as the one in Node-RED's user directory, the
 * databases whose store has this folder of packages, or this bucket, and damaged ones. Rejects with ERR_STORE if there is
 * none, or the path cannot be read. The address of a PostgreSQL database names one.
 */
export async function findDatabases(
  given: string,
  { key, name = key }: SoughtPlace,
  thread: ToolThread,
): Promise<readonly string[]> {
  if (isPostgresUrl(given)) {
    return [given];
  }
  try {
    return (await stat(given)).isDirectory() ? await findIn(given, { key, name }, thread) : [given];
  } catch (error) {
    if (isDimensionerError(error)) {
      throw error;
    }
    throw isAbsent(error)
      ? new DimensionerError("storeMissing", facts, { path: given })
      : systemError(given, error);
  }
}

async function findIn(
  given: string,
  { key, name }: Required<SoughtPlace>,
  thread: ToolThread,
): Promise<readonly string[]> {
  const names = (await readdir(given)).filter((file) => file.endsWith(".sqlite")).sort();
  const files: string[] = [];
  for (const file of names.map((one) => join(given, one))) {
    const folder = await folderOf(file, thread);
    if (folder === undefined || (folder !== null && (await isFolder(folder, key)))) {
      files.push(file);
    }
  }
  if (files.length === 0) {
    throw new DimensionerError("storeNotHere", facts, { path: given, name });
  }
  return files;
}

/** Whether a folder, as a database names it, has that real path, or is the bucket with that key. */
export async function isFolder(folder: string, root: string): Promise<boolean> {
  return (await realpath(folder).catch(() => folder)) === root;
}

/** The folder of a store's packages; null if it has none, undefined if the database does not contain it. */
export async function folderOf(file: string, thread: ToolThread): Promise<string | null | undefined> {
  try {
    const index = await IndexReader.open(file, thread);
    await index.close();
    return index.folder;
  } catch {
    // Who opens it again reports why it cannot be read.
    return undefined;
  }
}
