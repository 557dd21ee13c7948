import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorCode } from "../../../errors/codes.ts";
import { isTaken } from "../table/is-taken.ts";
import type { JobTable } from "../table/job-table.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { WorkFolders } from "./work-folders.ts";

/** The error in which a job has ended. */
export interface EndError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Where an attempt has moved the media of a job: the next attempt does not find them in the work folder any more. */
interface Moved {
  path: string | null;
}

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

/** Notes that jobs have ended, and removes their work folders. */
export class JobEndings {
  readonly #jobs: JobTable;
  readonly #work: WorkFolders;
  readonly #stopping = new AbortController();

  constructor(jobs: JobTable, work: WorkFolders) {
    this.#jobs = jobs;
    this.#work = work;
  }

  /**
   * Ends a job whose message, or its error, was sent. Repeats what the database or the disk refuses until `stop`,
   * because the next start sends the message of an open job once more. Resolves with the path of media that are nowhere
   * else, or with null. Never rejects.
   */
  async end(job: OpenJob, error?: EndError): Promise<string | null> {
    const { signal } = this.#stopping;
    const moved: Moved = { path: null };
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        return await (job.placed === null ? this.#fail(job, error, moved) : this.#report(job));
      } catch (thrown) {
        // The folder of a job that another worker has is taken by that one.
        if (isTaken(thrown) || signal.aborted) {
          return null;
        }
        // A stop ends the pause, and one last attempt follows.
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** Lets each job that has not ended yet make one last attempt. */
  stop(): void {
    this.#stopping.abort();
  }

  async #report({ id }: OpenJob): Promise<null> {
    await this.#jobs.reported(id);
    await this.#work.remove(id);
    return null;
  }

  async #fail(
    { id, items }: OpenJob,
    error: EndError = { code: "ERR_CANCELLED", message: "" },
    moved: Moved,
  ): Promise<string | null> {
    await this.#jobs.failed(id, error);
    // Media that cannot be downloaded again are kept.
    const isOnlyThere = [...items.values()].some(({ source }) => source !== "cloud");
    if (isOnlyThere) {
      moved.path ??= await this.#work.moveAside(id);
      if (moved.path !== null) {
        await this.#work.syncAside();
      }
      return moved.path;
    }
    await this.#work.remove(id);
    return null;
  }
}
