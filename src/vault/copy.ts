import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { LogLine } from "../database/log-table.ts";
import { ToolThread } from "../database/tool-database.ts";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { systemCode } from "../media/disk.ts";
import type { ArchiveProgress, CopyReport, NotCopied } from "../model/archive-reports.ts";
import { manifestFileName, namesIn, plainDisk, stateFolderName } from "./archive-disk.ts";
import type { CopiedPackage } from "./bucket/copy-package.ts";
import { readEvent } from "./log/events.ts";
import { lastLines, logParts, storesWithLog } from "./log/log-files.ts";
import { LogReplay, replaySchema } from "./log/replay.ts";
import { readS3Url } from "./s3/bucket-address.ts";
import type { Bucket } from "./s3/bucket.ts";
import { isTimestampName, timestampsName } from "./timestamp-folder.ts";
import {
  type WalkEntry,
  damagedManifest,
  findPlace,
  inParallel,
  loadManifestWithin,
  sayUnreadable,
  walkPackages,
} from "./walk.ts";

interface CopyOptions {
  /** How long nobody without a special right can delete the copies; undefined: not at all. */
  readonly retainDays?: number | undefined;
  /** Aborting ends the run, also in the middle of a file, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Most packages are small, so the time goes by while the object store answers. */
const packagesAtOnce = 4;
const dayMs = 24 * 3_600_000;

/** How many lines of a log are one object. */
const linesAtOnce = 1_000;

interface CopiedLog {
  readonly replay: LogReplay;
  /** How many lines it had before the packages were walked through. */
  readonly walkedFrom: number;
}

/** Where copies go, and the key of a path in it. */
interface To {
  readonly bucket: Bucket;
  readonly keyOf: (path: string) => string;
}

/** A package, or why an entry of the folder is none that could be copied. */
type Result = CopiedPackage & { readonly path: string };

/**
 * Copies the packages of a folder to a bucket, with the logs and time stamps of the archive. Each file is compared with its
 * manifest before it is stored, and nothing in the bucket is replaced by something else. It may be aborted and started
 * again at any time, and while packages are archived.
 */
export class Copying {
  readonly #folder: string;
  readonly #to: string;
  readonly #options: CopyOptions;
  readonly #counts = { copied: 0, there: 0, failed: 0, gone: 0 };
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

