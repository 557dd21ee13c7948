/**
 * Whether this computer's clock may decide what is old enough to be deleted. A Raspberry Pi after a power cut, or a clock that was set by
 * hand, may be years ahead, and then everything looks old. What is deleted is lost, so the archive has to agree.
 */
import type { Database } from "../database/database.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";

const dayMs = 24 * 3_600_000;
/** An archive in use has a package that is younger. */
const mostIdleMs = 31 * dayMs;
/** So much of an archive is never due at once where it is pruned regularly. */
const mostShare = 0.8;
/** Of fewer packages, a share says nothing. */
const leastPackages = 20;

/** What a device says of the time is not believed if it is later than this computer's by more. */
export const mostAheadMs = dayMs;

const facts = { surface: "config", operation: "prune" } as const;

/**
 * Rejects with ERR_CONFIG if packages are due before a time only because the clock is wrong, as far as the indexes can tell: the newest of
 * all packages, by the clock of Node-RED and that of the device, was archived long before now, or nearly all are due at once.
 */
export async function demandPlausibleClock(
  databases: readonly Pick<Database, "transaction">[],
  before: string,
  now: Date = new Date(),
): Promise<void> {
  const latest = new Date(now.getTime() + mostAheadMs).toISOString();
  let [packages, due, newest] = [0, 0, ""];
  for (const database of databases) {
    const [[all] = [], [old] = [], [measured] = []] = await database.transaction([
      { sql: "SELECT count(*) AS packages, max(archived_at) AS newest FROM packages" },
      { sql: "SELECT count(*) AS packages FROM packages WHERE archived_at < ?", values: [before] },
      { sql: "SELECT max(measured_at) AS newest FROM packages WHERE measured_at < ?", values: [latest] },
    ]);
    packages += Number(all?.["packages"]);
    due += Number(old?.["packages"]);
    for (const row of [all, measured]) {
      const at = String(row?.["newest"] ?? "");
      newest = at > newest ? at : newest;
    }
  }
  if (due > 0 && now.getTime() - Date.parse(newest) > mostIdleMs) {
    throw new DimensionerError("pruneClock", facts, { value: newest, words: now.toISOString() });
  }
  if (packages >= leastPackages && due > packages * mostShare) {
    throw new DimensionerError("pruneNearlyAll", facts, {
      count: due,
      total: packages,
      words: now.toISOString(),
    });
  }
}
