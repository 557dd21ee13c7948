import { join } from "node:path";
import { DimensionerError } from "../../../errors/dimensioner-error.ts";
import type { DatabaseLease } from "../../../store/store-databases.ts";
import { exists, manifestFileName } from "../../archive-disk.ts";
import type { ArchiveFiles } from "../../files/archive-files.ts";
import type { OpenedPackages } from "../../place/open-packages.ts";
import type { PlacedPackage } from "../../packages/intent.ts";
import { loadManifest } from "../../packages/package-files.ts";
import { endStates } from "../table/job-states.ts";

/**
 * Notes in the database where the packages of the store are. If that has changed, its packages and open jobs must have been
 * moved to the new place: otherwise they would not be found, and one archive would be in two places. In that case throws
 * ERR_STORE and changes nothing.
 */
export async function claimPlace(
  { place, disk }: Pick<OpenedPackages, "disk" | "place">,
  { database }: DatabaseLease,
  archive: { readonly workFolder: string; readonly last: PlacedPackage | undefined },
): Promise<void> {
  const { workFolder, last } = archive;
  const { files, key } = place;
  const [stores = [], open = []] = await database.transaction([
    { sql: "SELECT folder FROM store" },
    {
      sql: `SELECT job_id FROM jobs WHERE state NOT IN (${endStates.map(() => "?").join(", ")}) LIMIT 1`,
      values: endStates,
    },
  ]);
  const before = stores[0]?.["folder"] ?? null;
  if (before === key) {
    return;
  }
  const hasMoved = async (): Promise<boolean> =>
    (last === undefined || (await isThere(files, last))) &&
    // The media of open jobs are in the folder itself. With a bucket they are somewhere else, and nobody moves them.
    (open.length === 0 || (files.kind === "folder" && (await exists(workFolder, disk))));
  if (before !== null && !(await hasMoved())) {
    const facts = { surface: "store", operation: "archive" } as const;
    throw new DimensionerError("storeMoved", facts, { path: files.name, name: String(before) });
  }
  await database.transaction([{ sql: "UPDATE store SET folder = ?", values: [key] }]);
}

async function isThere({ root, disk }: ArchiveFiles, { path, sha256 }: PlacedPackage): Promise<boolean> {
  const found = await loadManifest(join(root, path, manifestFileName), disk);
  return typeof found === "object" && found.sha256 === sha256;
}
