import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import { CollectedMedia } from "../steps/collected-media.ts";
import type { ExistingPackage } from "../seal/existing-packages.ts";
import { JobEnd, JobPhase } from "./job-end.ts";
import { JobPause } from "./job-pause.ts";
import type { JobScheduler } from "./job-scheduler.ts";
import { afterFailure, steps } from "../steps/job-steps.ts";
import { JobStop } from "./job-stop.ts";
import type { JobStore } from "../steps/job-store.ts";
import type { JobWork, Move, Pause, StepJob, StepName } from "../steps/job-work.ts";
import { beginRound } from "../steps/collecting-round.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { Archived } from "../seal/job-results.ts";
import type { Task } from "./task-queue.ts";

export type RunningState = "trouble" | "waiting" | "working";

interface RunningJobParts {
  readonly root: JobStore;
  readonly work: JobWork;
  readonly scheduler: JobScheduler;
  /** Called whenever the state of the job changes, and with each piece that is downloaded. */
  readonly onChange: (running: RunningJob) => void;
  /** For a job that was just accepted: its packages, if they were searched for. */
  readonly accepted?: { readonly packages?: readonly ExistingPackage[] } | undefined;
}

/**
 * A job that this process works on until it is archived, is stopped, or cannot succeed. It does one step after the
 * other (job-steps.ts), each when the scheduler allows it. Between two steps it is only this record, because thousands
 * of jobs may wait.
 */
export class RunningJob implements StepJob, Task {
  readonly job: OpenJob;
  readonly root: JobStore;
  readonly seen: CollectedMedia;
  readonly end = new JobEnd();
  state: RunningState = "working";
  trouble: DimensionerError | undefined;
  doneBytes = 0;
  totalBytes: number | null = null;
  readonly isTakenOver: boolean;
  hasNews = false;
  failures = 0;
  readonly #work: JobWork;
  readonly #scheduler: JobScheduler;
  readonly #onChange: (running: RunningJob) => void;
  #step: StepName = "prepare";
  #isUnderWay = false;
  readonly #pause: JobPause;
  #isUnwanted = false;
  readonly #stop = new JobStop();
  /** Until it waits for the first time, or ends. */
  readonly #firstTry = new JobPhase();
  /** Until its media are checked. */
  readonly #unchecked = new JobPhase();

  constructor(job: OpenJob, { root, work, scheduler, onChange, accepted }: RunningJobParts) {
    this.job = job;
    this.root = root;
    this.#work = work;
    this.#scheduler = scheduler;
    this.#onChange = onChange;
    this.seen = new CollectedMedia(job, accepted?.packages);
    this.#pause = new JobPause(this.seen);
    this.isTakenOver = accepted === undefined;
    if (!job.isResumed) {
      this.#unchecked.end();
    }
  }

  /** Starts or resumes the job. Work of a closed node has to end first, because the two would interfere. */
  begin(): void {
    const { earlier } = this.job;
    if (earlier === null) {
      this.#enter("prepare");
    } else {
      void earlier.then(() => this.#enter("prepare"));
    }
  }

  get hasEnded(): boolean {
    return this.end.isSettled;
  }

  get isFirstTry(): boolean {
    return !this.#firstTry.hasEnded;
  }

  /** Resolves when the job waits for the first time, or has ended. */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise;
  }

  get isUnchecked(): boolean {
    return !this.#unchecked.hasEnded;
  }

  endCheck(): void {
    this.#unchecked.end();
  }

  /** Resolves when it is certain which of its media are as they were stored, or when the job has ended. */
  get checked(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.end.whenSettled(resolve));
    return Promise.race([this.#unchecked.promise, ended]);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Stops the work in this process; the job stays open. */
  stop(): void {
    this.#stopBy(new DimensionerError("cancelledKept", diskFacts));
  }

  /** The same without waiting for a step that a disk delays. */
  abandon(): void {
    this.stop();
    this.#endWith({ error: this.#stop.reason });
  }

  /** Ends a waiting job at once, and a running one when it would wait. */
  drop(): void {
    this.#isUnwanted = true;
    this.#endUnwanted();
  }

  /** Starts another round at once, or after the present one. */
  wake(): void {
    const { why } = this.#pause;
    this.hasNews = true;
    if (why === undefined) {
      return;
    }
    this.#pause.end();
    this.#scheduler.leave(this, this.#step);
    if (why === "failure") {
      this.#enter("prepare");
    } else {
      this.#goOn(() => beginRound(this, this.#work));
    }
  }

  /** Restarts the wait, because another part has arrived. */
  restartWait(): void {
    this.#pause.restart();
    this.wake();
  }

  resetFailures(): void {
    this.failures = 0;
    this.trouble = undefined;
  }

  setBytes(doneBytes: number, totalBytes: number | null): void {
    this.doneBytes = doneBytes;
    this.totalBytes = totalBytes;
    this.#onChange(this);
  }

  /** Does the step whose turn has come. */
  async run(): Promise<void> {
    this.#isUnderWay = true;
    this.#setState("working");
    const [step] = await Promise.allSettled([steps[this.#step](this, this.#work)]);
    this.#isUnderWay = false;
    this.#goOn(() => {
      if (step.status === "rejected") {
        throw step.reason;
      }
      return step.value;
    });
  }

  /** Does what follows from a step, or from its failure. */
  #goOn(decide: () => Move): void {
    if (this.hasEnded) {
      return;
    }
    try {
      this.#make(decide());
    } catch (error) {
      try {
        if (this.#stop.reason !== undefined) {
          throw this.#stop.reason;
        }
        this.#make(afterFailure(this, this.#work, this.#step, error));
      } catch (last) {
        this.#endWith({ error: last });
      }
    }
  }

  #make(move: Move): void {
    if ("archived" in move) {
      this.trouble = undefined;
      this.#endWith(move);
    } else if (this.#stop.reason !== undefined) {
      throw this.#stop.reason;
    } else if ("to" in move) {
      this.#enter(move.to);
    } else {
      this.#begin(move);
    }
  }

  #enter(step: StepName): void {
    if (this.hasEnded) {
      return;
    }
    this.#step = step;
    if (!this.#scheduler.enter(this, step) && step === "download") {
      this.#setState("waiting");
    }
  }

  #begin(pause: Pause): void {
    this.#stop.release();
    // The next round may have nothing to download.
    this.doneBytes = 0;
    this.totalBytes = null;
    this.#pause.begin(pause);
    this.#firstTry.end();
    this.root.noteWaiting(this.job);
    this.#scheduler.wakeIn(this, pause.againInMs);
    this.#setState(pause.why === "failure" ? "trouble" : "waiting");
  }

  endWait(): void {
    this.seen.stopWatching();
    this.#pause.save(this.root);
  }

  #setState(state: RunningState): void {
    if (this.state !== state) {
      this.state = state;
      this.#onChange(this);
      this.#endUnwanted();
    }
  }

  #endUnwanted(): void {
    if (this.#isUnwanted && this.state !== "working") {
      this.#stopBy(new DimensionerError("cancelledReset", diskFacts));
    }
  }

  #stopBy(reason: DimensionerError): void {
    this.#stop.stop(reason);
    if (!this.#isUnderWay) {
      this.#endWith({ error: this.#stop.reason });
    }
  }

  #endWith(result: { readonly archived: Archived } | { readonly error: unknown }): void {
    if (this.hasEnded) {
      return;
    }
    this.#pause.end();
    this.#scheduler.leave(this, this.#step);
    this.endWait();
    this.#stop.release();
    this.#firstTry.end();
    this.end.end(result);
    this.#onChange(this);
  }
}
