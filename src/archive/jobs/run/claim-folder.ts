import { join } from "node:path";
import { DimensionerError } from "../../../errors/dimensioner-error.ts";
import type { DatabaseLease } from "../../../store/store-databases.ts";
import { exists, manifestFileName, type ArchiveDisk } from "../../archive-disk.ts";
import type { PlacedPackage } from "../../packages/intent.ts";
import { loadManifest } from "../../packages/package-files.ts";
import { endStates } from "../table/job-states.ts";

/**
 * Notes in the database which folder is the store's. If the folder has changed, the store's packages and open jobs must
 * have been moved to the new one: otherwise they would not be found, and one archive would be in two folders. In that
 * case throws ERR_STORE and changes nothing.
 */
export async function claimFolder(
  folder: string,
  { database }: DatabaseLease,
  archive: {
    readonly workFolder: string;
    readonly last: PlacedPackage | undefined;
    readonly disk: ArchiveDisk;
  },
): Promise<void> {
  const { workFolder, last, disk } = archive;
  const real = await disk.realpath(folder);
  const [stores = [], open = []] = await database.transaction([
    { sql: "SELECT folder FROM store" },
    {
      sql: `SELECT job_id FROM jobs WHERE state NOT IN (${endStates.map(() => "?").join(", ")}) LIMIT 1`,
      values: endStates,
    },
  ]);
  const before = stores[0]?.["folder"] ?? null;
  if (before === real) {
    return;
  }
  const hasMoved = async (): Promise<boolean> =>
    (last === undefined || (await isThere(real, last, disk))) &&
    (open.length === 0 || (await exists(workFolder, disk)));
  if (before !== null && !(await hasMoved())) {
    const facts = { surface: "store", operation: "archive" } as const;
    throw new DimensionerError("storeMoved", facts, { path: folder, name: String(before) });
  }
  await database.transaction([{ sql: "UPDATE store SET folder = ?", values: [real] }]);
}

async function isThere(folder: string, { path, sha256 }: PlacedPackage, disk: ArchiveDisk): Promise<boolean> {
  const found = await loadManifest(join(folder, path, manifestFileName), disk);
  return typeof found === "object" && found.sha256 === sha256;
}
