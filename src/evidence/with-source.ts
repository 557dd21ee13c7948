import { filesKey } from "../vault/files-location.ts";
import { ToolThread } from "../database/tool-database.ts";
import type { ArchiveFiles } from "../vault/files/archive-files.ts";
import { namedFiles, openFiles } from "../vault/files/open-files.ts";
import { findDatabases } from "../vault/maintenance/find-databases.ts";
import { openForTool } from "../vault/maintenance/index-source.ts";
import { withNext, type ChainedPackage } from "./report/neighbours.ts";
import { demandPackages, type EvidenceSource, type Sought } from "./packages.ts";

/** Where the packages of a store are, for a program that does not own its database. */
export interface StorePlace {
  /** The folder of packages, or the address of a bucket. */
  readonly folder: string;
  /** The file of the store's database, the folder that holds it, or the address of a PostgreSQL database. */
  readonly database: string;
  /** For errors. */
  readonly operation: string;
}

/**
 * Opens a store to read its database and to work with its packages, also while Node-RED has it open. Aborting the signal ends
 * all requests to a bucket. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE.
 */
export function withSource<T>(
  place: StorePlace,
  work: (source: EvidenceSource) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withFiles(place, signal, (files, key) => inDatabase(place, files, key, work));
}

/**
 * Finds packages with their neighbours, and works with them when the database is closed again: an export can take hours.
 * Rejects as `demandPackages` does, and with ERR_CONFIG.
 */
export function withPackages<T>(
  place: StorePlace,
  sought: Sought,
  work: (files: ArchiveFiles, packages: readonly ChainedPackage[]) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withFiles(place, signal, async (files, key) =>
    work(
      files,
      await inDatabase(place, files, key, async (source) =>
        withNext(source.database, await demandPackages(source, sought)),
      ),
    ),
  );
}

/** `key`: the folder or the bucket, as the database of a store names it. */
async function withFiles<T>(
  { folder }: StorePlace,
  signal: AbortSignal | undefined,
  work: (files: ArchiveFiles, key: string) => Promise<T>,
): Promise<T> {
  const location = namedFiles(folder);
  const files = await openFiles(location, { signal });
  try {
    return await work(files, files.kind === "folder" ? files.root : filesKey(location));
  } finally {
    await files.close();
  }
}

async function inDatabase<T>(
  { database: given, operation }: StorePlace,
  files: ArchiveFiles,
  key: string,
  work: (source: EvidenceSource) => Promise<T>,
): Promise<T> {
  const thread = new ToolThread();
  try {
    const [file = given] = await findDatabases(given, { key }, thread);
    const database = await openForTool(file, "read", thread);
    try {
      return await work({ database, files, operation });
    } finally {
      await database.close();
    }
  } finally {
    await thread.close();
  }
}
