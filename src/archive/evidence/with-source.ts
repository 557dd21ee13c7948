import { plainDisk } from "../archive-disk.ts";
import { findDatabases } from "../maintenance/find-databases.ts";
import { openForTool } from "../maintenance/index-source.ts";
import { openRoot } from "../files/open-files.ts";
import type { EvidenceSource } from "./packages.ts";

/** Where the packages of a store are, for a program that does not own its database. */
export interface StorePlace {
  readonly folder: string;
  /** The file of the store's database, the folder that holds it, or the address of a PostgreSQL database. */
  readonly database: string;
  /** For errors. */
  readonly operation: string;
}

/** Opens a store to read it, also while Node-RED has it open. Rejects with ERR_CONFIG, ERR_FILE and ERR_STORE. */
export async function withSource<T>(
  { folder, database: given, operation }: StorePlace,
  work: (source: EvidenceSource) => Promise<T>,
): Promise<T> {
  const root = await openRoot(folder, plainDisk);
  const [file = given] = await findDatabases(given, root);
  const database = await openForTool(file, "read");
  try {
    return await work({ database, root, disk: plainDisk, operation });
  } finally {
    await database.close();
  }
}
