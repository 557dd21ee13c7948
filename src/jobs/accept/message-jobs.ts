import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { Archive } from "../run/archive.ts";
import type { Intent, StoredItem } from "../../vault/packages/intent.ts";
import { answerOf, keysOfJob } from "../table/job-keys.ts";
import { isTaken } from "../table/is-taken.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { RunningJob } from "../run/running-job.ts";
import { positionOf } from "../table/item-slots.ts";
import { Sequences, type Sequence } from "./sequences.ts";
import { storeGivenMedia, type GivenMedium } from "./given-media.ts";
import type { Submission } from "./submission.ts";

/** The position of a message in its sequence. */
export interface Part {
  readonly id: string;
  readonly index: number;
  /** The number of parts, if this one states it. */
  readonly count: number | null;
}

interface MessageJobsOptions {
  readonly node: string;
  readonly outputFolders: () => Promise<readonly string[]>;
  /** Aborts when the node closes. */
  readonly signal: AbortSignal;
  readonly run: (job: OpenJob) => RunningJob;
  readonly submission: (running: RunningJob) => Submission;
}

/** Adds the media of messages to the jobs of one node; messages that are parts of a sequence share one job. */
export class MessageJobs {
  readonly #archive: Archive;
  readonly #options: MessageJobsOptions;
  readonly #sequences = new Sequences();

  constructor(archive: Archive, options: MessageJobsOptions) {
    this.#archive = archive;
    this.#options = options;
  }

  /** Resolves when the media are part of an accepted job. Throws like JobRunner.submitMedia. */
  async submit(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    const before = part === null ? undefined : this.#sequences.get(part.id);
    if (part === null || this.#sequences.isOfParcels(part.id, intent)) {
      before?.running.then((running) => this.#endDivided(before, running)).catch(() => undefined);
      const alone = { used: new Set<string>(), position: 0 };
      const running = await this.#accept(randomUUID(), { ...intent, sequence: null }, media, alone);
      return this.#options.submission(running);
    }
    if (before !== undefined) {
      return await this.#join(before, intent, media, part);
    }
    const first = { id: randomUUID(), parcel: intent, position: part.index, used: new Set<string>() };
    const running = this.#accept(first.id, intent, media, first);
    const sequence = this.#sequences.begin(part.id, { ...first, running });
    return this.#submissionOf(sequence, await sequence.running, part);
  }

  /** After a restart, later parts find the job of the earlier ones. */
  resume(sequence: string, running: RunningJob, submission: Submission): void {
    this.#sequences.resume(sequence, running, submission);
  }

  async #accept(
    id: string,
    intent: Intent,
    media: readonly GivenMedium[],
    part: { used: Set<string>; position: number },
  ): Promise<RunningJob> {
    this.#archive.openJobs.checkRoom(intent);
    const { node, outputFolders, signal, run } = this.#options;
    const { recording } = intent;
    let job: OpenJob;
    try {
      const given = { ...part, outputFolders, recording, signal };
      const items = await storeGivenMedia(this.#archive, id, media, given);
      // On a disk that hangs the message has ended long ago; its sender still has the media.
      signal.throwIfAborted();
      const answer = answerOf(intent);
      const [key = null] = keysOfJob({ intent, transactionId: intent.transactionId, answer });
      job = await this.#archive.intake.accept(id, { node, key, intent, answer, items });
    } catch (error) {
      await this.#archive.work.remove(id);
      throw error;
    }
    return run(job);
  }

  async #join(
    sequence: Sequence,
    { recording }: Intent,
    media: readonly GivenMedium[],
    part: Part,
  ): Promise<Submission> {
    const { id, positions, used } = sequence;
    const { outputFolders, signal } = this.#options;
    const position = String(part.index);
    // The same part brings nothing new when it is repeated, unless the disk has lost its media.
    let isNew = !positions.has(position);
    positions.add(position);
    try {
      const running = await this.#runningOf(sequence);
      if (!isNew) {
        // After a restart it is not known at once which media are lost.
        await running.checked;
        signal.throwIfAborted();
      }
      isNew ||= [...running.job.lost.keys()].some((slot) => positionOf(slot) === position);
      if (!isNew && running.hasEnded) {
        // The part before it carries the message, which is on its way.
        return this.#withoutMessage(running);
      }
      if (isNew) {
        const items = await storeGivenMedia(this.#archive, id, media, {
          used,
          position: part.index,
          outputFolders,
          recording,
          signal,
        });
        if (!(await this.#add(running.job, items))) {
          await this.#remove(id, items.values());
          throw new DimensionerError("partTooLate", diskFacts, { count: part.index + 1 });
        }
      }
      return this.#submissionOf(sequence, running, part);
    } catch (error) {
      if (isNew) {
        positions.delete(position);
      }
      throw error;
    }
  }

  /**
   * A close may end the job of the first part before this part is stored: then it contains only the first one's media.
   */
  async #runningOf(sequence: Sequence): Promise<RunningJob> {
    try {
      return await sequence.running;
    } catch (error) {
      throw isDimensionerError(error) && error.sentence === "cancelledKept"
        ? new DimensionerError("cancelledClose", diskFacts)
        : error;
    }
  }

  /** Adds media to a job; returns false if it accepts none any more, here or anywhere. */
  async #add(job: OpenJob, items: ReadonlyMap<string, StoredItem>): Promise<boolean> {
    try {
      return await this.#archive.intake.addItems(job, items);
    } catch (error) {
      if (isTaken(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Removes media that were not accepted; the message still has them. */
  async #remove(jobId: string, items: Iterable<StoredItem>): Promise<void> {
    const { disk, work } = this.#archive;
    for (const { path } of items) {
      await disk.unlink(join(work.of(jobId), path)).catch(() => undefined);
    }
  }

  #withoutMessage(running: RunningJob): Submission {
    const submission = this.#options.submission(running);
    submission.sendsMessage = false;
    return submission;
  }

  /** The last part carries the message of the job: the others end without one. */
  #submissionOf(sequence: Sequence, running: RunningJob, { count }: Part): Submission {
    if (sequence.last !== undefined) {
      sequence.last.sendsMessage = false;
    }
    sequence.last = this.#options.submission(running);
    if (sequence.isDivided) {
      this.#endDivided(sequence, running);
    } else if (count !== null) {
      this.#archive.setCount(running.job, count);
    }
    running.restartWait();
    return sequence.last;
  }

  /** The job waits for no more parts: how many of the others are of its parcel is not known. */
  #endDivided({ last, positions }: Sequence, running: RunningJob): void {
    this.#archive.setCount(running.job, positions.size);
    if (last !== undefined && positions.size === 1) {
      last.isOfSequence = false;
    }
    running.wake();
  }
}
