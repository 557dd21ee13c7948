import type { Database, DatabaseLocation } from "../database/database.ts";
import { summarize } from "../database/summary.ts";
import { VerificationTable } from "../database/verification-table.ts";
import { guardedDisk, spaceOf } from "../media/disk-guard.ts";
import { checkRoot } from "../media/place-file.ts";
import type { StoreState } from "../model/shapes.ts";
import { asFileError, diskFacts } from "../vault/archive-disk.ts";
import type { VaultLocation } from "../vault/store.ts";

/** The parts of a store whose state is read. */
export interface StateSource {
  readonly database: Pick<Database, "transaction">;
  readonly kind: DatabaseLocation["kind"];
  readonly vault: VaultLocation;
}

/** Reads how much work a store has left, and how much space. Throws ERR_STORE, and ERR_FILE if the folder is not there. */
export async function readStoreState({ database, kind, vault }: StateSource): Promise<StoreState> {
  const space = await readSpace(vault);
  const summary = await summarize(database, kind);
  const { oldestAt, never, damaged } = await new VerificationTable(database).state();
  const { openJobs, oldestJobAt, unhandledRecords, bytes } = summary;
  return {
    openJobs,
    oldestJobAtUtc: oldestJobAt,
    oldestJobFor: oldestJobAt === null ? null : secondsSince(oldestJobAt),
    unhandledRecords,
    databaseBytes: bytes,
    freeBytes: space?.freeBytes ?? null,
    totalBytes: space?.totalBytes ?? null,
    oldestVerificationAtUtc: oldestAt,
    neverVerified: never,
    damaged,
  };
}

/** A bucket has no limit that it would tell. */
async function readSpace(vault: VaultLocation): ReturnType<typeof spaceOf> {
  if (vault.kind === "s3") {
    return undefined;
  }
  const disk = guardedDisk(vault.path);
  const root = await checkRoot(vault.path, disk, diskFacts);
  return await spaceOf(root, disk).catch((error: unknown) => {
    throw asFileError(error, root);
  });
}

/** Never negative, also after the clock was set back. */
function secondsSince(time: string): number {
  return Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
}
