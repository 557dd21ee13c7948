import { setTimeout as sleep } from "node:timers/promises";
import type { OpeningFindings, ArchiveUse, Archives } from "../../jobs/archive.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { isRetryableJob } from "../../jobs/collect.ts";
import type { RunningJob } from "../../jobs/job.ts";
import { JobRunner, type RunnerOptions, type Submission } from "../../jobs/runner.ts";
import type { IntentTexts } from "../../vault/packages/intent.ts";
import type { OpenJob } from "../../jobs/job-rows.ts";
import { settledWithin } from "../../time/after-limit.ts";
import type { Store } from "../../vault/store.ts";
import { leaseSeconds } from "../../database/worker-lease.ts";

interface Session {
  readonly use: ArchiveUse;
  readonly runner: JobRunner;
}

interface SessionOptions extends Omit<RunnerOptions, "concurrency"> {
  /** How many jobs may download at the same time; throws ERR_CONFIG if that is not valid. */
  readonly concurrency: () => number;
  /** Returns the store; throws ERR_CONFIG if there is none. */
  readonly store: () => Store;
  /** Whether this node is to resume an open job. */
  readonly isMine: (job: OpenJob) => boolean;
  /** Called with each resumed job; rejects with ERR_STORE. */
  readonly onResumed: (submission: Submission) => Promise<void>;
  /** Called with the error that prevents the open jobs from being resumed. */
  readonly onResumeError: (error: unknown) => void;
  /** Called with what needs attention in the archive that was opened. */
  readonly onFindings: (findings: OpeningFindings) => void;
  /** Called with the error that keeps packages from being delivered after the opening, and with undefined when it is over. */
  readonly onAway: (error: unknown) => void;
}

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
const takeOverEveryMs = 5_000;
/** Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 10_000;
/** If the archive was not opened by then, its disk hangs; it has nothing to finish. */
const openTimeoutMs = 2_000;

/** Not tried again: to correct a config node it has to be deployed, and this node with it. */
function isConfigError(error: unknown): boolean {
  return isDimensionerError(error) && error.code === "ERR_CONFIG";
}

/** The use of an archive by one node, from its first message or the start to the node's close. */
export class ArchiveSession {
  readonly #archives: Archives;
  readonly #options: SessionOptions;
  readonly #closing = new AbortController();
  /** How many times jobs that are not resumed yet were to be dropped. */
  #drops = 0;
  #session: Promise<Session> | undefined;
  #runner: JobRunner | undefined;

  constructor(archives: Archives, options: SessionOptions) {
    this.#archives = archives;
    this.#options = options;
  }

  /** The jobs whose message is not out yet; some may have ended. */
  get jobs(): Iterable<RunningJob> {
    return this.#runner?.jobs ?? [];
  }

