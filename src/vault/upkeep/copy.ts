import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { type ToolDatabase, ToolThread } from "../../database/tool-database.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { systemCode } from "../../media/disk.ts";
import type { ArchiveProgress, CopyReport, NotCopied } from "../../model/archive-reports.ts";
import {
  asFileError,
  holdFileName,
  holdName,
  manifestFileName,
  namesInState,
  plainDisk,
  stateFolderName,
} from "../archive-disk.ts";
import type { CopyTarget, NotPut } from "./copy-target.ts";
import type { Vault } from "../vault.ts";
import { FolderCopy } from "../folder/folder-copy.ts";
import { readEvent } from "../log/events.ts";
import { lastLines, logParts, storesWithLog } from "../log/log-files.ts";
import { LogReplay, replaySchema } from "../log/replay.ts";
import { blockLines } from "../log/tree.ts";
import { type Manifest, filesOf } from "../packages/manifest.ts";
import { hashFile, readPlain } from "../packages/package-files.ts";
import { isS3Url, readS3Url } from "../s3/bucket-address.ts";
import { isTimestampName, timestampsName } from "../timestamp/timestamp-folder.ts";
import {
  type WalkEntry,
  type WalkedPackage,
  damagedManifest,
  findScope,
  inParallel,
  loadManifestWithin,
  sayUnreadable,
  walkPackages,
} from "../walk.ts";

interface CopyOptions {
  /** How long nobody without a special right can delete the copies in a bucket; undefined: not at all. */
  readonly retainDays?: number | undefined;
  /** Aborting ends the run, also in the middle of a file of a bucket, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Most packages are small, so the time goes by while the object store answers. */
const packagesAtOnce = 4;
/** A hold and the files of a time stamp are much smaller; a longer file is none. */
const mostSmallBytes = 1024 * 1024;

interface CopiedLog {
  readonly replay: LogReplay;
  /** How many lines it had before the packages were walked through. */
  readonly walkedFrom: number;
  /** The next line that the copy does not have. */
  readonly next: number;
  /** A line of the copy that is not the one in the folder. */
  readonly other: number | undefined;
}

/** What has become of a package, or why an entry of the folder is none that could be copied. */
interface Result {
  readonly what: "copied" | "failed" | "gone" | "there";
  readonly path: string;
  /** Written. */
  readonly bytes: number;
  /** Why it was not copied: a sentence for people. */
  readonly problem?: string;
}

/**
 * Copies the packages of a folder to a bucket or to another folder, with the logs and time stamps of the archive. Each file is compared with
 * its manifest before it is there, and nothing is replaced by something else. What the log of the copy names was compared by the run that
 * has written its line, so its files are only counted and measured. It may be aborted and started again at any time, and while packages are
 * archived.
 */
export class Copying {
  readonly #folder: string;
  readonly #to: string;
  readonly #options: CopyOptions;
  readonly #counts = { copied: 0, there: 0, failed: 0, gone: 0 };
  readonly #logs: CopiedLog[] = [];
  readonly #held = new Set<string>();
  /** How many lines of each log the copy has, by the ID of its store, where all packages are there that they name. */
  readonly #copied = new Map<string, number>();
  #bytes = 0;
  #endedUploads: number | null = null;

  constructor(folder: string, to: string, options: CopyOptions) {
    this.#folder = folder;
    this.#to = to;
    this.#options = options;
  }

