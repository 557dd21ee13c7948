import { randomUUID } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { settledWithin } from "../../store/settled-within.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Archive, Begun } from "./archive.ts";
import type { Intent } from "../packages/intent.ts";
import { collectCloud, type PollRules } from "./collect-cloud.ts";
import { collectMessages } from "./collect-messages.ts";
import { answerOf, cloudKey, isOtherAnswer, type Answer } from "./keys.ts";
import type { FindMissing, MediaSource } from "./media-source.ts";
import { MessageJobs, type Part } from "./message-jobs.ts";
import type { OpenJob } from "./open-job.ts";
import { RunningJob, type Collect, type RetryRules } from "./running-job.ts";
import type { Archived } from "./sealing.ts";
import { Semaphore } from "./semaphore.ts";
import type { GivenMedium } from "./stage-media.ts";
import { Submission } from "./submission.ts";

export interface RunnerOptions {
  /** Id of the node whose jobs these are. */
  readonly node: string;
  /** Jobs that download at once. */
  readonly concurrency: number;
  /** The cloud of a job; throws ERR_CONFIG while there is none. */
  readonly source: (job: OpenJob) => MediaSource;
  readonly findMissing: FindMissing;
  /** The folders that a message may name files in; none where not given. */
  readonly outputFolders?: () => Promise<readonly string[]>;
  readonly retry?: RetryRules;
  readonly poll?: PollRules;
  /** Called whenever the state of a job changes, and with each piece that is downloaded. */
  readonly onChange?: (running: RunningJob) => void;
  /** Told what somebody should look at, though the job goes on. */
  readonly onWarning?: (warning: ArchiveWarning) => void;
}

/** Something about a package that is there already. */
export type ArchiveWarning =
  | { readonly warning: "damagedPackage"; readonly values: { readonly path: string } }
  | { readonly warning: "otherMeasurement"; readonly values: { readonly id: string } };

const asksAtOnce = 4;
/** A disk that hangs must not hold up a deploy. */
const closeTimeoutMs = 8_000;

