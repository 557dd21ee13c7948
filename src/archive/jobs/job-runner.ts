import { randomUUID } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { settledWithin } from "../../store/settled-within.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Archive } from "./archive.ts";
import { bringsAnswer } from "./addition.ts";
import { isSameWork, type Wanted } from "./begun-jobs.ts";
import type { Intent, IntentTexts } from "../packages/intent.ts";
import { expectedOf, isSatisfied } from "./demand.ts";
import { JobScheduler } from "./job-scheduler.ts";
import type { JobWork } from "./job-work.ts";
import { answerOf, isOtherAnswer, keysOfJob } from "./keys.ts";
import { MessageJobs, type Part } from "./message-jobs.ts";
import type { OpenJob } from "./open-job.ts";
import type { ExistingPackage } from "./existing.ts";
import { RunningJob } from "./running-job.ts";
import type { Archived } from "./sealing.ts";
import type { GivenMedium } from "./stage-media.ts";
import { Submission, type SubmissionOwner } from "./submission.ts";

/** How a node's jobs are done; what is optional has a default. */
export interface RunnerOptions
  extends Pick<JobWork, "cloud" | "device" | "findMissing">, Partial<Pick<JobWork, "retry" | "poll">> {
  /** Id of the node whose jobs these are. */
  readonly node: string;
  /** Jobs that download at once. */
  readonly concurrency: number;
  /** The folders that a message may name files in; none where not given. */
  readonly outputFolders?: () => Promise<readonly string[]>;
  /** Called whenever the state of a job changes, and with each piece that is downloaded. */
  readonly onChange?: (running: RunningJob) => void;
  /** Told what somebody should look at, though the job goes on. */
  readonly onWarning?: (warning: ArchiveWarning) => void;
}

/** Something about a package that is there already. */
export type ArchiveWarning =
  | { readonly warning: "damagedPackage"; readonly values: { readonly path: string } }
  | { readonly warning: "otherMeasurement"; readonly values: { readonly id: string } };

/** A disk that hangs must not hold up a deploy: Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 5_000;

/** Runs the jobs of one node in one archive, and hands out what became of them. */
export class JobRunner implements SubmissionOwner {
  readonly #archive: Archive;
  readonly #node: string;
  readonly #work: JobWork;
  readonly #scheduler: JobScheduler;
  readonly #onChange: (running: RunningJob) => void;
  readonly #onWarning: (warning: ArchiveWarning) => void;
  /** Those whose message is not out yet. */
  readonly #jobs = new Set<RunningJob>();
  readonly #messages: MessageJobs;
  /** Messages that are being accepted. */
  readonly #accepting = new Set<Promise<Submission>>();
  /** Ends messages that are being accepted. */
  readonly #closing = new AbortController();
  /** Ends messages whose jobs are kept. */
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

  /** The jobs at work, those that have ended and whose message is not out yet left out. */
  get jobs(): RunningJob[] {
    return [...this.#jobs].filter((running) => !running.hasEnded);
  }

  /**
   * Takes a job whose message brings no media. Resolves once it is in the database, or at once where the same job has been
   * done or is at work. Throws ERR_FILE, ERR_STORE or ERR_QUEUE_FULL; nothing was accepted then.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#submit(intent));
  }

  async #submit(intent: Intent): Promise<Submission> {
    const { begun } = this.#archive;
    const { transactionId } = intent;
    const wanted = { expected: expectedOf(intent), answer: answerOf(intent) };
    const keys = keysOfJob({ intent, transactionId, answer: wanted.answer });
    const [key] = keys;
    if (key === undefined) {
      return await this.#start(intent, await this.#begin(keys, intent, wanted, false));
    }
    const same = begun.find(key, wanted);
    if (same !== undefined) {
      return await this.#repeat(intent, await same);
    }
    const job = this.#begin(keys, intent, wanted, begun.hasOther(key, wanted.answer));
    const forget = begun.add(key, { ...wanted, job });
    try {
      const started = await job;
      if (started instanceof RunningJob) {
        started.end.whenCome(forget);
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

  /** The message properties that a job has kept. Rejects with ERR_STORE. */
  async kept(jobId: string): Promise<IntentTexts["keep"] | undefined> {
    return (await this.#archive.jobs.texts(jobId))?.keep;
  }

  /**
   * Takes over the open jobs that `isMine` says yes to, and goes on with each of them when it is asked for the next one. Sequences
   * go on at once: parts that still come have to find them.
   */
  *resume(isMine: (job: OpenJob) => boolean): Generator<Submission> {
    const { idle } = this.#archive.openJobs;
    const mine = [...idle.values()].filter(isMine);
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
   * Stops all work; what is open stays open in the database, for the next one. Where a disk hangs, the messages end all the same, and the
   * archive stays open until it has answered.
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
      this.#archive.openJobs.idle.set(running.job.id, running.job);
    }
    this.#jobs.clear();
  }

  async #start(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    return begun instanceof RunningJob ? this.#submission(begun, false) : this.#repeat(intent, begun);
  }

  /** The package or the job that there is for the same with all that is wanted, or a new job. */
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
    const idle = [...openJobs.idle.values()].filter((job) => key !== null && job.key === key);
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
      idle.set(job.id, job);
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    idle.delete(job.id);
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

  /** For the same job once more: the webhook's records of its transaction are handled by what there is. */
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
