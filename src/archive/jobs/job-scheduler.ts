import { DueTimes } from "./due-times.ts";
import type { StepName } from "./job-moves.ts";
import { TaskQueue, type Task } from "./task-queue.ts";

/** A job as the scheduler sees it. */
interface Scheduled extends Task {
  readonly isFirstTry: boolean;
  /** Its pause is over. */
  wake(): void;
}

interface SchedulerRules {
  /** Jobs that download at once. */
  readonly concurrency: number;
  /** See PollRules. */
  readonly paceMs: number;
}

const listsAtOnce = 4;
/** Enough that jobs that wait for the disk or the database share its syncs, and few enough that thousands take no memory. */
const othersAtOnce = 16;

/**
 * Says when a job of one node does its next step. A job waits in one of two ways: for its turn in the queue of the step, or until the
 * time has come to look again. Neither keeps a function running, a connection or a lease.
 */
export class JobScheduler {
  readonly #pausing = new DueTimes<Scheduled>((running) => running.wake());
  readonly #queues: Readonly<Record<StepName, TaskQueue>>;

  constructor({ concurrency, paceMs }: SchedulerRules) {
    const seal = new TaskQueue(othersAtOnce);
    this.#queues = {
      prepare: new TaskQueue(othersAtOnce),
      // They do not wait behind videos, since a device keeps its pictures for a while only.
      device: new TaskQueue(concurrency),
      find: new TaskQueue(othersAtOnce),
      list: new TaskQueue(listsAtOnce, paceMs),
      download: new TaskQueue(concurrency),
      seal,
      keep: seal,
    };
  }

  /** Has the job do a step, now or when its turn has come; says whether it has begun. */
  enter(running: Scheduled, step: StepName): boolean {
    // A job that has never asked is not kept waiting by many others that ask again and again.
    return this.#queues[step].add(running, running.isFirstTry && step === "list");
  }

  /** Wakes the job after a pause. */
  wakeIn(running: Scheduled, ms: number): void {
    this.#pausing.set(running, performance.now() + ms);
  }

  /** The job waits for nothing any more. */
  leave(running: Scheduled, step: StepName): void {
    this.#pausing.delete(running);
    this.#queues[step].delete(running);
  }

  /** Resolves when the steps that are under way now are over. */
  async settled(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.settled()));
  }
}