  progress(): ArchiveProgress {
    const { copied, there } = this.#counts;
    return { packages: copied + there, bytes: this.#bytes, expectedPackages: null, expectedBytes: null };
  }

  /** The result, after `run` has ended. */
  report(): CopyReport {
    const { copied, there, failed } = this.#counts;
    return { copied, alreadyThere: there, failed, bytes: this.#bytes, endedUploads: this.#endedUploads };
  }

  /** How many lines of the log of a store are in the copy with the packages that they name; undefined if it is not known. */
  linesOf(store: string): number | undefined {
    return this.#counts.failed === 0 && this.#counts.copied > 0 ? this.#copied.get(store) : undefined;
  }

  /** Yields what was not copied. Throws ERR_CONFIG, ERR_FILE and ERR_STORE. */
  async *run(): AsyncGenerator<NotCopied> {
    const { signal } = this.#options;
    const { root, start } = await findScope(this.#folder);
    const thread = new ToolThread();
    try {
      const tables = await thread.open({ as: "temporary", file: tmpdir() });
      await tables.transaction(replaySchema.map((sql) => ({ sql })));
      const target = await this.#open(root, tables);
      try {
        this.#endedUploads = await target.begin(relative(root, start).split(sep).join("/"));
        // The log of a part would name packages that are not copied.
        for (const store of start === root ? await storesWithLog(root, plainDisk) : []) {
          await this.#readLog(new LogReplay(root, store, plainDisk, tables), target);
        }
        const copyOne = async (entry: WalkEntry): Promise<Result> => {
          // A package that is copied without its archive gets the name of its folder.
          const location = entry.path || basename(start);
          return entry.kind === "package"
            ? await this.#copyPackage(entry, location, { target, tables }).catch((error: unknown) =>
                explainDisk(error, entry.path),
              )
            : explain(entry);
        };
        let isMarked = false;
        for await (const result of inParallel(walkPackages(root, start), packagesAtOnce, copyOne)) {
          signal?.throwIfAborted();
          if (!isMarked && (result.what === "copied" || result.what === "there")) {
            await target.mark();
            isMarked = true;
          }
          yield* this.#count(result);
        }
        yield* this.#copyStamps(root, target);
        for (const log of this.#logs) {
          yield* this.#copyLog(log, root, target, copyOne);
        }
      } finally {
        await target.close();
      }
    } finally {
      await thread.close();
    }
  }

  async #open(root: string, tables: ToolDatabase): Promise<CopyTarget> {
    const { signal, retainDays } = this.#options;
    if (!isS3Url(this.#to)) {
      return await FolderCopy.open(this.#to, root);
    }
    const address = readS3Url(this.#to);
    const { BucketCopy } = await import("../bucket/bucket-copy.ts");
    return await BucketCopy.open(address, { tables, retainDays, signal });
  }

  /** Reads the log of the folder, and up to where the copy has it. */
  async #readLog(replay: LogReplay, { vault }: CopyTarget): Promise<void> {
    await replay.readOn();
    const run = replay.run([]);
    for (let step = await run.next(); ; step = await run.next()) {
      // What is wrong with the log, a verification says: the copy gets it as it is.
      if (step.done === true) {
        step.value.held.forEach((_event, id) => this.#held.add(id));
        break;
      }
    }
    const ends = await lastLines(vault.root, replay.store, vault.disk);
    const [other] = await replay.differing(ends);
    const next = other === undefined ? Math.max(0, ...ends.map(({ n }) => n + 1)) : 0;
    this.#logs.push({ replay, walkedFrom: await replay.size(), next, other });
  }

  async #copyPackage(
    { folder, sha256, manifest }: WalkedPackage,
    location: string,
    { target, tables }: { readonly target: CopyTarget; readonly tables: ToolDatabase },
  ): Promise<Result> {
    const path = location;
    const failed = (bytes: number, problem: string): Result => ({ what: "failed", path, bytes, problem });
    const { size } = await plainDisk.lstat(join(folder, manifestFileName));
    const wanted = filesOf(manifest).map((file) => ({ ...file, contentType: typeOf(manifest, file.path) }));
    const there = await target.lengthsOf(location);
    const notPut = async (bytes: number, { what, path: file }: NotPut): Promise<Result> => {
      if ((await hashFile(join(folder, manifestFileName), plainDisk)) === undefined) {
        // It was pruned meanwhile.
        return { what: "gone", path, bytes };
      }
      return failed(
        bytes,
        what === "taken"
          ? "another package has the same name in the copy: it was not replaced"
          : `${file} ${what === "missing" ? "is missing" : "is not as it was archived"}`,
      );
    };
    const isKnown =
      there.get(manifestFileName) === size && (await this.#isInCopiedLog(location, sha256, tables));
    const { vault, retainUntil } = target;
    // What a run before has put there without being done may lack its retention.
    if (!there.has(manifestFileName) || (!isKnown && retainUntil !== undefined)) {
      const problem = await target.putPackage({
        folder,
        location,
        manifest: { bytes: size, sha256 },
        files: wanted,
      });
      if (problem !== undefined) {
        return await notPut(0, problem);
      }
      const held = await this.#copyHolds(folder, location, { target, there, job: manifest.job });
      return {
        what: "copied",
        path,
        bytes: wanted.reduce((sum, file) => sum + file.bytes, held + size),
      };
    }
    const inCopy = (name: string): string => join(vault.root, location, name);
    if (!isKnown && (await vault.sha256Of(inCopy(manifestFileName), size)) !== sha256) {
      return await notPut(0, { what: "taken", path: manifestFileName });
    }
    let bytes = 0;
    const lacking = wanted.filter((file) => there.get(file.path) !== file.bytes);
    for (const file of lacking) {
      const from = join(folder, file.path);
      const what = await vault.putFile(from, inCopy(file.path), { ...file, retainUntil }, plainDisk);
      if (what !== undefined) {
        return await notPut(bytes, { what, path: file.path });
      }
      bytes += file.bytes;
    }
    bytes += await this.#copyHolds(folder, location, { target, there, job: manifest.job });
    return { what: lacking.length > 0 ? "copied" : "there", path, bytes };
  }

  /** Whether an earlier run has written the line of a package into the copy, which it does when the package is there. */
  async #isInCopiedLog(path: string, sha256: string, tables: ToolDatabase): Promise<boolean> {
    for (const { replay, next } of this.#logs) {
      const found = await tables.select(
        "SELECT 1 FROM logged WHERE path = ? AND sha256 = ? AND store = ? AND n < ?",
        [path, sha256, replay.store, next],
      );
      if (found.length > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * A hold is also a file in the package, for people. It is removed from the copy when the log says that it was released; one that somebody
   * has made by hand stays.
   */
  async #copyHolds(
    folder: string,
    location: string,
    {
      target,
      there,
      job,
    }: { readonly target: CopyTarget; readonly there: ReadonlyMap<string, number>; readonly job: string },
  ): Promise<number> {
    const names = await plainDisk.readdir(folder);
    let bytes = 0;
    for (const name of names.filter((one) => holdName.test(one))) {
      bytes += await copySmallFile(join(folder, name), join(target.vault.root, location, name), target.vault);
    }
    const isReleased = !names.includes(holdFileName) && this.#logs.length > 0 && !this.#held.has(job);
    if (there.has(holdFileName) && isReleased) {
      await removeUnlessProtected(join(target.vault.root, location, holdFileName), target.vault);
    }
    return bytes;
  }

  /**
   * Copies the lines of a log that the copy does not have, when the packages are there that they are about: those that were archived
   * since the packages were walked through are copied first.
   */
  async *#copyLog(
    { replay, walkedFrom, next: from, other }: CopiedLog,
    root: string,
    { vault }: CopyTarget,
    copyOne: (entry: WalkEntry) => Promise<Result>,
  ): AsyncGenerator<NotCopied> {
    if (other !== undefined) {
      const problem = `the copy has another log of this store: its line ${other} is not the one in the folder`;
      this.#counts.failed += 1;
      yield { path: [...logParts, replay.store].join("/"), problem };
      return;
    }
    await replay.readOn();
    let next = from;
    let batch: LogLine[] = [];
    const write = async (): Promise<void> => {
      if (batch.length > 0) {
        await writing(vault.name, () => vault.appendLog(replay.store, "copy", batch));
        this.#bytes += batch.reduce((sum, { line }) => sum + line.length, 0);
        batch = [];
      }
    };
    for await (const line of replay.lines(from)) {
      this.#options.signal?.throwIfAborted();
      const isGap = line.n !== next;
      if (isGap || replay.conflicts.has(next)) {
        // A worker may be about to write the line before: then the next run copies what follows.
        if (!isGap || next < walkedFrom) {
          const problem = `the line ${next} of the log is ${isGap ? "missing" : "there twice, and not with the same content"}: it was not copied, nor what follows`;
          this.#counts.failed += 1;
          yield { path: [...logParts, replay.store].join("/"), problem };
        }
        break;
      }
      const event = line.n >= walkedFrom ? readEvent(line.line) : undefined;
      if (event?.what === "archived") {
        const found = await loadManifestWithin(root, `${event.path}/${manifestFileName}`, plainDisk);
        if (typeof found === "object") {
          const folder = join(root, event.path);
          const result = await copyOne({ kind: "package", path: event.path, folder, ...found });
          yield* result.what === "there" ? [] : this.#count(result);
        }
      }
      next = line.n + 1;
      batch.push(line);
      // A bucket has each full block as one object.
      if (next % blockLines === 0) {
        await write();
      }
    }
    await write();
    this.#copied.set(replay.store, next);
    if (next > from) {
      await vault.compactLog(replay.store, next, (first, end) => linesOf(replay, first, end));
    }
  }

  *#count({ what, bytes, path, problem }: Result): Generator<NotCopied> {
    this.#counts[what] += 1;
    this.#bytes += bytes;
    if (problem !== undefined) {
      yield { path, problem };
    }
  }

  /** The time stamps say when the packages were there at the latest. They never change. */
  async *#copyStamps(root: string, target: CopyTarget): AsyncGenerator<NotCopied> {
    for (const name of await namesInState(root, [timestampsName], plainDisk)) {
      const location = `${stateFolderName}/${timestampsName}/${name}`;
      const names = isTimestampName(name) ? await namesInState(root, [timestampsName, name], plainDisk) : [];
      const files: [string, Buffer][] = [];
      for (const file of names) {
        const content = await readSmall(join(root, location, file));
        files.push(...(content === undefined ? [] : [[file, content] as [string, Buffer]]));
      }
      const there = await target.lengthsOf(location);
      if (files.every(([file, content]) => there.get(file) === content.length)) {
        continue;
      }
      if (there.size > 0 && target.vault.kind === "folder") {
        this.#counts.failed += 1;
        yield {
          path: location,
          problem: "another time stamp has the same name in the copy: it was not replaced",
        };
        continue;
      }
      await writing(target.vault.name, () =>
        target.vault.writeFolder(join(target.vault.root, location), files),
      );
      this.#bytes += files.reduce((sum, [, content]) => sum + content.length, 0);
    }
  }
}

async function linesOf(replay: LogReplay, first: number, end: number): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const line of replay.lines(first)) {
    if (line.n >= end) {
      break;
    }
    lines.push(line);
  }
  return lines;
}

/** A copy that cannot be written ends the run. */
async function writing<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFileError(error, name, name);
  }
}

