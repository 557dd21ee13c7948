import { randomUUID } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { settledWithin } from "../../store/settled-within.ts";
import { diskFacts } from "../archive-disk.ts";
import type { Archive, Begun } from "./archive.ts";
import type { Intent, IntentFacts, IntentTexts } from "../packages/intent.ts";
import { collect, type PollRules } from "./collect.ts";
import { expectedOf, includesAll, isSatisfied } from "./demand.ts";
import { answerOf, isOtherAnswer, keysOfJob, type Answer } from "./keys.ts";
import type { DeviceSource, FindMissing, MediaSource } from "./media-source.ts";
import { MessageJobs, type Part } from "./message-jobs.ts";
import type { OpenJob } from "./open-job.ts";
import { RunningJob, type RetryRules } from "./running-job.ts";
import { bringsAnswer, type Archived } from "./sealing.ts";
import { Semaphore } from "./semaphore.ts";
import type { GivenMedium } from "./stage-media.ts";
import { Submission } from "./submission.ts";

export interface RunnerOptions {
  /** Id of the node whose jobs these are. */
  readonly node: string;
  /** Jobs that download at once. */
  readonly concurrency: number;
  /** The cloud of a job; throws ERR_CONFIG while there is none. */
  readonly cloud: (job: OpenJob) => MediaSource;
  /** The device that measured; throws ERR_CONFIG while it is not deployed. */
  readonly device: (job: OpenJob) => DeviceSource;
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
  readonly #picturing: Semaphore;
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
    this.#picturing = new Semaphore(options.concurrency);
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
   * Takes a job whose message brings no media. Resolves once it is in the database, or at once where the same job has been
   * done or is at work. Throws ERR_FILE, ERR_STORE or ERR_QUEUE_FULL; nothing was accepted then.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#refuseIfClosed();
    return await this.#accept(this.#submit(intent));
  }

  async #submit(intent: Intent): Promise<Submission> {
    const { begun } = this.#archive;
    const answer = answerOf(intent);
    const { transactionId } = intent;
    const keys = keysOfJob({ intent, transactionId, answer });
    const [key] = keys;
    if (key === undefined) {
      return await this.#start(intent, await this.#begin(keys, intent, answer, false));
    }
    const others = begun.get(key) ?? [];
    const same = others.find((one) => isSameWork(one, { intent, answer }));
    if (same !== undefined) {
      return await this.#repeat(intent, await same.job);
    }
    const isOtherAtWork = others.some((one) => isOtherAnswer(answer, one.answer));
    const own: Begun = { intent, answer, job: this.#begin(keys, intent, answer, isOtherAtWork) };
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
    const settled = Promise.allSettled([...ended, ...this.#accepting]);
    this.#archive.track(settled);
    const isHung = !(await settledWithin(settled, closeTimeoutMs));
    for (const { job } of this.#jobs) {
      job.earlier = isHung ? settled : null;
      this.#archive.idleJobs.set(job.id, job);
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
    answer: Answer,
    isOtherAtWork: boolean,
  ): Promise<Archived | RunningJob> {
    const { sealing, idleJobs } = this.#archive;
    const { node, findMissing } = this.#options;
    const { packages, hasOther } = await sealing.find(keys, answer, this.#onDamaged);
    const [first] = packages;
    const manifests = packages.map(({ manifest }) => manifest);
    const isThere =
      isSatisfied(expectedOf(intent), manifests, findMissing) && !bringsAnswer(answer, packages);
    if (first !== undefined && isThere) {
      return sealing.existing(first, packages, true);
    }
    const [key = null] = keys;
    const idle = [...idleJobs.values()].filter((job) => key !== null && job.key === key);
    const same = idle.find((job) => isSameWork(job, { intent, answer }));
    if (same !== undefined) {
      return this.#run(same);
    }
    if (hasOther || isOtherAtWork || idle.some((job) => isOtherAnswer(answer, job.answer))) {
      const id = intent.transactionId ?? intent.measuredBy?.imageIdentifier ?? "";
      this.#options.onWarning({ warning: "otherMeasurement", values: { id } });
    }
    this.#refuseIfClosed();
    const job = await this.#archive.accept(randomUUID(), { node, key, intent, answer, items: new Map() });
    return this.#run(job);
  }

  #run(job: OpenJob): RunningJob {
    const { retry, onChange, cloud, device, findMissing, poll } = this.#options;
    if (this.#closing.signal.aborted) {
      this.#archive.idleJobs.set(job.id, job);
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    this.#archive.idleJobs.delete(job.id);
    const work = {
      cloud: () => cloud(job),
      device: () => device(job),
      findMissing,
      poll,
      asking: this.#asking,
      downloading: this.#downloading,
      picturing: this.#picturing,
    };
    const running = new RunningJob(this.#archive, job, {
      collect: (one) => collect(one, work),
      findMissing,
      retry,
      onChange,
      onDamaged: this.#onDamaged,
    });
    this.#jobs.add(running);
    return running;
  }

  /** For the same job once more: the webhook's records of its transaction are handled by what there is. */
  async #repeat({ transactionId }: Intent, begun: Archived | RunningJob): Promise<Submission> {
    const id = begun instanceof RunningJob ? begun.job.id : begun.manifest.job;
    if (transactionId !== null) {
      await this.#archive.jobs.handled(transactionId, id);
    }
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
    const kept = () => this.kept(running.job.id);
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

interface Work {
  readonly intent: IntentFacts;
  readonly answer: Answer;
}

/** Whether a job that is at work does also what another one wants. */
function isSameWork(atWork: Work, wanted: Work): boolean {
  return (
    !isOtherAnswer(wanted.answer, atWork.answer) &&
    (wanted.answer.raw === null || wanted.answer.raw === atWork.answer.raw) &&
    includesAll(expectedOf(atWork.intent), expectedOf(wanted.intent))
  );
}
