import { setMaxListeners } from "node:events";
import { DimensionerError, type ErrorCode } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { unlessAborted } from "../../media/disk.ts";
import type { MediaItem } from "../../model/shapes.ts";
import { diskFacts } from "../archive-disk.ts";
import type { NotFound } from "../find/transaction-finder.ts";
import type { JobStore } from "./job-store.ts";
import { isRetryableJob } from "./retryable-job.ts";
import type { OpenJob } from "./open-job.ts";
import { judge, missingFrom, type Collected } from "./completeness.ts";
import type { ExistingPackage } from "./existing.ts";
import { keysOfJob } from "./keys.ts";
import type { FindMissing } from "./media-source.ts";
import type { Archived, Judge } from "./sealing.ts";
import { placeOf } from "./slots.ts";
import { isUnchanged } from "./store-item.ts";

/** How a job is tried again. */
export interface RetryRules {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Brings a job's media into its work folder, and returns what judges them once the job takes no more. Throws; may be called again
 * then, and goes on with what is there.
 */
export type Collect = (running: RunningJob) => Promise<Judge>;

interface RunningJobOptions {
  readonly collect: Collect;
  readonly findMissing: FindMissing;
  readonly retry: RetryRules;
  readonly onChange: (running: RunningJob) => void;
  /** Told of a damaged package that the same job has already. */
  readonly onDamaged: (path: string) => void;
}

export type JobState = "trouble" | "waiting" | "working";

/** Codes of failures that say nothing about the media themselves. */
const notOfTheMedia: ReadonlySet<ErrorCode> = new Set([
  "ERR_FILE",
  "ERR_STORE",
  "ERR_NOT_FOUND",
  "ERR_CANCELLED",
]);

/** One job at work in this process: tried until it is archived, is stopped, or cannot succeed. */
export class RunningJob implements Collected {
  readonly job: OpenJob;
  readonly root: JobStore;
  /** Resolves when the job waits for the first time, or has ended. */
  readonly firstTry: Promise<void>;
  /** Ends in the package, or in the error that ends the job. */
  readonly ended: Promise<Archived>;
  hasEnded = false;
  isFirstTry = true;
  state: JobState = "working";
  /** What keeps it from going on right now. */
  trouble: DimensionerError | undefined;
  doneBytes = 0;
  totalBytes: number | null = null;
  listed: readonly MediaItem[] = [];
  quietMs = 0;
  /** The cloud's error where it does not know the transaction (yet). */
  unknown: DimensionerError | undefined;
  notFound: NotFound | undefined;
  existing: readonly ExistingPackage[] = [];
  readonly foreign = new Set<string>();
  readonly lost: string[] = [];
  readonly #how: RunningJobOptions;
  #waitingSinceMs = 0;
  #endFirstTry: () => void = () => undefined;
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;
  #failures = 0;
  #isUnwanted = false;
  #isChecked: boolean;

  constructor(root: JobStore, job: OpenJob, how: RunningJobOptions) {
    this.root = root;
    this.job = job;
    this.#how = how;
    this.#isChecked = !job.isResumed;
    setMaxListeners(0, this.#stop.signal);
    this.firstTry = new Promise((resolve) => {
      this.#endFirstTry = () => {
        this.isFirstTry = false;
        resolve();
      };
    });
    this.ended = this.#run();
    // Whoever waits for it hears of it; nobody has to.
    const end = (): void => {
      this.hasEnded = true;
      this.#endFirstTry();
      this.#how.onChange(this);
    };
    this.ended.then(end, end);
  }

  /** Aborts when the job is stopped; its reason is the error to end with. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends the work in this process; the job stays open. */
  stop(): void {
    this.#stop.abort(new DimensionerError("cancelledKept", diskFacts));
  }

  /** Ends the job where it is waiting; one that only looks whether to wait on ends when it would. */
  drop(): void {
    this.#isUnwanted = true;
    this.#endUnwanted();
  }

  #endUnwanted(): void {
    if (this.#isUnwanted && this.state !== "working") {
      this.#stop.abort(new DimensionerError("cancelledReset", diskFacts));
    }
  }

  /** Ends a pause early. */
  wake(): void {
    this.#wake?.();
  }

  /** A part has come: the wait for the others begins anew. */
  restartWait(): void {
    this.job.waitedMs = 0;
    this.#waitingSinceMs = performance.now();
    this.wake();
  }

