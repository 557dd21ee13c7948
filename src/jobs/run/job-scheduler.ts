import { DueTimes } from "./due-times.ts";
import type { StepName } from "../steps/job-work.ts";
import { TaskQueue, type Task } from "./task-queue.ts";

/** The part of a job that the scheduler needs. */
interface Scheduled extends Task {
  readonly isFirstTry: boolean;
  /** Called when its pause is over. */
  wake(): void;
}

interface SchedulerRules {
  /** How many jobs may download at the same time. */
  readonly concurrency: number;
  /** See PollRules. */
  readonly paceMs: number;
}

const listsAtOnce = 4;
/**
 * Enough for jobs to share the syncs of the disk and the database, and few enough that thousands of jobs take little
 * memory.
 */
const othersAtOnce = 16;

/**
 * Decides when a job of one node does its next step. A job waits in one of two ways: for its turn in the queue of the
 * step, or for the time of its next round. Neither keeps a function running, a connection or a lease.
 */
export class JobScheduler {
  readonly #pausing = new DueTimes<Scheduled>((running) => running.wake());
  readonly #queues: Readonly<Record<StepName, TaskQueue>>;

  constructor({ concurrency, paceMs }: SchedulerRules) {
    const seal = new TaskQueue(othersAtOnce);
    this.#queues = {
      prepare: new TaskQueue(othersAtOnce),
      // Images do not wait behind videos, because a device keeps them for a limited time only.
      device: new TaskQueue(concurrency),
      find: new TaskQueue(othersAtOnce),
      list: new TaskQueue(listsAtOnce, paceMs),
      download: new TaskQueue(concurrency),
      seal,
      keep: seal,
    };
  }

  /** Lets the job do a step, now or in its turn; returns whether it has started. */
  enter(running: Scheduled, step: StepName): boolean {
    // A new job does not wait behind many others that ask again and again.
    return this.#queues[step].add(running, running.isFirstTry && step === "list");
  }

  /** Wakes the job after a pause. */
  wakeIn(running: Scheduled, ms: number): void {
    this.#pausing.set(running, performance.now() + ms);
  }

  /** Removes the job from all queues. */
  leave(running: Scheduled, step: StepName): void {
    this.#pausing.delete(running);
    this.#queues[step].delete(running);
  }

  /** Resolves when the running steps have ended. */
  async settled(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.settled()));
  }
}
