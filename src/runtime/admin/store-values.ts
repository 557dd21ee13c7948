import type { NodeAPI } from "node-red";
import * as v from "valibot";
import type { DatabaseLocation } from "../../database/database-location.ts";
import type { StoreSummary } from "../../database/summary.ts";
import { poolSize, port, retainDays } from "../../properties/store-numbers.ts";
import type { BucketLocation } from "../../vault/files-location.ts";
import { SettingsReader } from "../config/settings.ts";
import {
  type BucketKeys,
  databaseFile,
  readBucket,
  readLocation,
  readPackagesFolder,
  workFolderOf,
} from "../store/store-choice.ts";
import {
  type TestLine,
  fieldFlag,
  fieldNumber,
  fieldText,
  line,
  neighbour,
  readEnvironment,
} from "./admin-route.ts";

/** What the dialog of a store contains, saved or not. */
export const storeValues = v.object({
  id: fieldText,
  z: fieldText,
  files: v.picklist(["folder", "s3"]),
  folder: fieldText,
  folderType: fieldText,
  bucket: fieldText,
  prefix: fieldText,
  endpoint: fieldText,
  region: fieldText,
  accessKeyId: fieldText,
  secretAccessKey: fieldText,
  pathStyle: fieldFlag,
  retainDays: fieldNumber,
  roots: fieldText,
  database: v.picklist(["embedded", "postgres"]),
  host: fieldText,
  port: fieldNumber,
  databaseName: fieldText,
  user: fieldText,
  password: fieldText,
  tls: fieldText,
  poolSize: fieldNumber,
});

export type StoreValues = v.InferOutput<typeof storeValues>;

/** The folder that the dialog names. Throws ERR_CONFIG. */
export function folderOf(RED: NodeAPI, given: StoreValues): ReturnType<typeof readPackagesFolder> {
  const { folderType } = given;
  const resolved = readEnvironment(RED, given, new SettingsReader("store"));
  const folder = folderType === "str" ? resolved("folder", given.folder) : given.folder;
  return readPackagesFolder(RED, neighbour(RED, given), { folder, folderType });
}

/** The bucket that the dialog names. Throws ERR_CONFIG. */
export function bucketOf(RED: NodeAPI, given: StoreValues, keys: BucketKeys): BucketLocation {
  const reader = new SettingsReader("store");
  const resolved = readEnvironment(RED, given, reader);
  const settings = {
    bucket: resolved("bucket", given.bucket),
    prefix: resolved("prefix", given.prefix),
    endpoint: resolved("endpoint", given.endpoint),
    region: resolved("region", given.region),
    pathStyle: reader.flag("pathStyle", true, resolved("pathStyle", String(given.pathStyle))),
    retainDays: reader.number("retainDays", retainDays, resolved("retainDays", String(given.retainDays))),
  };
  return readBucket(settings, keys, { workFolder: workFolderOf(RED, given.id), reader });
}

/** The database that the dialog names. The password is left out of it. Throws ERR_CONFIG. */
export function databaseOf(RED: NodeAPI, given: StoreValues): DatabaseLocation {
  const reader = new SettingsReader("store");
  const { id, database } = given;
  if (database === "embedded") {
    return { kind: "file", file: databaseFile(RED, id) };
  }
  const resolved = readEnvironment(RED, given, reader);
  const settings = {
    database,
    host: resolved("host", given.host),
    port: reader.number("port", port, resolved("port", String(given.port))),
    databaseName: resolved("databaseName", given.databaseName),
    user: resolved("user", given.user),
    password: "",
    tls: given.tls,
    poolSize: reader.number("poolSize", poolSize, resolved("poolSize", String(given.poolSize))),
  };
  return readLocation(RED, id, settings, reader);
}

/** What the nodes of a store have left unfinished in its database. */
export function unfinishedLines({
  openJobs,
  oldestJobAt,
  unhandledRecords,
}: StoreSummary): readonly TestLine[] {
  return [
    oldestJobAt === null
      ? line("good", "jobsNone")
      : line("good", "jobs", { count: openJobs, time: { time: oldestJobAt } }),
    unhandledRecords === 0
      ? line("good", "recordsNone")
      : line("good", "records", { count: unhandledRecords }),
  ];
}
