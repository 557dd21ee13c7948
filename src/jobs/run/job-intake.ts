import { join } from "node:path";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { StagedMedia } from "../../vault/place/staged-media.ts";
import type { Intent, StoredItem } from "../../vault/packages/intent.ts";
import type { JobEndings } from "../seal/job-endings.ts";
import type { WorkFolders } from "../seal/work-folders.ts";
import type { Answer } from "../table/job-keys.ts";
import type { JobTable } from "../table/job-table.ts";
import { beginCollecting, factsOf, type OpenJob } from "../table/open-job.ts";
import type { OpenJobs } from "../table/open-jobs.ts";
import type { MediaIntake } from "../steps/job-store.ts";

/** What a job is accepted with. */
interface NewJob {
  readonly node: string;
  readonly key: string | null;
  readonly intent: Intent;
  readonly answer: Answer;
  readonly items: Map<string, StoredItem>;
}

interface JobIntakeParts {
  readonly jobs: JobTable;
  readonly openJobs: OpenJobs;
  readonly work: WorkFolders;
  /** Null if no other worker can finish a job of this one without them. */
  readonly staged: StagedMedia | null;
  readonly endings: JobEndings;
  /** The ids of the open jobs that this process has, or still ends. */
  readonly present: Set<string>;
  /** Keeps the archive open until this work has settled. */
  readonly track: (work: Promise<unknown>) => void;
}

/** What an archive takes in: jobs, and their media. */
export class JobIntake implements MediaIntake {
  readonly #parts: JobIntakeParts;

  constructor(parts: JobIntakeParts) {
    this.#parts = parts;
  }

  /**
   * Accepts a job. Once this has resolved, the job is in the database and will be finished, whatever happens. Rejects
   * with ERR_QUEUE_FULL or ERR_STORE; then nothing was accepted.
   */
  async accept(id: string, given: NewJob): Promise<OpenJob> {
    const { intent } = given;
    const { openJobs, endings } = this.#parts;
    const textBytes = openJobs.checkRoom(intent);
    // Counted before it is written, so that simultaneous jobs are counted too.
    openJobs.add(textBytes);
    let acceptedAt: Date;
    try {
      await endings.removeWithdrawn();
      await this.#stageNew(id, given.items);
      acceptedAt = await this.#write(id, given);
    } catch (error) {
      openJobs.remove(textBytes);
      throw error;
    }
    return {
      id,
      ...given,
      intent: factsOf(intent),
      transactionId: intent.transactionId,
      textBytes,
      acceptedAt,
      sinceMs: performance.now(),
      isResumed: false,
      state: "accepted",
      count: null,
      unnoted: new Map(),
      lost: new Map(),
      waitedMs: 0,
      earlier: null,
      placed: null,
    };
  }

  async addItems(job: OpenJob, items: ReadonlyMap<string, StoredItem>): Promise<boolean> {
    await this.#stage(job.id, items);
    const isAdded = await this.#parts.jobs.addItems(job.id, items);
    if (isAdded) {
      beginCollecting(job);
      items.forEach((item, slot) => {
        job.items.set(slot, item);
        job.lost.delete(slot);
      });
    }
    return isAdded;
  }

  async fetchStaged(job: OpenJob, item: StoredItem): Promise<boolean> {
    const { staged, work } = this.#parts;
    if (staged === null || item.source === "cloud") {
      return false;
    }
    await work.make(job.id);
    return await staged.fetch(job.id, item, join(work.of(job.id), item.path));
  }

  async #write(id: string, given: NewJob): Promise<Date> {
    const { jobs, endings, present, track } = this.#parts;
    present.add(id);
    try {
      return await jobs.accept({ id, ...given });
    } catch (error) {
      // It may be in the database nevertheless.
      const { transactionId } = given.intent;
      track(endings.withdraw({ id, transactionId, items: given.items }).finally(() => present.delete(id)));
      throw error;
    }
  }

  async #stageNew(id: string, items: ReadonlyMap<string, StoredItem>): Promise<void> {
    const { endings, track } = this.#parts;
    try {
      await this.#stage(id, items);
    } catch (error) {
      track(endings.unstage(id, items));
      throw error;
    }
  }

  /** Media that are nowhere else have to be in the bucket before the database says that the job has them. */
  async #stage(job: string, items: ReadonlyMap<string, StoredItem>): Promise<void> {
    const { staged, work } = this.#parts;
    try {
      await staged?.store(job, work.of(job), items.values());
    } catch (error) {
      // What a close ends here is not accepted yet: its message has to be sent again.
      const isClosed = isDimensionerError(error) && error.sentence === "cancelledKept";
      throw isClosed ? new DimensionerError("cancelledClose", diskFacts) : error;
    }
  }
}
