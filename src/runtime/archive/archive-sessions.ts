import { setTimeout as sleep } from "node:timers/promises";
import type { ArchiveLease, Archives } from "../../archive/archives.ts";
import { isRetryableJob } from "../../archive/jobs/retryable-job.ts";
import { JobRunner, type RunnerOptions } from "../../archive/jobs/job-runner.ts";
import type { OpenJob } from "../../archive/journal/open-job.ts";
import type { RunningJob } from "../../archive/jobs/running-job.ts";
import type { Submission } from "../../archive/jobs/submission.ts";

interface Session {
  readonly lease: ArchiveLease;
  readonly runner: JobRunner;
}

interface SessionOptions extends Omit<RunnerOptions, "concurrency"> {
  /** Jobs that download at once; throws ERR_CONFIG where that is no number. */
  readonly concurrency: () => number;
  /** Which open jobs of an archive this node goes on with. */
  readonly isMine: (job: OpenJob) => boolean;
  /** Gets each of them. */
  readonly onResumed: (submission: Submission) => void;
  /** Told what keeps the open jobs from going on. */
  readonly onResumeError: (error: unknown) => void;
  /** Told when an archive is opened whose journal has damaged lines. */
  readonly onDamage: (lines: number) => void;
}

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
/** Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 10_000;
/** An archive that has not been opened by then is on a disk that hangs; nothing of it has to be brought to an end. */
const openTimeoutMs = 2_000;

/** The archives that one node works in: mostly one, more where its folder comes from the context and changes. */
export class ArchiveSessions {
  readonly #archives: Archives;
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #runners = new Set<JobRunner>();
  readonly #closing = new AbortController();
  readonly #resuming = new Set<{ isDropped: boolean }>();

  constructor(archives: Archives, options: SessionOptions) {
    this.#archives = archives;
    this.#options = options;
  }

  get jobs(): RunningJob[] {
    return [...this.#runners].flatMap((runner) => runner.jobs);
  }

  /** Opens an archive and goes on with what is open in it. Throws ERR_FILE or ERR_CONFIG. */
  async open(folder: string): Promise<JobRunner> {
    const before = this.#sessions.get(folder);
    if (before !== undefined) {
      return (await before).runner;
    }
    const opening = this.#begin(folder);
    this.#sessions.set(folder, opening);
    try {
      return (await opening).runner;
    } catch (error) {
      this.#sessions.delete(folder);
      throw error;
    }
  }

  /** The same after a start, when a share may not be mounted yet: tried until it works, which it returns, or cannot. */
  async openWhenThere(folder: string, onTrouble: (error: unknown) => void): Promise<boolean> {
    const { signal } = this.#closing;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        await this.open(folder);
        return true;
      } catch (error) {
        if (signal.aborted) {
          return false;
        }
        onTrouble(error);
        if (!isRetryableJob(error)) {
          return false;
        }
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    return false;
  }

  /** Drops the open jobs that have not gone on yet after the start: each ends its message when its turn comes. */
  dropResumed(): void {
    for (const resuming of this.#resuming) {
      resuming.isDropped = true;
    }
  }

  /** Ends the work and lets go of the archives; a disk that hangs is left to itself after a while. */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = [...this.#sessions.values()].map(async (opening) => {
      let isOpen = false;
      const closing = (async () => {
        // One that fails to open has nothing to close.
        const session = await opening.catch(() => undefined);
        isOpen = true;
        await session?.runner.close();
        await session?.lease.release();
      })();
      const isHung = async (): Promise<void> => {
        await sleep(openTimeoutMs, undefined, { ref: false });
        await (isOpen ? closing : undefined);
      };
      await Promise.race([closing, isHung()]);
    });
    await Promise.race([Promise.allSettled(closed), sleep(closeTimeoutMs, undefined, { ref: false })]);
  }

  /**
   * Goes on with the jobs that are open, a few at a time: the next one when an earlier one waits for the first time or has
   * ended. Those that have not begun take no more than their place in the archive's list.
   */
  async #resumeAll(runner: JobRunner, concurrency: number): Promise<void> {
    const submissions = runner.resume(this.#options.isMine);
    const resuming = { isDropped: false };
    const resumeNext = async (): Promise<void> => {
      for (const submission of submissions) {
        if (resuming.isDropped) {
          submission.running?.drop();
        }
        this.#options.onResumed(submission);
        await submission.running?.firstTry;
      }
    };
    this.#resuming.add(resuming);
    await Promise.all(Array.from({ length: concurrency }, resumeNext));
    this.#resuming.delete(resuming);
  }

  async #begin(folder: string): Promise<Session> {
    const concurrency = this.#options.concurrency();
    const lease = await this.#archives.open(folder);
    const runner = new JobRunner(lease.root, { ...this.#options, concurrency });
    this.#runners.add(runner);
    if (lease.root.damagedLines > 0) {
      this.#options.onDamage(lease.root.damagedLines);
    }
    if (!this.#closing.signal.aborted) {
      this.#resumeAll(runner, concurrency).catch(this.#options.onResumeError);
    }
    return { lease, runner };
  }
}