  /** Reads the message properties that a job has kept. */
  async textsOf(jobId: string): Promise<IntentTexts["keep"]> {
    return (await this.#runner?.kept(jobId).catch(() => undefined)) ?? {};
  }

  /** Opens the archive and resumes its open jobs. Throws ERR_FILE, ERR_STORE or ERR_CONFIG. */
  async open(): Promise<JobRunner> {
    this.#closing.signal.throwIfAborted();
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
    // A message that has waited for the archive has ended with the close.
    this.#closing.signal.throwIfAborted();
    return session.runner;
  }

  /**
   * The same after a start, when a share may not be mounted yet: it is tried again until it succeeds, or until it
   * cannot succeed.
   */
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
   * Drops the open jobs that are not resumed yet, also while the archive is still being opened: each of them ends its
   * message in its turn.
   */
  dropResumed(): void {
    this.#drops += 1;
  }

  /** After a deploy: resumes the jobs of nodes that are gone since the archive was opened, if it is open. */
  resumeAgain(): void {
    const { concurrency, onResumeError } = this.#options;
    if (this.#runner !== undefined && !this.#closing.signal.aborted) {
      this.#resumeAll(this.#runner, concurrency(), this.#drops).catch(onResumeError);
    }
  }

  /** Ends all work and releases the archive; a disk that hangs is no longer waited for after a while. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", diskFacts));
    const opening = this.#session;
    if (opening === undefined) {
      return;
    }
    const close = async (): Promise<void> => {
      // An archive that could not be opened need not be closed.
      const session = await opening.catch(() => undefined);
      await session?.runner.close();
      await session?.use.release();
    };
    const closed = settledWithin(close(), closeTimeoutMs);
    if (await settledWithin(opening, openTimeoutMs)) {
      await closed;
    }
  }

  /**
   * Resumes the open jobs a few at a time: the next one when an earlier one waits for the first time or has ended. Jobs
   * that are not resumed yet only take their place in the archive's list. `drops`: how many there were before these
   * jobs.
   */
  async #resumeAll(runner: JobRunner, concurrency: number, drops: number): Promise<void> {
    const submissions = runner.resume(this.#options.isMine);
    const resumeNext = async (): Promise<void> => {
      for (const submission of submissions) {
        await this.#sendOn(submission);
        // Checked afterwards, because a reset may have come while the message was being made.
        if (this.#drops > drops) {
          submission.running?.drop();
        }
        await submission.running?.firstTry;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, resumeNext));
  }

  /** A job whose message is not made would stay open, and so would all that are resumed after it. */
  async #sendOn(submission: Submission): Promise<void> {
    const { onResumed, onResumeError } = this.#options;
    const { signal } = this.#closing;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        await onResumed(submission);
        return;
      } catch (error) {
        onResumeError(error);
        if (!isRetryableJob(error)) {
          return;
        }
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #begin(): Promise<Session> {
    const { concurrency, store, onFindings, onResumeError } = this.#options;
    const most = concurrency();
    const use = await this.#archives.open(store());
    const runner = new JobRunner(use.archive, { ...this.#options, concurrency: most });
    this.#runner = runner;
    onFindings(use.findings);
    void use.later?.then((findings) => this.#closing.signal.aborted || onFindings(findings));
    if (!this.#closing.signal.aborted) {
      this.#resumeAll(runner, most, 0).catch(onResumeError);
      if (use.archive.mayBeAway) {
        void this.#untilThere({ use, runner });
      }
      if (!use.archive.isAlone) {
        void this.#takeOver({ use, runner }, most);
      }
    }
    return { use, runner };
  }

  /** Waits until packages can be delivered, and then tells the jobs that wait for it. */
  async #untilThere({ use: { archive }, runner }: Session): Promise<void> {
    const { onAway } = this.#options;
    const { signal } = this.#closing;
    let wasAway = false;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        await archive.demandPackages();
        break;
      } catch (error) {
        wasAway = true;
        if (!signal.aborted) {
          onAway(error);
        }
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    if (wasAway && !signal.aborted) {
      onAway(undefined);
      for (const running of runner.jobs) {
        running.retry();
      }
    }
  }

  /** Takes over the jobs of other workers that have stopped, until the node closes. */
  async #takeOver({ use: { archive }, runner }: Session, concurrency: number): Promise<void> {
    const { node, isMine, onFindings } = this.#options;
    const { signal } = this.#closing;
    for (let pauseMs = 0; !signal.aborted;) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        const { damagedJobs, elsewhere, mayHaveMore } = await archive.takeOver({ node, isMine });
        const unknownMedia = archive.takeUnknownMedia();
        if (damagedJobs.length > 0 || elsewhere.length > 0 || unknownMedia !== null) {
          onFindings({ movedAside: [], damagedJobs, unknownMedia, elsewhere });
        }
        await this.#resumeAll(runner, concurrency, this.#drops);
        pauseMs = mayHaveMore ? 0 : takeOverEveryMs;
      } catch {
        // The others could not renew their leases either, and do so first.
        pauseMs = leaseSeconds * 1000;
      }
    }
  }
}
