/**
 * What has to be deleted so that there is space: a rule of a person, held against what the index and the disk say. What is deleted is lost,
 * so no single number decides: where the two contradict each other, nothing is.
 */
import type { Database } from "../../database/database.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Space } from "../../media/disk-guard.ts";
import type { PrunedSpace } from "../../model/archive-reports.ts";
import { formatBytes } from "../../rules/bytes.ts";
import type { OpenedScope } from "../open-vault.ts";
import { dayMs } from "../../time/clocks.ts";

/** How much space there should be. In bytes; undefined: any. */
export interface SpaceRule {
  /** So much stays free on the disk of the packages. */
  readonly keepFree: number | undefined;
  /** All packages together have no more than this. */
  readonly useAtMost: number | undefined;
}

/** What has to be deleted. */
export interface SpaceNeed {
  /** How many bytes have to be deleted; 0 if there is enough space. */
  readonly bytes: number;
  /** One run deletes no more packages than this: somebody may look before the next one. */
  readonly mostPackages: number;
  /** Why, for the log; "" if nothing has to be. */
  readonly reason: string;
  /** Why nothing may be deleted, although something would have to be; null if it may. */
  readonly problem: string | null;
  /** What the index and the disk say. */
  readonly found: Pick<PrunedSpace, "daysLeft" | "freeBytes" | "usedBytes">;
}

/** One run deletes at most so much of the packages. */
const mostShare = 10;
/** The pace is that of so many days. */
const paceDays = 7;
/** When so much was deleted, it shows whether the disk has more space for it. */
const shownAfterBytes = 100e6;

/** Bytes as a sentence has them. */
function say(bytes: number): string {
  return formatBytes(bytes, "en");
}

/**
 * Compares a rule with what the index and the disk say. Throws ERR_CONFIG for a bucket of which something should stay free, and for a part of
 * an archive; ERR_STORE, and the system's error.
 */
export async function spaceNeeded(
  { keepFree, useAtMost }: SpaceRule,
  scope: OpenedScope,
  databases: readonly Pick<Database, "transaction">[],
): Promise<SpaceNeed> {
  const facts = { surface: "config", operation: "prune" } as const;
  if (keepFree !== undefined && scope.vault.kind === "s3") {
    throw new DimensionerError("pruneBucketSpace", facts, { name: scope.location });
  }
  if (scope.start !== scope.root) {
    throw new DimensionerError("prunePartSpace", facts, { path: scope.root });
  }
  const index = await readIndex(databases);
  const disk = await scope.vault.space();
  const { used, packages, perDay } = index;
  const freeBytes = disk?.freeBytes ?? null;
  const rules = [
    useAtMost === undefined
      ? undefined
      : {
          bytes: used - useAtMost,
          reason: `to use at most ${say(useAtMost)}: the packages had ${say(used)}`,
        },
    keepFree === undefined || freeBytes === null
      ? undefined
      : {
          bytes: keepFree - freeBytes,
          reason: `to keep ${say(keepFree)} free: ${say(freeBytes)} were free`,
        },
  ].filter((one) => one !== undefined);
  const [first] = rules.toSorted((one, other) => other.bytes - one.bytes);
  const bytes = Math.max(0, first?.bytes ?? 0);
  return {
    bytes,
    mostPackages: Math.max(1, Math.floor(packages / mostShare)),
    reason: bytes === 0 ? "" : (first?.reason ?? ""),
    problem: keepFree !== undefined || bytes > 0 ? explainImplausible(disk, used, keepFree) : null,
    found: {
      usedBytes: used,
      freeBytes,
      daysLeft: perDay > 0 && bytes === 0 && first !== undefined ? Math.floor(-first.bytes / perDay) : null,
    },
  };
}

/** Why a disk is not believed; null if it is. What it says is not needed for a limit of what packages use, and then it may say nothing. */
function explainImplausible(
  disk: Space | undefined,
  used: number,
  keepFree: number | undefined,
): string | null {
  if (disk === undefined) {
    return keepFree !== undefined
      ? "the disk does not say how much of it is free: nothing was deleted"
      : null;
  }
  const { freeBytes, totalBytes } = disk;
  if (!(freeBytes > 0 && freeBytes <= totalBytes && Number.isFinite(totalBytes))) {
    return `the disk says that ${say(freeBytes)} of ${say(totalBytes)} are free, which cannot be, or something else has filled it: nothing was deleted. Look at the disk first`;
  }
  if (keepFree !== undefined && keepFree > totalBytes) {
    return `the disk has ${say(totalBytes)} in all, so ${say(keepFree)} can never be free: nothing was deleted. Choose less`;
  }
  return used > totalBytes - freeBytes
    ? `the index lists packages with ${say(used)}, and only ${say(totalBytes - freeBytes)} of the disk are in use: one of the two is wrong, or this is not the disk of the packages. Nothing was deleted`
    : null;
}

/** What an index says: bytes, number, and bytes a day of the last days. */
async function readIndex(
  databases: readonly Pick<Database, "transaction">[],
): Promise<{ readonly used: number; readonly packages: number; readonly perDay: number }> {
  const since = new Date(Date.now() - paceDays * dayMs).toISOString();
  const totals = { used: 0, packages: 0, recent: 0 };
  for (const database of databases) {
    const [[all] = [], [recent] = []] = await database.transaction([
      { sql: "SELECT count(*) AS packages, coalesce(sum(bytes), 0) AS bytes FROM packages" },
      {
        sql: "SELECT coalesce(sum(bytes), 0) AS bytes FROM packages WHERE archived_at >= ?",
        values: [since],
      },
    ]);
    totals.packages += Number(all?.["packages"]);
    totals.used += Number(all?.["bytes"]);
    totals.recent += Number(recent?.["bytes"]);
  }
  return { used: totals.used, packages: totals.packages, perDay: totals.recent / paceDays };
}

/** Whether the disk gains what is deleted. Snapshots and other programs can take it at once, and then all packages would go for nothing. */
export class SpaceGain {
  readonly #scope: OpenedScope;
  readonly #startBytes: number;

  constructor(scope: OpenedScope, { found: { freeBytes } }: SpaceNeed) {
    this.#scope = scope;
    this.#startBytes = freeBytes ?? 0;
  }

  /** Returns why no more may be deleted after so many bytes; null if more may. */
  async explain(deletedBytes: number): Promise<string | null> {
    if (deletedBytes < shownAfterBytes) {
      return null;
    }
    const gained = ((await this.#scope.vault.space())?.freeBytes ?? 0) - this.#startBytes;
    return gained < deletedBytes / 2
      ? `${say(deletedBytes)} were deleted, and the disk has gained ${say(Math.max(0, gained))}: snapshots or other programs take what is deleted, so no more was. Look at the disk first`
      : null;
  }
}

/** What a run that has deleted as much as it may says, where there is still too little space. */
export function explainMissing(
  missingBytes: number,
  { mostPackages }: SpaceNeed,
  isShareReached: boolean,
): string {
  return isShareReached
    ? `${say(missingBytes)} more have to be deleted: one run deletes at most a tenth of the packages, ${mostPackages} this time. Run it again`
    : `${say(missingBytes)} more would have to be deleted, and nothing more may be: what is left is on hold, is kept, or is younger than the minimum age`;
}