  /** Yields what was not copied. Throws ERR_CONFIG, ERR_FILE and ERR_STORE. */
  async *run(): AsyncGenerator<NotCopied> {
    const { signal, retainDays } = this.#options;
    const address = readS3Url(this.#to);
    const { root, start } = await findPlace(this.#folder);
    const [{ Bucket: BucketClass }, { copyPackage }, { markArchive }] = await Promise.all([
      import("./s3/bucket.ts"),
      import("./bucket/copy-package.ts"),
      import("./bucket/mark-archive.ts"),
    ]);
    const bucket = await BucketClass.open(address, { signal });
    const keyOf = (path: string): string => [address.prefix, path].filter((part) => part !== "").join("/");
    const thread = new ToolThread();
    const lines = await thread.open({ as: "temporary", file: tmpdir() });
    await lines.transaction(replaySchema.map((sql) => ({ sql })));
    const logs: CopiedLog[] = [];
    const retainUntil = retainDays === undefined ? undefined : new Date(Date.now() + retainDays * dayMs);
    try {
      // An upload of a day ago is none that still runs.
      this.#endedUploads = await bucket.endUploads(
        address.prefix === "" ? "" : `${address.prefix}/`,
        Date.now() - dayMs,
      );
      const copyOne = async (entry: WalkEntry): Promise<Result> => {
        const { path } = entry;
        // A package that is copied without its archive gets the name of its folder.
        const copied =
          entry.kind === "package"
            ? await copyPackage(entry, bucket, keyOf(path || basename(start)), { retainUntil }).catch(
                explainDisk,
              )
            : explain(entry);
        return { ...copied, path };
      };
      // The log of a part would name packages that are not copied.
      for (const store of start === root ? await storesWithLog(root, plainDisk) : []) {
        const replay = new LogReplay(root, store, plainDisk, lines);
        await replay.readOn();
        logs.push({ replay, walkedFrom: await replay.size() });
      }
      let isMarked = false;
      for await (const result of inParallel(walkPackages(root, start), packagesAtOnce, copyOne)) {
        signal?.throwIfAborted();
        if (!isMarked && (result.what === "copied" || result.what === "there")) {
          await markArchive(bucket, address.prefix);
          isMarked = true;
        }
        yield* this.#count(result);
      }
      // Before the logs: a line without its time stamp would be reported as a loss.
      for (const name of await namesIn(join(root, stateFolderName, timestampsName), plainDisk)) {
        await this.#copyStamp(name, root, { bucket, keyOf });
      }
      yield* this.#copyLogs(logs, bucket, { keyOf, copyOne });
    } finally {
      await thread.close();
      await bucket.close();
    }
  }

  /**
   * Copies the lines of logs that the bucket does not have, when the packages are there that they are about: those that were archived
   * since the packages were walked through are copied first.
   */
  async *#copyLogs(
    logs: readonly CopiedLog[],
    bucket: Bucket,
    {
      keyOf,
      copyOne,
    }: { readonly keyOf: (path: string) => string; readonly copyOne: (entry: WalkEntry) => Promise<Result> },
  ): AsyncGenerator<NotCopied> {
    const { BucketFiles } = await import("./files/bucket-files.ts");
    const { BucketDisk, pathOf } = await import("./bucket/bucket-disk.ts");
    const files = new BucketFiles(new BucketDisk(bucket), pathOf(keyOf("")));
    const { root } = await findPlace(this.#folder);
    for (const { replay, walkedFrom } of logs) {
      await replay.readOn();
      const ends = await lastLines(files.root, replay.store, files.disk);
      const [other] = await replay.differing(ends);
      if (other !== undefined) {
        const problem = `the bucket has another log of this store: its line ${other} is not the one in the folder`;
        yield { path: [...logParts, replay.store].join("/"), problem };
        continue;
      }
      let next = Math.max(0, ...ends.map(({ n }) => n + 1));
      let batch: LogLine[] = [];
      const write = async (): Promise<void> => {
        if (batch.length > 0) {
          await files.appendLog(replay.store, "", batch);
          this.#bytes += batch.reduce((sum, { line }) => sum + line.length, 0);
          batch = [];
        }
      };
      for await (const line of replay.lines(next)) {
        this.#options.signal?.throwIfAborted();
        if (line.n !== next) {
          // A worker is about to write the line before; the next run copies what follows.
          break;
        }
        const event = line.n >= walkedFrom ? readEvent(line.line) : undefined;
        if (event?.what === "archived") {
          const found = await loadManifestWithin(root, `${event.path}/${manifestFileName}`, plainDisk);
          if (typeof found === "object") {
            const folder = join(root, event.path);
            yield* this.#count(await copyOne({ kind: "package", path: event.path, folder, ...found }));
          }
        }
        if (event?.what === "stamped") {
          await this.#copyStamp(event.timestamp, root, { bucket, keyOf });
        }
        next = line.n + 1;
        batch.push(line);
        if (batch.length >= linesAtOnce) {
          await write();
        }
      }
      await write();
    }
  }

  *#count({ what, bytes, path, problem }: Result): Generator<NotCopied> {
    this.#counts[what] += 1;
    this.#bytes += bytes;
    if (problem !== undefined) {
      yield { path, problem };
    }
  }

  /** Copies a time stamp. Its name may come from a line of a log, and a line may be forged. */
  async #copyStamp(name: string, root: string, { bucket, keyOf }: To): Promise<void> {
    const { copyAnyFile } = await import("./bucket/copy-file.ts");
    const path = `${stateFolderName}/${timestampsName}/${name}`;
    for (const file of isTimestampName(name) ? await namesIn(join(root, path), plainDisk) : []) {
      this.#bytes += await copyAnyFile(join(root, path, file), bucket, keyOf(`${path}/${file}`));
    }
  }
}

/** A file that cannot be read does not end the run, a bucket that fails does. */
function explainDisk(error: unknown): CopiedPackage {
  if (systemCode(error) === undefined || isDimensionerError(error)) {
    throw error;
  }
  return { what: "failed", bytes: 0, problem: sayUnreadable(error) };
}

function explain(entry: Exclude<WalkEntry, { kind: "package" }>): CopiedPackage {
  switch (entry.kind) {
    case "damaged":
      return { what: "failed", bytes: 0, problem: damagedManifest };
    case "unreadable":
      return { what: "failed", bytes: 0, problem: entry.problem };
    case "archive":
      return { what: "failed", bytes: 0, problem: "this is a separate archive: copy it on its own" };
    case "stray":
      return { what: "gone", bytes: 0 };
  }
}
