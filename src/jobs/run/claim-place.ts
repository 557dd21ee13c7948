import { join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { databaseTime, type Statement } from "../../database/database.ts";
import { isBucketKey } from "../../vault/files-location.ts";
import type { DatabaseLease } from "../../database/store-databases.ts";
import { exists, manifestFileName } from "../../vault/archive-disk.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import type { OpenedPackages } from "../../vault/place/open-packages.ts";
import type { PlacedPackage } from "../../vault/packages/intent.ts";
import { loadManifest } from "../../vault/packages/package-files.ts";
import { isOpen } from "../table/job-rows.ts";

interface ClaimingArchive {
  /** The database as messages name it. */
  readonly databaseName: string;
  /** That of this worker. */
  readonly workFolder: string;
  /** The last package of its chain. */
  readonly last: PlacedPackage | undefined;
}

const facts = { surface: "store", operation: "archive" } as const;

/**
 * Notes in the database where the packages of the store are. If that has changed, its packages and open jobs must have been
 * moved to the new place: otherwise they would not be found, and one archive would be in two places. In that case throws
 * ERR_STORE and changes nothing. Throws ERR_CONFIG if another worker archives into another bucket at the same time.
 */
export async function claimPlace(
  packages: Pick<OpenedPackages, "disk" | "place">,
  lease: Pick<DatabaseLease, "database" | "worker">,
  archive: ClaimingArchive,
): Promise<void> {
  while (!(await claim(packages, lease, archive))) {
    // Another worker has noted its place since this one has read where it was.
  }
}

/** Returns false, and has changed nothing, if another worker has noted a place at the same time. */
async function claim(
  { place, disk }: Pick<OpenedPackages, "disk" | "place">,
  { database, worker }: Pick<DatabaseLease, "database" | "worker">,
  archive: ClaimingArchive,
): Promise<boolean> {
  const { databaseName, workFolder, last } = archive;
  const { files, key } = place;
  const [stores = [], open = [], others = []] = await database.transaction([
    { sql: "SELECT folder FROM store" },
    { sql: `SELECT job_id FROM jobs WHERE ${isOpen} LIMIT 1` },
    ...(worker.isAlone ? [] : [otherWorkers(worker.id)]),
  ]);
  const [store] = stores;
  const before = typeof store?.["folder"] === "string" ? store["folder"] : null;
  if (before === key) {
    return true;
  }
  const isBucket = files.kind === "s3" || (before !== null && isBucketKey(before));
  if (before !== null && isBucket && open.length > 0) {
    // The media of open jobs are in the folder itself. With a bucket they are somewhere else, and nobody moves them.
    throw new DimensionerError("storeJobsOpen", facts, { path: files.name, name: before });
  }
  const hasMoved = async (): Promise<boolean> =>
    (last === undefined || (await isThere(files, last))) &&
    (open.length === 0 || (await exists(workFolder, disk)));
  if (before !== null && !(await hasMoved())) {
    throw new DimensionerError("storeMoved", facts, { path: files.name, name: before });
  }
  // Each computer may have another path to the same folder. A bucket has one address.
  if (before !== null && isBucket && others.length > 0) {
    throw new DimensionerError("storeTwoFolders", facts, {
      path: databaseName,
      name: before,
      value: files.name,
    });
  }
  const [noted = []] = await database.transaction([
    {
      sql: "UPDATE store SET folder = ? WHERE coalesce(folder, '') = ? RETURNING folder",
      values: [key, before ?? ""],
    },
  ]);
  // Without the row that each store has, there is nothing to compare: waiting for it would not end.
  return noted.length > 0 || store === undefined;
}

/** Selects another worker whose lease has not ended. */
function otherWorkers(id: string): Statement {
  return {
    sql: `SELECT worker_id FROM workers WHERE worker_id <> ? AND lease_until > ${databaseTime} LIMIT 1`,
    values: [id, "0 seconds"],
  };
}

async function isThere({ root, disk }: ArchiveFiles, { path, sha256 }: PlacedPackage): Promise<boolean> {
  const found = await loadManifest(join(root, path, manifestFileName), disk);
  return typeof found === "object" && found.sha256 === sha256;
}
