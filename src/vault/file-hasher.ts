import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { startThread } from "../database/start-thread.ts";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { type ReadDisk, diskFacts, plainDisk, BlockingDisk } from "./archive-disk.ts";
import type { FileToHash, HashAnswer } from "./hash-thread.ts";
import { sha256Of } from "../model/sha256.ts";
import { type FoundFile, hashFile, openPlain, readWhole } from "./packages/package-files.ts";
import { sayUnreadable } from "./walk.ts";

/** What is smaller is verified before a thread has started. */
const threadAfterBytes = 32 * 1024 * 1024;
/** From here on, reading a file ahead while it is hashed, or hashing it in another thread, saves more than it costs. */
const largeBytes = 1024 * 1024;

/** A file with its content; without it if it has too many bytes for that. */
export type ReadWhole = FoundFile & { readonly content?: Buffer };

interface HasherOptions {
  readonly disk: ReadDisk;
  /** Aborting ends everything that runs. */
  readonly signal?: AbortSignal | undefined;
  /** Whether another thread may be started, for files on the disk only. */
  readonly mayUseThread: boolean;
}

/** Hashes the files of a verification: in this thread and, if there is much to hash, in another one at the same time. */
export class FileHasher {
  readonly disk: ReadDisk;
  readonly #signal: AbortSignal | undefined;
  readonly #mayUseThread: boolean;
  #bytes = 0;
  #thread: Worker | undefined;
  /** The thread, when it has nothing to do. */
  #idle: Worker | undefined;

  constructor({ disk, signal, mayUseThread }: HasherOptions) {
    this.disk = disk;
    this.#signal = signal;
    this.#mayUseThread = mayUseThread && (disk === plainDisk || disk instanceof BlockingDisk);
  }

  /**
   * The length and hash of a file, undefined if it is missing or not a regular file, or why it cannot be read. Rejects
   * when the signal is aborted, and with ERR_STORE: a bucket that fails would fail for each of its files. `expectedBytes`: how long it
   * should be; a longer one may be without end, and its hash tells nothing more.
   */
  async hash(path: string, expectedBytes = Infinity): Promise<HashAnswer> {
    const isLarge = expectedBytes >= largeBytes;
    const found =
      isLarge && this.#idle !== undefined
        ? await this.#hashIn(this.#idle, { path, most: expectedBytes })
        : await this.#hashHere(path, isLarge, expectedBytes);
    this.#bytes += typeof found === "object" ? found.bytes : 0;
    if (this.#mayUseThread && this.#thread === undefined && this.#bytes >= threadAfterBytes) {
      this.#start();
    }
    return found;
  }

  /** The same for a file with its content; of one with more than `most` bytes, only the hash. */
  async read(path: string, most: number, expectedBytes: number): Promise<ReadWhole | string | undefined> {
    try {
      const file = await openPlain(path, this.disk);
      if (file === undefined) {
        return undefined;
      }
      try {
        const content = await readWhole(file, most);
        if (content !== undefined) {
          this.#bytes += content.length;
          this.#signal?.throwIfAborted();
          return { bytes: content.length, sha256: sha256Of(content), content };
        }
      } finally {
        await file.close();
      }
      return await this.hash(path, expectedBytes);
    } catch (error) {
      return this.#explain(error);
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** If the thread cannot start or fails, everything is hashed in this one. */
  #start(): void {
    const thread = startThread("src/vault/hash-thread");
    this.#thread = thread;
    thread.on("error", () => (this.#idle = undefined));
    thread.once("online", () => (this.#idle = thread));
  }

  async #hashHere(path: string, isLarge: boolean, most: number): Promise<HashAnswer> {
    const disk = isLarge && this.disk instanceof BlockingDisk ? plainDisk : this.disk;
    try {
      return await hashFile(path, disk, { ...diskFacts, signal: this.#signal }, most);
    } catch (error) {
      return this.#explain(error);
    }
  }

  #explain(error: unknown): string {
    this.#signal?.throwIfAborted();
    if (isDimensionerError(error)) {
      throw error;
    }
    return sayUnreadable(error);
  }

  async #hashIn(thread: Worker, { path, most }: FileToHash): Promise<HashAnswer> {
    this.#idle = undefined;
    const answered = once(thread, "message", { signal: this.#signal });
    thread.postMessage({ path, most } satisfies FileToHash);
    try {
      const [answer] = (await answered) as [HashAnswer];
      this.#idle = thread;
      return answer;
    } catch {
      // The thread has ended, or the signal was aborted, which is thrown here as well.
      return await this.#hashHere(path, true, most);
    }
  }
}
