import { DimensionerError } from "../errors/dimensioner-error.ts";
import { settledWithin } from "../time/settled-within.ts";
import { diskFacts } from "../vault/archive-disk.ts";
import type { Archive } from "./run/archive.ts";
import { CollectingJobs } from "./accept/collecting-jobs.ts";
import type { Intent, IntentTexts } from "../vault/packages/intent.ts";
import { JobScheduler } from "./run/job-scheduler.ts";
import { JobTroubles } from "./steps/job-troubles.ts";
import type { JobWork } from "./steps/job-work.ts";
import { MessageJobs, type Part } from "./accept/message-jobs.ts";
import { isTaken } from "./table/is-taken.ts";
import type { OpenJob } from "./table/open-job.ts";
import type { ExistingPackage } from "./seal/existing-packages.ts";
import type { ArchiveWarning, RunnerOptions } from "./run/runner-options.ts";
import { RunningJob } from "./run/running-job.ts";
import type { GivenMedium } from "./accept/given-media.ts";
import { Submission, type SubmissionOwner } from "./accept/submission.ts";

/** A disk that hangs must not delay a deploy: Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 5_000;

/** Runs the jobs of one node in one archive, and returns their results. */
export class JobRunner implements SubmissionOwner {
  readonly #archive: Archive;
  readonly #work: JobWork;
  readonly #scheduler: JobScheduler;
  readonly #onChange: (running: RunningJob) => void;
  readonly #onWarning: (warning: ArchiveWarning) => void;
  /** The jobs whose message was not sent yet. */
  readonly #jobs = new Set<RunningJob>();
  readonly #messages: MessageJobs;
  readonly #collecting: CollectingJobs;
  /** Messages that are being accepted. */
  readonly #accepting = new Set<Promise<Submission>>();
  /** Aborts messages that are being accepted. */
  readonly #closing = new AbortController();
  /** Ends the messages of jobs that stay open. */
  readonly #stopping = new AbortController();

  constructor(archive: Archive, options: RunnerOptions) {
    const { node, concurrency, cloud, device, findMissing, onWarning = () => undefined } = options;
    this.#archive = archive;
    this.#onChange = options.onChange ?? (() => undefined);
    this.#onWarning = onWarning;
    this.#work = {
      cloud,
      device,
      findMissing,
      retry: options.retry ?? { firstMs: 1_000, longestMs: 60_000 },
      poll: options.poll ?? { firstMs: 500, longestMs: 30_000, paceMs: 200 },
      troubles: new JobTroubles(),
      onDamaged: (path) => onWarning({ warning: "damagedPackage", values: { path } }),
    };
    this.#scheduler = new JobScheduler({ concurrency, paceMs: this.#work.poll.paceMs });
    this.#messages = new MessageJobs(archive, {
      node,
      outputFolders: options.outputFolders ?? (async () => []),
      signal: this.#closing.signal,
      run: (job) => this.#run(job, {}),
      submission: (running) => this.#submission(running, false),
    });
    this.#collecting = new CollectingJobs(archive, {
      node,
      findMissing,
      onDamaged: this.#work.onDamaged,
      onWarning,
      signal: this.#closing.signal,
      repeatedUntil: this.#stopping.signal,
      run: (job, accepted) => this.#run(job, accepted),
      submission: (running) => this.#submission(running, false),
    });
  }

  /** The jobs whose message is not out yet; some may have ended. */
  get jobs(): Iterable<RunningJob> {
    return this.#jobs;
  }

  /**
   * Accepts a job whose message brings no media. Resolves when it is in the database, or at once if the same job is
   * done or running. Throws ERR_FILE, ERR_STORE or ERR_QUEUE_FULL; then nothing was accepted.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#collecting.submit(intent));
  }

  /**
   * Accepts the media of a message. Resolves when their bytes are on the disk; a part of a sequence joins the job of
   * its first part. Throws ERR_FILE or ERR_STORE, or ERR_INPUT for media that are not what the message says, or arrive
   * too late.
   */
  async submitMedia(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#messages.submit(intent, media, part));
  }

  /** Tracks a message that is being accepted, for which a close waits. */
  async #accept(submission: Promise<Submission>): Promise<Submission> {
    this.#accepting.add(submission);
    try {
      return await submission;
    } finally {
      this.#accepting.delete(submission);
    }
  }

  /** Reads the message properties that a job has kept. Rejects with ERR_STORE. */
  async kept(jobId: string): Promise<IntentTexts["keep"] | undefined> {
    return (await this.#archive.jobs.texts(jobId))?.keep;
  }

  /**
   * Takes over the open jobs for which `isMine` returns true, and resumes one with each request for the next. Sequences
   * are resumed at once, so that their next parts find them.
   */
  *resume(isMine: (job: OpenJob) => boolean): Generator<Submission> {
    const { idle } = this.#archive.openJobs;
    const mine = idle.all.filter(isMine);
    const sequences = mine.filter(({ intent }) => intent.sequence !== null).map((job) => this.#resume(job));
    yield* sequences;
    for (const job of mine) {
      if (idle.has(job.id) && !this.#closing.signal.aborted) {
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
    this.#collecting.resumed(running);
    return submission;
  }

  /**
   * Stops all work; open jobs stay open in the database for the next start. If a disk hangs, the messages end
   * nevertheless, and the archive stays open until the disk has answered.
   */
  async close(): Promise<void> {
    this.#closing.abort(new DimensionerError("cancelledClose", diskFacts));
    this.#stopping.abort(new DimensionerError("cancelledKept", diskFacts));
    this.#jobs.forEach((running) => running.stop());
    const settled = Promise.allSettled([this.#scheduler.settled(), ...this.#accepting]);
    this.#archive.track(settled);
    const isHung = !(await settledWithin(settled, closeTimeoutMs));
    for (const running of this.#jobs) {
      running.abandon();
      running.job.earlier = isHung ? settled : null;
      this.#archive.openJobs.idle.add(running.job);
    }
    this.#jobs.clear();
  }

  /** `accepted`: for a job that was just accepted, with the packages that were found for it. */
  #run(job: OpenJob, accepted?: { readonly packages?: readonly ExistingPackage[] }): RunningJob {
    const { idle } = this.#archive.openJobs;
    if (this.#closing.signal.aborted) {
      idle.add(job);
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    idle.delete(job);
    const running = new RunningJob(job, {
      root: this.#archive,
      work: this.#work,
      scheduler: this.#scheduler,
      onChange: this.#onChange,
      accepted,
    });
    this.#jobs.add(running);
    running.begin();
    return running;
  }

  #submission(running: RunningJob, isResumed: boolean): Submission {
    return new Submission(running, { isResumed, owner: this });
  }

  messageSent(running: RunningJob, error?: DimensionerError): void {
    if (this.#jobs.delete(running)) {
      void this.#end(running, error);
    }
  }

  async #end({ job }: RunningJob, error?: DimensionerError): Promise<void> {
    if (isTaken(error)) {
      this.#archive.leave(job);
      return;
    }
    const path = await this.#archive.end(job, error);
    // These errors say it themselves.
    const isSaid = error?.sentence === "partsIncomplete" || error?.sentence === "messageMediaIncomplete";
    if (path !== null && !isSaid) {
      this.#onWarning({ warning: "keptAside", values: { path } });
    }
  }

  #refuseIfClosed(): void {
    this.#closing.signal.throwIfAborted();
  }
}