/** Undefined if it is no file, or too long. */
async function readSmall(path: string): Promise<Buffer | undefined> {
  const content = await readPlain(path, plainDisk, mostSmallBytes);
  return typeof content === "string" ? undefined : content;
}

/** How often a file is read again that changes while it is copied. */
const mostTries = 3;

/**
 * Makes a file of the copy the same as one whose content is not known, if both differ. It is not protected from being deleted. Returns the
 * bytes that were written.
 */
async function copySmallFile(from: string, to: string, vault: Vault): Promise<number> {
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const found = await hashFile(from, plainDisk);
    if (found === undefined || (await vault.sha256Of(to, found.bytes)) === found.sha256) {
      return 0;
    }
    const contentType = to.endsWith(".json") ? "application/json" : undefined;
    if ((await vault.putFile(from, to, { ...found, contentType }, plainDisk)) === undefined) {
      return found.bytes;
    }
  }
  // The next run copies it.
  return 0;
}

/** Removes a file of the copy; one that an object store protects stays. */
async function removeUnlessProtected(path: string, vault: Vault): Promise<void> {
  try {
    await vault.remove(path);
  } catch (error) {
    if (!isDimensionerError(error) || !["bucketDenied", "bucketProtected"].includes(error.sentence)) {
      throw error;
    }
  }
}

function typeOf({ items }: Manifest, path: string): string | undefined {
  const item = items.find((one) => one.path === path);
  const own = path.endsWith(".json") ? "application/json" : undefined;
  return item === undefined ? own : (item.contentTypeFound ?? item.contentTypeAnnounced ?? undefined);
}

/** A file that cannot be read does not end the run, a copy that cannot be written does. */
function explainDisk(error: unknown, path: string): Result {
  if (systemCode(error) === undefined || isDimensionerError(error)) {
    throw error;
  }
  return { what: "failed", path, bytes: 0, problem: sayUnreadable(error) };
}

function explain(entry: Exclude<WalkEntry, { kind: "package" }>): Result {
  const { path } = entry;
  switch (entry.kind) {
    case "damaged":
      return { what: "failed", path, bytes: 0, problem: damagedManifest };
    case "unreadable":
      return { what: "failed", path, bytes: 0, problem: entry.problem };
    case "archive":
      return { what: "failed", path, bytes: 0, problem: "this is a separate archive: copy it on its own" };
    case "stray":
      return { what: "gone", path, bytes: 0 };
  }
}
