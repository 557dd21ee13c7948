import type * as fsPromises from "node:fs/promises";
import type { StoreState } from "../../model/shapes.ts";
import { spaceOf } from "../../media/volume.ts";
import type { Database } from "../../store/database.ts";
import type { DatabaseLocation } from "../../store/database-location.ts";
import { summarize } from "../../store/summary.ts";
import { asFileError, diskFacts } from "../archive-disk.ts";
import { checkRoot } from "../../media/target-folder.ts";

/** The parts of a store whose state is read. */
export interface StateSource {
  readonly database: Pick<Database, "transaction">;
  readonly kind: DatabaseLocation["kind"];
  /** The folder of packages, as the store's settings name it. */
  readonly folder: string;
  readonly disk: typeof fsPromises;
}

/** Reads how much work a store has left, and how much space. Throws ERR_STORE, and ERR_FILE if the folder is not there. */
export async function readStoreState({ database, kind, folder, disk }: StateSource): Promise<StoreState> {
  const root = await checkRoot(folder, disk, diskFacts);
  const [summary, space] = await Promise.all([
    summarize(database, kind),
    spaceOf(root, disk).catch((error: unknown) => {
      throw asFileError(error, root);
    }),
  ]);
  const { openJobs, oldestJobAt, unhandledRecords, bytes } = summary;
  return {
    openJobs,
    oldestJobAtUtc: oldestJobAt,
    oldestJobFor: oldestJobAt === null ? null : secondsSince(oldestJobAt),
    unhandledRecords,
    databaseBytes: bytes,
    freeBytes: space?.freeBytes ?? null,
    totalBytes: space?.totalBytes ?? null,
  };
}

/** Never negative, also after the clock was set back. */
function secondsSince(time: string): number {
  return Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
}
