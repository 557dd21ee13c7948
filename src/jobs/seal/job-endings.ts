import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorCode } from "../../errors/codes.ts";
import { isTaken } from "../table/is-taken.ts";
import type { JobTable } from "../table/job-table.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { AsideMedia } from "../../vault/place/aside-media.ts";
import type { StagedMedia } from "../../vault/place/staged-media.ts";
import type { StoredItem } from "../../vault/packages/intent.ts";
import type { WorkFolders } from "./work-folders.ts";

/** The error in which a job has ended. */
export interface EndError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A job that may have been accepted. */
interface WithdrawnJob {
  readonly id: string;
  readonly transactionId: string | null;
  readonly items: ReadonlyMap<string, StoredItem>;
}

/** What becomes of such a job. */
interface Withdrawal {
  readonly transactionId: string | null;
  /** Whether it is certain that no worker has it. */
  isGone: boolean;
}

/** Where an attempt has moved the media of a job: the next attempt does not find them in the work folder any more. */
interface Moved {
  path: string | null;
}

interface JobEndingsParts {
  readonly jobs: JobTable;
  readonly work: WorkFolders;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
  /** Null if the media of failed jobs stay on this computer. */
  readonly aside: AsideMedia | null;
}

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

/** Notes that jobs have ended, and removes their work folders. */
export class JobEndings {
  readonly #jobs: JobTable;
  readonly #work: WorkFolders;
  readonly #staged: StagedMedia | null;
  readonly #aside: AsideMedia | null;
  readonly #stopping = new AbortController();
  /** Jobs that are to be removed. */
  readonly #withdrawn = new Map<string, Withdrawal>();
  #removing: Promise<void> | undefined;

  constructor({ jobs, work, staged, aside }: JobEndingsParts) {
    this.#jobs = jobs;
    this.#work = work;
    this.#staged = staged;
    this.#aside = aside;
  }

  /**
   * Ends a job whose message, or its error, was sent. Repeats what the database or the disk refuses until `stop`,
   * because the next start sends the message of an open job once more. Resolves with the path or the address of media that are
   * nowhere else, or with null. Never rejects.
   */
  async end(job: OpenJob, error?: EndError): Promise<string | null> {
    const moved: Moved = { path: null };
    return await this.#repeat(() =>
      job.placed === null ? this.#fail(job, error, moved) : this.#report(job),
    );
  }

  /**
   * Removes a job that may have been accepted, although its message has ended in an error, and what is staged of it. Repeated as
   * `end` is. Never rejects.
   */
  async withdraw({ id, transactionId, items }: WithdrawnJob): Promise<void> {
    const withdrawal = { transactionId, isGone: false };
    this.#withdrawn.set(id, withdrawal);
    await this.#repeat(() => this.removeWithdrawn());
    // Another worker that has taken the job over needs it.
    if (withdrawal.isGone) {
      await this.unstage(id, items);
    }
  }

  /** Removes what is staged of a job that the database does not have: nothing else does, because it might be needed. Never rejects. */
  async unstage(id: string, items: ReadonlyMap<string, StoredItem>): Promise<void> {
    await this.#staged?.remove(id, items.values()).catch(() => undefined);
  }

  /**
   * Removes all such jobs. A message that is sent again must not be accepted before: its record would be that of the other job.
   * Rejects with ERR_STORE.
   */
  async removeWithdrawn(): Promise<void> {
    while (this.#withdrawn.size > 0) {
      this.#removing ??= this.#removeOnce().finally(() => {
        this.#removing = undefined;
      });
      await this.#removing;
    }
  }

  async #removeOnce(): Promise<void> {
    for (const [id, withdrawal] of this.#withdrawn) {
      withdrawal.isGone = await this.#jobs.withdraw(id, withdrawal.transactionId);
      this.#withdrawn.delete(id);
    }
  }

  async #repeat<T>(attempt: () => Promise<T>): Promise<T | null> {
    const { signal } = this.#stopping;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        return await attempt();
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

  async #report(job: OpenJob): Promise<null> {
    await this.#jobs.reported(job.id);
    await this.#remove(job);
    return null;
  }

  async #fail(
    job: OpenJob,
    error: EndError = { code: "ERR_CANCELLED", message: "" },
    moved: Moved,
  ): Promise<string | null> {
    const { id } = job;
    // Media that cannot be downloaded again are kept.
    const media = mediaOf(job).filter(({ source }) => source !== "cloud");
    // Before the job has ended: then nothing knows any more that its media are staged.
    const kept = media.length === 0 ? 0 : ((await this.#aside?.keep(id, media))?.kept ?? 0);
    await this.#jobs.failed(id, error);
    // What an earlier process has stored is not known before the job is prepared.
    if (kept === media.length && !(await this.#work.hasNoted(id))) {
      await this.#remove(job);
      return kept === 0 ? null : (this.#aside?.addressOf(id) ?? null);
    }
    moved.path ??= await this.#work.moveAside(id);
    if (moved.path !== null) {
      await this.#work.syncAside();
    }
    return moved.path ?? (kept === 0 ? null : (this.#aside?.addressOf(id) ?? null));
  }

  async #remove(job: OpenJob): Promise<void> {
    await this.#work.remove(job.id);
    await this.#removeStaged(job);
  }

  /** What cannot be removed now is removed when it is a day old. */
  async #removeStaged(job: OpenJob): Promise<void> {
    await this.#staged?.remove(job.id, mediaOf(job)).catch(() => undefined);
  }
}

/** The media of a job, also those of which the database may not know. */
function mediaOf({ items, unnoted }: OpenJob): StoredItem[] {
  return [...items.values(), ...unnoted.values()];
}
