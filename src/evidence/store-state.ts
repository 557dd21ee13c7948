import type { Database, DatabaseLocation } from "../database/database.ts";
import { isOpen } from "../database/own-jobs.ts";
import { summarize } from "../database/summary.ts";
import { VerificationTable } from "../database/verification-table.ts";
import { guardedDisk, spaceOf } from "../media/disk-guard.ts";
import { checkRoot } from "../media/place-file.ts";
import type { StoreState } from "../model/shapes.ts";
import { steadyTime } from "../time/clocks.ts";
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
    oldestJobFor: oldestJobAt === null ? null : await secondsOpen(database),
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

/**
 * For how long the oldest open job is open: by the clock that nobody sets, and by that of the day for what was accepted before the computer
 * was started. Never negative, also after that one was set back.
 */
async function secondsOpen(database: Pick<Database, "transaction">): Promise<number> {
  const { clock, ms } = steadyTime();
  const [[own] = [], [before] = []] = await database.transaction([
    {
      sql: `SELECT min(accepted_steady_ms) AS ms FROM jobs WHERE ${isOpen} AND steady_clock = ?`,
      values: [clock],
    },
    {
      sql: `SELECT min(accepted_at) AS at FROM jobs WHERE ${isOpen} AND coalesce(steady_clock, '-') <> ?`,
      values: [clock],
    },
  ]);
  const ages = [
    own?.["ms"] === null ? NaN : ms - Number(own?.["ms"]),
    Date.now() - Date.parse(String(before?.["at"])),
  ];
  return Math.round(Math.max(0, ...ages.filter((age) => !Number.isNaN(age))) / 1000);
}
