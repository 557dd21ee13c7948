import { setTimeout as sleep } from "node:timers/promises";
import type { Unknown } from "../../archive/jobs/archive.ts";
import type { ArchiveLease, Archives } from "../../archive/jobs/archives.ts";
import { diskFacts } from "../../archive/archive-disk.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { isRetryableJob } from "../../archive/jobs/retryable-job.ts";
import { JobRunner, type RunnerOptions } from "../../archive/jobs/job-runner.ts";
import type { IntentTexts } from "../../archive/packages/intent.ts";
import type { OpenJob } from "../../archive/jobs/open-job.ts";
import type { RunningJob } from "../../archive/jobs/running-job.ts";
import type { Submission } from "../../archive/jobs/submission.ts";
import { settledWithin } from "../../store/settled-within.ts";
import type { Store } from "../../store/store.ts";

interface Session {
  readonly lease: ArchiveLease;
  readonly runner: JobRunner;
}

interface SessionOptions extends Omit<RunnerOptions, "concurrency"> {
  /** Jobs that download at once; throws ERR_CONFIG where that is no number. */
  readonly concurrency: () => number;
  /** The store whose archive it is; throws ERR_CONFIG where there is none. */
  readonly store: () => Store;
  /** Which open jobs of an archive this node goes on with. */
  readonly isMine: (job: OpenJob) => boolean;
  /** Gets each of them; rejects with ERR_STORE. */
  readonly onResumed: (submission: Submission) => Promise<void>;
  /** Told what keeps the open jobs from going on. */
  readonly onResumeError: (error: unknown) => void;
  /** Told what was found when the archive was opened. */
  readonly onUnknown: (unknown: Unknown) => void;
}

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
/** Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 10_000;
/** An archive that has not been opened by then is on a disk that hangs; nothing of it has to be brought to an end. */
const openTimeoutMs = 2_000;

/** A config node that is put right is deployed, and this node with it. */
function isConfigError(error: unknown): boolean {
  return isDimensionerError(error) && error.code === "ERR_CONFIG";
}

/** The archive that one node works in, from its first message or the start to the node's close. */
export class ArchiveSession {
  readonly #archives: Archives;
  readonly #options: SessionOptions;
  readonly #closing = new AbortController();
  /** Whether the jobs that were open at the start are to end instead of going on. */
  #dropsResumed = false;
  #session: Promise<Session> | undefined;
  #runner: JobRunner | undefined;

  constructor(archives: Archives, options: SessionOptions) {
    this.#archives = archives;
    this.#options = options;
  }

  get jobs(): RunningJob[] {
    return this.#runner?.jobs ?? [];
  }

  /** The message properties that a job has kept. */
  async textsOf(jobId: string): Promise<IntentTexts["keep"]> {
    return (await this.#runner?.kept(jobId).catch(() => undefined)) ?? {};
  }

  /** Opens the archive and goes on with what is open in it. Throws ERR_FILE, ERR_STORE or ERR_CONFIG. */
  async open(): Promise<JobRunner> {
    const opening = this.#session ?? this.#begin();
    this.#session = opening;
    let session: Session;
    try {
      session = await opening;
    } catch (error) {
      if (this.#session === opening) {
        this.#session = undefined;
      }
      throw error;
    }
    // A message that has waited for it ended with the close.
    this.#closing.signal.throwIfAborted();
    return session.runner;
  }

  /** The same after a start, when a share may not be mounted yet: tried until it works, which it returns, or cannot. */
  async openWhenThere(onTrouble: (error: unknown) => void): Promise<boolean> {
    const { signal } = this.#closing;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        await this.open();
        return true;
      } catch (error) {
        if (signal.aborted) {
          return false;
        }
        onTrouble(error);
        if (!isRetryableJob(error) || isConfigError(error)) {
          return false;
        }
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    return false;
  }

  /**
   * Drops the open jobs that have not gone on yet after the start, also while the archive is still being opened: each ends its message
   * when its turn comes.
   */
  dropResumed(): void {
    this.#dropsResumed = true;
  }

  /** Ends the work and lets go of the archive; a disk that hangs is left to itself after a while. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", diskFacts));
    const opening = this.#session;
    if (opening === undefined) {
      return;
    }
    const close = async (): Promise<void> => {
      // One that fails to open has nothing to close.
      const session = await opening.catch(() => undefined);
      await session?.runner.close();
      await session?.lease.release();
    };
    const closed = settledWithin(close(), closeTimeoutMs);
    if (await settledWithin(opening, openTimeoutMs)) {
      await closed;
    }
  }

  /**
   * Goes on with the jobs that are open, a few at a time: the next one when an earlier one waits for the first time or has
   * ended. Those that have not begun take no more than their place in the archive's list.
   */
  async #resumeAll(runner: JobRunner, concurrency: number): Promise<void> {
    const submissions = runner.resume(this.#options.isMine);
    const resumeNext = async (): Promise<void> => {
      for (const submission of submissions) {
        await this.#options.onResumed(submission);
        // Afterwards: a reset may have come while the message was being made.
        if (this.#dropsResumed) {
          submission.running?.drop();
        }
        await submission.running?.firstTry;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, resumeNext));
  }

  async #begin(): Promise<Session> {
    const { concurrency, store, onUnknown, onResumeError } = this.#options;
    const most = concurrency();
    const lease = await this.#archives.open(store());
    const runner = new JobRunner(lease.archive, { ...this.#options, concurrency: most });
    this.#runner = runner;
    onUnknown(lease.unknown);
    if (!this.#closing.signal.aborted) {
      this.#resumeAll(runner, most).catch(onResumeError);
    }
    return { lease, runner };
  }
}
