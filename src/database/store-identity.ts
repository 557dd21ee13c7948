import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";

/** What a database says about its store. */
export interface StoreIdentity {
  /** Created with the database. */
  readonly storeId: string;
  /** The folder of its packages, where it was last used; null if it has none yet. */
  readonly folder: string | null;
}

/** Reads which store a database belongs to; a new database gets an id. Rejects with ERR_STORE. */
export async function identifyStore(database: Pick<Database, "transaction">): Promise<StoreIdentity> {
  const [, [store] = []] = await database.transaction([
    {
      sql: `INSERT INTO store (store_id, folder, created_at)
        SELECT ?, NULL, ? WHERE NOT EXISTS (SELECT 1 FROM store)`,
      values: [randomUUID(), new Date().toISOString()],
    },
    { sql: "SELECT store_id, folder FROM store" },
  ]);
  const folder = store?.["folder"];
  return { storeId: String(store?.["store_id"]), folder: typeof folder === "string" ? folder : null };
}
