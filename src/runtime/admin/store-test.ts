import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type * as fsPromises from "node:fs/promises";
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DatabaseLocation, databaseName } from "../../database/database.ts";
import type { PostgresAddress } from "../../database/postgres-address.ts";
import { type PostgresRights, readRights } from "../../database/postgres-connection.ts";
import { PostgresDatabase } from "../../database/postgres-database.ts";
import { migrations } from "../../database/schema.ts";
import type { StoreDatabases } from "../../database/store-databases.ts";
import { type StoreSummary, summarize } from "../../database/summary.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { guardedDisk, isShareMount, spaceOf } from "../../media/disk-guard.ts";
import { type TransferFacts, diskError, fileError, systemCode } from "../../media/disk.ts";
import { checkRoot, placeFile, syncFolder } from "../../media/place-file.ts";
import { sha256Of } from "../../model/sha256.ts";
import { isOpenHttp } from "../../rules/addresses.ts";
import { stateFolderName, workFolderName, writeDurably } from "../../vault/archive-disk.ts";
import type { BucketLocation, FolderLocation } from "../../vault/store.ts";
import { appendText } from "../../vault/plain-files.ts";
import { hashFile } from "../../vault/packages/package-files.ts";
import { isElsewhere } from "../../vault/open-packages.ts";
import { type Objects, probeBucket, probeRetention } from "../../vault/s3/bucket.ts";
import {
  type TestLine,
  line,
  lineOfError,
  orLate,
  fieldFlag,
  fieldNumber,
  fieldText,
  neighbour,
  readEnvironment,
} from "./admin-route.ts";
import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { poolSize, port, retainDays } from "../../properties/store-numbers.ts";
import { SettingsReader } from "../config/settings.ts";
import {
  type BucketKeys,
  databaseFile,
  readBucket,
  readLocation,
  readPackagesFolder,
  workFolderOf,
} from "../store/store-choice.ts";

type TestedDisk = typeof fsPromises;

const facts: TransferFacts = { operation: "test", surface: "disk", host: "store" };

/** With less space than this, a few videos fill the disk. */
const littleSpaceBytes = 2_000_000_000;

/** Options of one test of a folder. */
interface FolderTest {
  /** The folder, as an absolute path. */
  readonly root: string;
  /** The folder in it in which the test works. */
  readonly scratch: string;
  readonly disk: TestedDisk;
  /** The spool of a store whose folder is on another disk; undefined: unfinished packages are beside the others. */
  readonly spool: string | undefined;
  /** Aborting ends the test between two calls to the disk. */
  readonly signal: AbortSignal;
}

/**
 * Tests whether packages can be kept in a folder: does in it what archiving does, with the same functions, and removes what it has made.
 * `workFolder`: see FolderLocation. If the disk hangs, the test ends with a line that says so when `signal` aborts, and cleans up when
 * the disk answers again.
 */
export async function testFolder(
  { path: folder, workFolder }: Pick<FolderLocation, "path" | "workFolder">,
  signal: AbortSignal,
  disk: TestedDisk = guardedDisk(folder),
): Promise<readonly TestLine[]> {
  const lines: TestLine[] = [];
  const tried = tryFolder(folder, { disk, signal, workFolder }, (found) => lines.push(found));
  const isLate = (await orLate(tried, signal)) === "late";
  return isLate ? [...lines, lineOfError(fileError("fileHung", folder, facts))] : lines;
}

async function tryFolder(
  folder: string,
  {
    disk,
    signal,
    workFolder,
  }: Pick<FolderTest, "disk" | "signal"> & { readonly workFolder: string | undefined },
  say: (found: TestLine) => void,
): Promise<void> {
  try {
    const root = await checkRoot(folder, disk, facts);
    say(line("good", "folder", { path: root }));
    if (isShareMount(root)) {
      say(line("warning", "folderMount", { path: root }));
    }
    const spool =
      workFolder !== undefined && (await isElsewhere(root, workFolder, disk)) ? workFolder : undefined;
    const scratch = join(root, `.dimensioner-test-${randomUUID()}`);
    const test = { root, scratch, disk, spool, signal };
    try {
      for (const step of [tryWriting, tryNaming, trySync, tryLog, tryWorkFolder]) {
        say(await step(test));
      }
    } finally {
      await removeScratch(test);
    }
    await saySpace(test, say);
  } catch (error) {
    say(lineOfError(diskError(error, folder, facts)));
  }
}

