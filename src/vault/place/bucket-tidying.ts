import type { Database } from "../../database/database.ts";
import { keyOf } from "../bucket/bucket-disk.ts";
import { markArchive } from "../bucket/mark-archive.ts";
import type { BucketFiles } from "../files/bucket-files.ts";
import { removeInterrupted, removeUploads } from "../leftovers.ts";
import type { StagedMedia } from "./staged-media.ts";

interface TidyingParts {
  readonly files: BucketFiles;
  readonly staged: StagedMedia | null;
  readonly database: Pick<Database, "transaction">;
  /** Aborting it ends a run. */
  readonly signal: AbortSignal;
}

const hourMs = 3_600_000;
/** What is younger may belong to a process that was suspended, or is about to accept a message. */
const keepMs = 24 * hourMs;

/**
 * Marks an archive in a bucket, and removes from it what jobs have left that ended elsewhere or not at all: when it begins, and then
 * each hour.
 */
export class BucketTidying {
  readonly #parts: TidyingParts;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void>;

  constructor(parts: TidyingParts) {
    this.#parts = parts;
    this.#running = this.#run();
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#run());
    }, hourMs).unref();
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** What cannot be removed now is removed by a later run, here or elsewhere. */
  async #run(): Promise<void> {
    const { files, staged, database, signal } = this.#parts;
    const beforeMs = Date.now() - keepMs;
    try {
      // An archive of an earlier version may have packages already.
      await markArchive(files.bucket, keyOf(files.root));
      for await (const _removed of removeUploads({ files, database }, { beforeMs, signal })) {
        signal.throwIfAborted();
      }
      await staged?.removeOld(beforeMs, database);
      signal.throwIfAborted();
      await removeInterrupted(files, beforeMs);
    } catch {
      // The bucket or the database cannot be reached: the jobs say so themselves.
    }
  }
}