  /** Waits between two looks; what is missing is waited for no longer than the job says. */
  async wait(ms: number, isMissing: boolean): Promise<void> {
    this.#waitingSinceMs = performance.now();
    try {
      await this.pause(ms);
    } finally {
      const waitedMs = Math.max(performance.now() - this.#waitingSinceMs, 1);
      this.quietMs += waitedMs;
      this.job.waitedMs += isMissing ? waitedMs : 0;
    }
  }

  /** Looks which packages there are for the job. Rejects with ERR_FILE or ERR_STORE. */
  async lookForPackages(): Promise<void> {
    const { job, root } = this;
    const { packages } = await root.sealing.find(keysOfJob(job), job.answer, this.#how.onDamaged);
    this.existing = packages;
  }

  /** Something has been achieved: what went wrong before is over. */
  resetFailures(): void {
    this.#failures = 0;
    this.trouble = undefined;
  }

  setState(state: JobState): void {
    if (this.state === state) {
      return;
    }
    this.state = state;
    this.#how.onChange(this);
    this.#endUnwanted();
  }

  setBytes(doneBytes: number, totalBytes: number | null): void {
    this.doneBytes = doneBytes;
    this.totalBytes = totalBytes;
    this.#how.onChange(this);
  }

  /** Waits; rejects when the job is stopped. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.#stop;
    this.#endFirstTry();
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(go, ms);
      function go(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", go);
        resolve();
      }
      this.#wake = go;
      signal.addEventListener("abort", go, { once: true });
    });
    this.#wake = undefined;
    signal.throwIfAborted();
  }

  async #run(): Promise<Archived> {
    // The caller has it in hand before anything can end. Two at a time would be in each other's way in the job's folder.
    await unlessAborted(Promise.resolve(this.job.earlier), { ...diskFacts, signal: this.signal });
    for (;;) {
      try {
        const archived = await this.#attempt();
        this.trouble = undefined;
        return archived;
      } catch (error) {
        if (this.signal.aborted) {
          throw this.signal.reason;
        }
        const leftMs = this.#leftMs();
        if (!isRetryableJob(error) || leftMs <= 0) {
          return await this.#keepOrFail(error);
        }
        this.trouble = error instanceof DimensionerError ? error : undefined;
        this.root.saveTimes(this.job);
        this.setState("trouble");
        this.#how.onChange(this);
        await this.pause(Math.min(this.#delayMs(), leftMs));
        this.setState("working");
      }
    }
  }

  async #attempt(): Promise<Archived> {
    const { root, job } = this;
    if (job.state === "accepted") {
      job.state = "collecting";
      // Not waited for: from `accepted` a job can be sealed as well.
      void root.jobs.collect(job.id).catch(() => undefined);
    } else {
      const before = await root.sealing.recover(job);
      if (before !== undefined) {
        return before;
      }
    }
    await this.#checkItems();
    await root.work.make(job.id);
    const judgeWhole = await this.#how.collect(this);
    this.setState("working");
    return await root.sealing.seal(job, judgeWhole, this.#how.onDamaged);
  }

  /** After a restart: only what still is what was stored counts as there. */
  async #checkItems(): Promise<void> {
    if (this.#isChecked) {
      return;
    }
    const { job, root } = this;
    for (const [slot, item] of job.items) {
      if (await isUnchanged(root, job.id, item)) {
        continue;
      }
      await root.jobs.removeItems(job.id, [slot]);
      job.items.delete(slot);
      if (placeOf(slot) !== null) {
        this.lost.push(item.path);
      }
    }
    this.#isChecked = true;
  }

  /** The job can't go on: what is there is kept, where that is wanted and possible. */
  async #keepOrFail(error: unknown): Promise<Archived> {
    const { job, root } = this;
    const canKeep =
      error instanceof DimensionerError && isRetryableJob(error) && !notOfTheMedia.has(error.code);
    if (!canKeep || job.intent.onIncomplete === "error" || job.items.size === 0) {
      throw error;
    }
    const judgeKept: Judge = (packages) => {
      const missing = missingFrom(this, this.#how.findMissing, packages);
      return judge(this, missing.length > 0 ? missing : [phrase("moreMedia")]);
    };
    return await root.sealing.seal(job, judgeKept, this.#how.onDamaged);
  }

  /** Until the job is given up. */
  #leftMs(): number {
    const { giveUpMs } = this.job.intent;
    return giveUpMs === 0 ? Number.POSITIVE_INFINITY : this.job.sinceMs + giveUpMs - performance.now();
  }

  /** Doubles with each failure in a row, with jitter, so that many jobs do not come back at the same moment. */
  #delayMs(): number {
    const { firstMs, longestMs } = this.#how.retry;
    const fullMs = Math.min(firstMs * 2 ** this.#failures, longestMs);
    this.#failures += 1;
    return fullMs * (0.5 + Math.random() / 2);
  }
}