/** Runs calls to the disk unless the test has ended; a failed one becomes ERR_FILE about the path. */
async function onDisk<T>({ signal }: FolderTest, path: string, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    throw diskError(error, path, facts);
  }
}

async function tryWriting(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk } = test;
  await onDisk(test, root, () => disk.mkdir(scratch));
  for (const name of ["package", "taken"]) {
    await onDisk(test, root, () => disk.mkdir(join(scratch, name)));
    await onDisk(test, root, () => writeDurably(join(scratch, name, "file"), name, disk));
  }
  const isThere = await onDisk(test, root, async () => {
    const part = join(scratch, "package", ".part");
    await writeDurably(part, "medium", disk);
    if (test.spool === undefined) {
      // Media are received beside the packages.
      await placeFile({ part, folder: dirname(part), name: "medium", ifExists: "error", disk, facts });
      await disk.unlink(part).catch(() => undefined);
    } else {
      await disk.rename(part, join(dirname(part), "medium"));
    }
    return (await hashFile(join(dirname(part), "medium"), disk))?.sha256 === sha256Of("medium");
  });
  return isThere ? line("good", "folderWritable") : line("bad", "folderLoses");
}

/** A line of the log is added to what is there. */
async function tryLog(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk } = test;
  const path = join(scratch, "log");
  const text = await onDisk(test, root, async () => {
    await appendText(path, Buffer.from("1\n"), disk, true);
    await appendText(path, Buffer.from("2\n"), disk);
    return await disk.readFile(path, "utf8");
  });
  return text === "1\n2\n" ? line("good", "folderAppends") : line("bad", "folderLoses");
}

/** A package gets its name by a rename, which must fail if the name is taken. */
async function tryNaming(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk } = test;
  const from = join(scratch, "package");
  const taken = join(scratch, "taken");
  // Systems report this with different codes, so the test looks at the content afterwards.
  await onDisk(test, root, () => disk.rename(from, taken).catch(() => undefined));
  const content = await onDisk(test, root, () => disk.readFile(join(taken, "file"), "utf8"));
  if (content !== "taken") {
    return line("bad", "folderOverwrites");
  }
  await onDisk(test, root, () => disk.rename(from, join(scratch, "named")));
  return line("good", "folderNames");
}

async function trySync(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk } = test;
  const isSynced = await onDisk(test, root, () => syncFolder(scratch, disk, facts));
  return isSynced ? line("good", "folderSyncs") : line("warning", "folderNoSync");
}

/** Unfinished packages are in a folder of their own, and a rename from one disk to another is not possible. */
async function tryWorkFolder(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk, spool } = test;
  if (spool !== undefined) {
    return line("good", "workSpool", { path: spool });
  }
  let work = root;
  for (const path of [join(root, stateFolderName), join(root, stateFolderName, workFolderName)]) {
    const found = await onDisk(test, path, () => lstatOf(path, disk));
    if (found === undefined) {
      break;
    }
    if (!found.isDirectory()) {
      return line("bad", "workElsewhere", { path });
    }
    work = path;
  }
  if (work === root) {
    return line("good", "workFolder");
  }
  const made = join(work, `test-${randomUUID()}`);
  await onDisk(test, work, () => disk.mkdir(made));
  try {
    await disk.rename(made, join(scratch, "moved"));
    return line("good", "workFolder");
  } catch (error) {
    await disk.rmdir(made).catch(() => undefined);
    if (systemCode(error) === "EXDEV") {
      return line("bad", "workElsewhere", { path: work });
    }
    throw diskError(error, work, facts);
  }
}

