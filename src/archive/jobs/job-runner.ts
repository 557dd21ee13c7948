import { randomUUID } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { settledWithin } from "../../store/settled-within.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Archive } from "./archive.ts";
import { bringsAnswer } from "./addition.ts";
import { isSameWork, type Wanted } from "./active-jobs.ts";
import type { Intent, IntentTexts } from "../packages/intent.ts";
import { expectedOf, isSatisfied } from "./required-media.ts";
import { JobScheduler } from "./job-scheduler.ts";
import { JobTroubles } from "./job-troubles.ts";
import type { JobWork } from "./job-work.ts";
import { answerOf, isOtherAnswer, keysOfJob } from "./job-keys.ts";
import { MessageJobs, type Part } from "./message-jobs.ts";
import type { OpenJob } from "./open-job.ts";
import type { ExistingPackage } from "./existing-packages.ts";
import type { ArchiveWarning, RunnerOptions } from "./runner-options.ts";
import { RunningJob } from "./running-job.ts";
import type { Archived } from "./sealing.ts";
import type { GivenMedium } from "./stage-media.ts";
import { Submission, type SubmissionOwner } from "./submission.ts";

/** A disk that hangs must not delay a deploy: Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 5_000;

/** Runs the jobs of one node in one archive, and returns their results. */
export class JobRunner implements SubmissionOwner {
  readonly #archive: Archive;
  readonly #node: string;
  readonly #work: JobWork;
  readonly #scheduler: JobScheduler;
  readonly #onChange: (running: RunningJob) => void;
  readonly #onWarning: (warning: ArchiveWarning) => void;
  /** The jobs whose message was not sent yet. */
  readonly #jobs = new Set<RunningJob>();
  readonly #messages: MessageJobs;
  /** Messages that are being accepted. */
  readonly #accepting = new Set<Promise<Submission>>();
  /** Aborts messages that are being accepted. */
  readonly #closing = new AbortController();
  /** Ends the messages of jobs that stay open. */
  readonly #stopping = new AbortController();

  constructor(archive: Archive, options: RunnerOptions) {
    const { node, concurrency, cloud, device, findMissing, onWarning = () => undefined } = options;
    this.#archive = archive;
    this.#node = node;
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
    return await this.#accept(this.#submit(intent));
  }

  async #submit(intent: Intent): Promise<Submission> {
    const { active } = this.#archive;
    const { transactionId } = intent;
    const wanted = { expected: expectedOf(intent), answer: answerOf(intent) };
    const keys = keysOfJob({ intent, transactionId, answer: wanted.answer });
    const [key] = keys;
    if (key === undefined) {
      return await this.#start(intent, await this.#begin(keys, intent, wanted, false));
    }
    const same = active.find(key, wanted);
    if (same !== undefined) {
      return await this.#repeat(intent, await same);
    }
    const job = this.#begin(keys, intent, wanted, active.hasOther(key, wanted.answer));
    const forget = active.add(key, { ...wanted, job });
    try {
      const started = await job;
      if (started instanceof RunningJob) {
        started.end.whenSettled(forget);
      } else {
        forget();
      }
      return await this.#start(intent, started);
    } catch (error) {
      forget();
      throw error;
    }
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

  async #start(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    return begun instanceof RunningJob ? this.#submission(begun, false) : this.#repeat(intent, begun);
  }

  /**
   * Finds the existing package or running job for the same measurement with all required media, or creates a new job.
   */
  async #begin(
    keys: readonly string[],
    intent: Intent,
    wanted: Wanted,
    isOtherAtWork: boolean,
  ): Promise<Archived | RunningJob> {
    const { sealing, openJobs } = this.#archive;
    const { answer, expected } = wanted;
    const { packages, hasOther } = await sealing.find(keys, answer, this.#work.onDamaged);
    const [first] = packages;
    const manifests = packages.map(({ manifest }) => manifest);
    const isThere =
      isSatisfied(expected, manifests, this.#work.findMissing) && !bringsAnswer(answer, packages);
    if (first !== undefined && isThere) {
      return sealing.existing(first, packages, true);
    }
    const [key = null] = keys;
    const idle = key === null ? [] : openJobs.idle.ofKey(key);
    const same = idle.find((job) =>
      isSameWork({ expected: expectedOf(job.intent), answer: job.answer }, wanted),
    );
    if (same !== undefined) {
      return this.#run(same);
    }
    if (hasOther || isOtherAtWork || idle.some((job) => isOtherAnswer(answer, job.answer))) {
      const id = intent.transactionId ?? intent.measuredBy?.imageIdentifier ?? "";
      this.#onWarning({ warning: "otherMeasurement", values: { id } });
    }
    this.#refuseIfClosed();
    const given = { node: this.#node, key, intent, answer, items: new Map() };
    return this.#run(await this.#archive.accept(randomUUID(), given), { packages });
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

  /** Handles a repeated message: the webhook's records of its transaction count as handled. */
  async #repeat(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    const id = begun instanceof RunningJob ? begun.job.id : begun.manifest.job;
    if (intent.transactionId !== null) {
      await this.#archive.jobs.handled(intent.transactionId, { id, intent });
    }
    return new Submission(begun, { repeatedUntil: this.#stopping.signal });
  }

  #submission(running: RunningJob, isResumed: boolean): Submission {
    return new Submission(running, { isResumed, owner: this });
  }

  messageSent(running: RunningJob, error?: DimensionerError): void {
    if (this.#jobs.delete(running)) {
      this.#archive.end(running.job, error);
    }
  }

  #refuseIfClosed(): void {
    this.#closing.signal.throwIfAborted();
  }
}