/** Runs the jobs of one node in one archive, and hands out what became of them. */
export class JobRunner {
  readonly #archive: Archive;
  readonly #options: Required<RunnerOptions>;
  readonly #asking = new Semaphore(asksAtOnce);
  readonly #downloading: Semaphore;
  /** Those whose message is not out yet. */
  readonly #jobs = new Set<RunningJob>();
  readonly #messages: MessageJobs;
  readonly #onDamaged = (path: string): void => {
    this.#options.onWarning({ warning: "damagedPackage", values: { path } });
  };
  /** Messages that are being accepted. */
  readonly #accepting = new Set<Promise<Submission>>();
  readonly #closing = new AbortController();

  constructor(archive: Archive, options: RunnerOptions) {
    this.#archive = archive;
    this.#options = {
      retry: { firstMs: 1_000, longestMs: 60_000 },
      poll: { firstMs: 500, longestMs: 30_000, paceMs: 200 },
      onChange: () => undefined,
      outputFolders: async () => [],
      onWarning: () => undefined,
      ...options,
    };
    this.#downloading = new Semaphore(options.concurrency);
    this.#messages = new MessageJobs(archive, {
      node: options.node,
      outputFolders: this.#options.outputFolders,
      signal: this.#closing.signal,
      run: (job) => this.#run(job),
      submission: (running) => this.#submission(running, false),
    });
  }

  /** The jobs at work, those that have ended and whose message is not out yet left out. */
  get jobs(): RunningJob[] {
    return [...this.#jobs].filter((running) => !running.hasEnded);
  }

  /**
   * Takes a job for a transaction of a cloud. Resolves once it is in the database, or at once where the same job has been
   * done or is at work. Throws ERR_FILE, ERR_STORE or ERR_QUEUE_FULL; nothing was accepted then.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#submit(intent));
  }

  async #submit(intent: Intent): Promise<Submission> {
    const { begun } = this.#archive;
    const key = cloudKey(intent.origin, intent.transactionId);
    const answer = answerOf(intent);
    const others = begun.get(key) ?? [];
    const same = others.find((one) => !isOtherAnswer(answer, one.answer));
    if (same !== undefined) {
      return await this.#repeat(intent, await same.job);
    }
    const own: Begun = { answer, job: this.#begin(key, intent, answer, others.length > 0) };
    begun.set(key, [...others, own]);
    const forget = (): void => {
      const left = begun.get(key)?.filter((one) => one !== own) ?? [];
      if (left.length > 0) {
        begun.set(key, left);
      } else {
        begun.delete(key);
      }
    };
    try {
      const started = await own.job;
      if (started instanceof RunningJob) {
        started.ended.then(forget, forget);
        return this.#submission(started, false);
      }
      forget();
      return await this.#repeat(intent, started);
    } catch (error) {
      forget();
      throw error;
    }
  }

  /**
   * Takes media that a message brings. Resolves once their bytes are on the disk; a part of a sequence joins the job
   * of its first part. Throws ERR_FILE or ERR_STORE, or ERR_INPUT for media that are not what the message says, or come too late.
   */
  async submitMedia(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#messages.submit(intent, media, part));
  }

  /** A close waits for it. */
  async #accept(submission: Promise<Submission>): Promise<Submission> {
    this.#accepting.add(submission);
    try {
      return await submission;
    } finally {
      this.#accepting.delete(submission);
    }
  }

  /**
   * Takes over the open jobs that `isMine` says yes to, and goes on with each of them when it is asked for the next one. Sequences
   * go on at once: parts that still come have to find them.
   */
  *resume(isMine: (job: OpenJob) => boolean): Generator<Submission> {
    const { idleJobs } = this.#archive;
    const mine = [...idleJobs.values()].filter(isMine);
    const sequences = mine.filter(({ intent }) => intent.sequence !== null).map((job) => this.#resume(job));
    yield* sequences;
    for (const job of mine) {
      if (idleJobs.has(job.id) && !this.#closing.signal.aborted) {
        yield this.#resume(job);
      }
    }
  }

  #resume(job: OpenJob): Submission {
    const running = this.#run(job);
    const submission = this.#submission(running, true);
    const { sequence } = job.intent;
    if (sequence !== null) {
      this.#messages.resume(sequence, running, submission);
    }
    return submission;
  }

  /** Stops all work; what is open stays open in the database, for the next one. */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", diskFacts));
    const ended = [...this.#jobs].map((running) => {
      running.stop();
      return running.ended;
    });
    await settledWithin(Promise.allSettled([...ended, ...this.#accepting]), closeTimeoutMs);
    for (const { job } of this.#jobs) {
      this.#archive.idleJobs.set(job.id, job);
    }
    this.#jobs.clear();
  }

  /** The package or the job that there is for a key and a measurement, or a new job. */
  async #begin(
    key: string,
    intent: Intent,
    answer: Answer,
    isOtherAtWork: boolean,
  ): Promise<Archived | RunningJob> {
    const { sealing, idleJobs } = this.#archive;
    const { archived, hasOther } = await sealing.find(key, answer, this.#onDamaged);
    if (archived !== undefined) {
      return archived;
    }
    const idle = [...idleJobs.values()].filter((job) => job.key === key);
    const same = idle.find((job) => !isOtherAnswer(answer, job.answer));
    if (same !== undefined) {
      return this.#run(same);
    }
    if (hasOther || isOtherAtWork || idle.length > 0) {
      this.#options.onWarning({ warning: "otherMeasurement", values: { id: intent.transactionId } });
    }
    const { node } = this.#options;
    const job = await this.#archive.accept(randomUUID(), { node, key, intent, answer, items: new Map() });
    return this.#run(job);
  }

  #run(job: OpenJob): RunningJob {
    const { retry, onChange } = this.#options;
    if (this.#closing.signal.aborted) {
      this.#archive.idleJobs.set(job.id, job);
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    this.#archive.idleJobs.delete(job.id);
    const running = new RunningJob(this.#archive, job, {
      collect: this.#collectOf(job),
      retry,
      onChange,
      onDamaged: this.#onDamaged,
    });
    this.#jobs.add(running);
    return running;
  }

  #collectOf(job: OpenJob): Collect {
    const { source, findMissing, poll } = this.#options;
    const { intent } = job;
    if (intent.source === "message") {
      const lastPartAt = this.#messages.lastPartAtOf(intent.sequence);
      return (running) => collectMessages(running, { findMissing, lastPartAt });
    }
    return (running) =>
      collectCloud(running, {
        source: source(job),
        key: job.key ?? cloudKey(intent.origin, intent.transactionId),
        poll,
        asking: this.#asking,
        downloading: this.#downloading,
      });
  }

  /** For the same job once more: the webhook's records of its transaction are handled by what there is. */
  async #repeat({ transactionId }: Intent, begun: Archived | RunningJob): Promise<Submission> {
    const id = begun instanceof RunningJob ? begun.job.id : begun.manifest.job;
    await this.#archive.jobs.handled(transactionId, id);
    return begun instanceof RunningJob
      ? new Submission({ ended: begun.ended, isRepeated: true, running: begun })
      : new Submission({ ended: Promise.resolve(begun), isRepeated: true });
  }

  #submission(running: RunningJob, isResumed: boolean): Submission {
    const onMessageSent = (error?: DimensionerError): void => {
      if (this.#jobs.delete(running)) {
        this.#archive.end(running.job, error);
      }
    };
    const kept = async () => (await this.#archive.jobs.texts(running.job.id))?.keep;
    return new Submission({
      ended: running.ended,
      isRepeated: false,
      running,
      isResumed,
      kept,
      onMessageSent,
    });
  }

  #refuseIfClosed(): void {
    this.#closing.signal.throwIfAborted();
  }
}