async function lstatOf(path: string, disk: TestedDisk): Promise<{ isDirectory(): boolean } | undefined> {
  try {
    return await disk.lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

/** Links are removed and not followed. */
async function removeScratch({ root, scratch, disk }: FolderTest): Promise<void> {
  try {
    await disk.rm(scratch, { recursive: true, force: true });
  } catch (error) {
    throw diskError(error, scratch, facts, root);
  }
}

async function saySpace(test: FolderTest, say: (found: TestLine) => void): Promise<void> {
  const { root, disk } = test;
  const space = await onDisk(test, root, () => spaceOf(root, disk));
  if (space !== undefined) {
    const { freeBytes, totalBytes } = space;
    const isLittle = freeBytes < littleSpaceBytes;
    const values = { free: { bytes: freeBytes }, total: { bytes: totalBytes } };
    say(isLittle ? line("warning", "spaceLow", values) : line("good", "space", values));
  }
}

/** Options of one test of a database. */
export interface DatabaseTest {
  readonly databases: StoreDatabases;
  /** The store's database, whether it exists or not. */
  readonly location: DatabaseLocation;
  readonly isDeployed: boolean;
  readonly signal: AbortSignal;
  /** The time limit of the signal, for the sentence that mentions it. */
  readonly withinMs: number;
}

/** Opens a store's database, and reports what it contains. */
export async function testDatabase(test: DatabaseTest): Promise<readonly TestLine[]> {
  const { location, signal, withinMs } = test;
  const path = databaseName(location);
  const tested =
    location.kind === "file"
      ? testDatabaseFile(test, location.file)
      : testPostgres(location.address, withinMs);
  try {
    const lines = await orLate(tested, signal);
    if (lines === "late") {
      const values = { path, seconds: withinMs / 1000 };
      const sentence = location.kind === "file" ? "storeUnanswered" : "postgresUnanswered";
      throw new DimensionerError(sentence, { surface: "store", operation: "test" }, values);
    }
    return lines;
  } catch (error) {
    const found = lineOfError(error);
    return [{ ...found, values: { ...found.values, path } }];
  }
}

/**
 * Opens the database file of a store, shared with the nodes that have it open. If there is none yet, a database of another
 * name is created beside it and removed again: a deploy may create the real one at this very moment.
 */
async function testDatabaseFile(
  { databases, isDeployed }: { readonly databases: StoreDatabases; readonly isDeployed: boolean },
  file: string,
): Promise<readonly TestLine[]> {
  const isMissing = !isDeployed && !existsSync(file);
  const summary = await (isMissing ? summaryOfTrial(databases, file) : summaryOf(databases, file));
  const { version, schemaVersion: schema, bytes } = summary;
  return [
    line("good", "database", { version, schema, size: { bytes }, path: file }),
    ...unfinishedLines(summary),
  ];
}

async function summaryOf(databases: StoreDatabases, file: string): Promise<StoreSummary> {
  const { database, release } = await databases.open({ kind: "file", file });
  try {
    return await summarize(database, "file");
  } finally {
    await release();
  }
}

async function summaryOfTrial(databases: StoreDatabases, file: string): Promise<StoreSummary> {
  const folder = dirname(file);
  const isNewFolder = !existsSync(folder);
  const name = `test-${randomUUID()}.sqlite`;
  try {
    return await summaryOf(databases, join(folder, name));
  } finally {
    // SQLite's files beside the database have names that begin with its name.
    const names = await readdir(folder).catch(() => []);
    const made = names.filter((one) => one.startsWith(name));
    await Promise.all(made.map((one) => rm(join(folder, one), { force: true })));
    if (isNewFolder) {
      // The folder of a store that was deployed meanwhile stays, because it is not empty.
      await rmdir(folder).catch(() => undefined);
    }
  }
}

/**
 * Connects to the PostgreSQL database of a store without becoming one of its workers, and changes nothing. Rejects with
 * ERR_STORE.
 */
async function testPostgres(address: PostgresAddress, withinMs: number): Promise<readonly TestLine[]> {
  const database = await PostgresDatabase.open({
    address,
    migrations,
    access: "look",
    poolSize: 1,
    connectWithinMs: withinMs,
    answerWithinMs: withinMs,
  });
  try {
    const rights = await readRights(database);
    const found = rights.hasTables
      ? await linesOfTables(database, rights, address.name)
      : [lineOfNone(rights, address.name)];
    return rights.isOpen ? [...found, line("warning", "postgresOpen")] : found;
  } finally {
    await database.close();
  }
}

async function linesOfTables(
  database: PostgresDatabase,
  { isEnough, user }: PostgresRights,
  path: string,
): Promise<readonly TestLine[]> {
  if (!isEnough) {
    return [line("bad", "postgresReadOnly", { path, user })];
  }
  const summary = await summarize(database, "postgres");
  const { version, schemaVersion: schema, bytes, workers } = summary;
  return [
    line("good", "postgres", { version, schema, size: { bytes }, path }),
    line("good", "workers", { count: workers ?? 0 }),
    ...unfinishedLines(summary),
  ];
}

function lineOfNone({ isEnough, user, version }: PostgresRights, path: string): TestLine {
  return isEnough
    ? line("good", "postgresEmpty", { version, path })
    : line("bad", "postgresNoSchema", { path, user });
}

/** Somebody is waiting, and all tries have to fit into the time limit. */
const shortPauseMs = 50;

/** Options of one test of a bucket. */
interface BucketTest {
  readonly signal: AbortSignal;
  /** The time limit of the signal, for the sentence that mentions it. */
  readonly withinMs: number;
}

/** Tests the bucket of a store with an object that it removes again. */
export async function testBucket(
  location: BucketLocation,
  { signal, withinMs }: BucketTest,
): Promise<readonly TestLine[]> {
  try {
    const lines = await orLate(linesOf(location, signal), signal);
    if (lines === "late") {
      const values = { host: location.address.origin, seconds: withinMs / 1000 };
      throw new DimensionerError("bucketUnanswered", { surface: "store", operation: "test" }, values);
    }
    return lines;
  } catch (error) {
    return [lineOfError(error)];
  }
}

async function linesOf(location: BucketLocation, signal: AbortSignal): Promise<readonly TestLine[]> {
  const { address, credentials, retainDays } = location;
  const { openBucketVault } = await import("../../vault/open-vault.ts");
  const vault = await openBucketVault(location, { signal, firstPauseMs: shortPauseMs });
  try {
    const prefix = address.prefix === "" ? "" : `${address.prefix}/`;
    const { isConditional, hasLock } = await probeBucket(vault.bucket, `${prefix}.dimensioner-archive/`);
    return [
      line("good", "bucket", { path: address.name, host: address.origin }),
      ...(credentials === null ? [line("good", "bucketEnvironment")] : []),
      line("good", isConditional ? "bucketConditional" : "bucketUnconditional"),
      lineOfLock(hasLock, retainDays),
      ...(hasLock !== false && retainDays > 0
        ? await linesOfRetention(vault.bucket, `${prefix}.dimensioner-archive/`)
        : []),
      ...(isOpenHttp(address.origin) ? [line("warning", "bucketOpen")] : []),
    ];
  } finally {
    await vault.close();
  }
}

async function linesOfRetention(bucket: Objects, prefix: string): Promise<readonly TestLine[]> {
  try {
    await probeRetention(bucket, prefix);
    return [line("good", "bucketRetains")];
  } catch (error) {
    return [lineOfError(error)];
  }
}

function lineOfLock(hasLock: boolean | null, retainDays: number): TestLine {
  if (hasLock === null) {
    return line(retainDays === 0 ? "good" : "warning", "bucketLockUnknown");
  }
  if (retainDays === 0) {
    return line("good", hasLock ? "bucketLock" : "bucketLockNone");
  }
  return hasLock ? line("good", "bucketLocked", { count: retainDays }) : line("bad", "bucketLockMissing");
}

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
  /** Not from a dialog that was opened before an update. */
  logo: v.optional(fieldText, ""),
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
function unfinishedLines({ openJobs, oldestJobAt, unhandledRecords }: StoreSummary): readonly TestLine[] {
  return [
    oldestJobAt === null
      ? line("good", "jobsNone")
      : line("good", "jobs", { count: openJobs, time: { time: oldestJobAt } }),
    unhandledRecords === 0
      ? line("good", "recordsNone")
      : line("good", "records", { count: unhandledRecords }),
  ];
}
