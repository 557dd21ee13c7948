import { randomUUID } from "node:crypto";
import type * as fsPromises from "node:fs/promises";
import { join } from "node:path";
import { stateFolderName, workFolderName } from "../../vault/archive-disk.ts";
import { cannotSync, diskError, fileError, systemCode, type TransferFacts } from "../../media/disk.ts";
import { guardedDisk } from "../../media/disk-guard.ts";
import { checkRoot, syncFolder } from "../../media/target-folder.ts";
import { isShareMount, spaceOf } from "../../media/volume.ts";
import { line, lineOfError, orLate, type TestLine } from "./connection-test.ts";

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
  /** Aborting ends the test between two calls to the disk. */
  readonly signal: AbortSignal;
}

/**
 * Tests whether packages can be kept in a folder: creates files and folders in it as the archive does, and removes
 * them. If the disk hangs, the test ends with a line that says so when `signal` aborts, and cleans up when the disk
 * answers again.
 */
export async function testFolder(
  folder: string,
  signal: AbortSignal,
  disk: TestedDisk = guardedDisk(folder),
): Promise<readonly TestLine[]> {
  const lines: TestLine[] = [];
  const tried = tryFolder(folder, { disk, signal }, (found) => lines.push(found));
  const isLate = (await orLate(tried, signal)) === "late";
  return isLate ? [...lines, lineOfError(fileError("fileHung", folder, facts))] : lines;
}

async function tryFolder(
  folder: string,
  { disk, signal }: Pick<FolderTest, "disk" | "signal">,
  say: (found: TestLine) => void,
): Promise<void> {
  try {
    const root = await checkRoot(folder, disk, facts);
    say(line("good", "folder", { path: root }));
    if (isShareMount(root)) {
      say(line("warning", "folderMount", { path: root }));
    }
    const test = { root, scratch: join(root, `.dimensioner-test-${randomUUID()}`), disk, signal };
    try {
      for (const step of [tryWriting, tryNaming, trySync, tryWorkFolder]) {
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
    await onDisk(test, root, () => disk.writeFile(join(scratch, name, "file"), name, { flag: "wx" }));
  }
  return line("good", "folderWritable");
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
  const isSynced = await onDisk(test, root, async () => {
    await syncFile(join(scratch, "named", "file"), disk);
    return syncFolder(scratch, disk, facts);
  });
  return isSynced ? line("good", "folderSyncs") : line("warning", "folderNoSync");
}

async function syncFile(path: string, disk: TestedDisk): Promise<void> {
  const file = await disk.open(path, "r+");
  try {
    await file.sync();
  } catch (error) {
    if (!cannotSync(error)) {
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** Unfinished packages are in a folder of their own, and a rename from one disk to another is not possible. */
async function tryWorkFolder(test: FolderTest): Promise<TestLine> {
  const { root, scratch, disk } = test;
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
