import { randomUUID } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { diskFacts } from "../archive-disk.ts";
import type { ArchiveRoot } from "../archive-root.ts";
import type { Archived } from "../packages/packages.ts";
import { collectCloud, type PollRules } from "./collect-cloud.ts";
import { collectMessages } from "./collect-messages.ts";
import { answerOf, cloudKeys, isOtherAnswer } from "./keys.ts";
import type { FindMissing, MediaSource } from "./media-source.ts";
import type { OpenJob } from "../journal/open-job.ts";
import type { Intent } from "../packages/records.ts";
import { RunningJob, type Collect, type RetryRules } from "./running-job.ts";
import { Semaphore } from "./semaphore.ts";
import { Sequences, type Sequence } from "./sequences.ts";
import { stageMedia, type GivenMedium } from "./stage-media.ts";
import { Submission } from "./submission.ts";

export interface RunnerOptions {
  /** Id of the node whose jobs these are. */
  readonly node: string;
  /** Jobs that download at once. */
  readonly concurrency: number;
  /** The cloud of a job; throws ERR_CONFIG while there is none. */
  readonly source: (intent: Intent) => MediaSource;
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

/** Where the media of one message belong. */
export interface Part {
  readonly id: string;
  readonly index: number;
  /** How many parts there are, where this one says so. */
  readonly count: number | null;
}

const asksAtOnce = 4;
/** A disk that hangs must not hold up a deploy. */
const closeTimeoutMs = 8_000;

/** Runs the jobs of one node in one archive, and hands out what became of them. */
export class JobRunner {
  readonly #root: ArchiveRoot;
  readonly #options: Required<RunnerOptions>;
  readonly #asking = new Semaphore(asksAtOnce);
  readonly #downloading: Semaphore;
  /** Those whose message is not out yet. */
  readonly #jobs = new Set<RunningJob>();
  readonly #sequences = new Sequences();
  readonly #onDamaged = (path: string): void => {
    this.#options.onWarning({ warning: "damagedPackage", values: { path } });
  };
  #isClosed = false;

  constructor(root: ArchiveRoot, options: RunnerOptions) {
    this.#root = root;
    this.#options = {
      retry: { firstMs: 1_000, longestMs: 60_000 },
      poll: { firstMs: 500, longestMs: 30_000, paceMs: 200 },
      onChange: () => undefined,
      outputFolders: async () => [],
      onWarning: () => undefined,
      ...options,
    };
    this.#downloading = new Semaphore(options.concurrency);
  }

  /** The jobs at work, those that have ended and whose message is not out yet left out. */
  get jobs(): RunningJob[] {
    return [...this.#jobs].filter((running) => !running.hasEnded);
  }

  /**
   * Takes a job for a transaction of a cloud. Resolves once it is on the disk, or at once where the same job has been
   * done or is at work. Throws ERR_FILE; nothing was accepted then.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#refuseIfClosed();
    for (const key of cloudKeys(intent)) {
      const submission = await this.#submitAs(key, intent);
      if (submission !== undefined) {
        return submission;
      }
      this.#options.onWarning({ warning: "otherMeasurement", values: { id: intent.transactionId } });
    }
    // The last key has the measurement in it, so that no other one is found under it.
    throw new Error("two jobs with the same key and different measurements");
  }

  /** Undefined where the key is that of another measurement. */
  async #submitAs(key: string, intent: Intent): Promise<Submission | undefined> {
    const { runningByKey } = this.#root;
    const before = runningByKey.get(key);
    if (before !== undefined) {
      const begun = await before;
      return isSame(intent, begun) ? this.#repeat(begun) : undefined;
    }
    const starting = this.#begin(key, intent);
    runningByKey.set(key, starting);
    try {
      const begun = await starting;
      if (begun instanceof RunningJob) {
        const forget = (): void => void runningByKey.delete(key);
        begun.ended.then(forget, forget);
        return this.#submission(begun, false);
      }
      runningByKey.delete(key);
      return isSame(intent, begun) ? this.#repeat(begun) : undefined;
    } catch (error) {
      runningByKey.delete(key);
      throw error;
    }
  }

  /**
   * Takes media that a message brings. Resolves once their bytes are on the disk; a part of a sequence joins the job
   * of its first part. Throws ERR_FILE, or ERR_INPUT for media that are not what the message says.
   */
  async submitMedia(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    this.#refuseIfClosed();
    if (part === null) {
      const id = randomUUID();
      const running = await this.#acceptMedia(id, intent, media, { used: new Set(), slot: "0" });
      return this.#submission(running, false);
    }
    const before = this.#sequences.get(part.id);
    if (before !== undefined) {
      return await this.#join(before, media, part);
    }
    const first = { id: randomUUID(), slot: String(part.index), used: new Set<string>() };
    const running = this.#acceptMedia(first.id, intent, media, first);
    const sequence = this.#sequences.begin(part.id, { ...first, running });
    return this.#partSubmission(sequence, await sequence.running, part);
  }

  /**
   * Takes over the open jobs that `isMine` says yes to, and goes on with each of them when it is asked for the next one. Sequences
   * go on at once: parts that still come have to find them.
   */
  *resume(isMine: (job: OpenJob) => boolean): Generator<Submission> {
    const { idleJobs } = this.#root;
    const mine = [...idleJobs.values()].filter(isMine);
    const sequences = mine.filter(({ intent }) => intent.sequence !== null).map((job) => this.#resume(job));
    yield* sequences;
    for (const job of mine) {
      if (idleJobs.has(job.id) && !this.#isClosed) {
        yield this.#resume(job);
      }
    }
  }

  #resume(job: OpenJob): Submission {
    const running = this.#run(job);
    const submission = this.#submission(running, true);
    const { sequence } = job.intent;
    if (sequence !== null) {
      this.#sequences.resume(sequence, running, submission);
    }
    return submission;
  }

  /** Stops all work; what is open stays open in the journal, for the next one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = [...this.#jobs].map((running) => {
      running.stop();
      return running.ended.catch(() => undefined);
    });
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((done) => (timer = setTimeout(done, closeTimeoutMs)));
    await Promise.race([Promise.all(ended), patience]);
    clearTimeout(timer);
    for (const { job } of this.#jobs) {
      this.#root.idleJobs.set(job.id, job);
    }
    this.#jobs.clear();
  }

  /** The package, the running job or the open job that there is for a key, or a new job. */
  async #begin(key: string, intent: Intent): Promise<Begun> {
    const found = await this.#root.packages.find(key, this.#onDamaged);
    if (found !== undefined) {
      return found;
    }
    for (const job of this.#root.idleJobs.values()) {
      if (job.key === key) {
        return isOtherAnswer(answerOf(intent), answerOf(job.intent)) ? job : this.#run(job);
      }
    }
    const { node } = this.#options;
    const job = await this.#root.accept(randomUUID(), { node, key, intent, items: new Map() });
    return this.#run(job);
  }

  async #acceptMedia(
    id: string,
    intent: Intent,
    media: readonly GivenMedium[],
    place: { used: Set<string>; slot: string },
  ): Promise<RunningJob> {
    this.#root.checkRoom(intent);
    try {
      const { node, outputFolders } = this.#options;
      const items = await stageMedia(this.#root, id, media, { ...place, outputFolders });
      return this.#run(await this.#root.accept(id, { node, key: null, intent, items }));
    } catch (error) {
      await this.#root.work.remove(id);
      throw error;
    }
  }

  async #join(sequence: Sequence, media: readonly GivenMedium[], part: Part): Promise<Submission> {
    const { id, slots, used } = sequence;
    const { outputFolders } = this.#options;
    const slot = String(part.index);
    // The same part once more: nothing may be written where a package may be about to get its name.
    const isNew = !slots.has(slot);
    slots.add(slot);
    try {
      const running = await sequence.running;
      if (isNew) {
        const items = await stageMedia(this.#root, id, media, { used, slot, outputFolders });
        await Promise.all(
          [...items].map(([place, item]) => this.#root.addItem(running.job, place, item, true)),
        );
      }
      return this.#partSubmission(sequence, running, part);
    } catch (error) {
      if (isNew) {
        slots.delete(slot);
      }
      throw error;
    }
  }

  /** The part that came last speaks for all: the others end without a message of their own. */
  #partSubmission(sequence: Sequence, running: RunningJob, { count }: Part): Submission {
    if (count !== null) {
      this.#root.setCount(running.job, count);
    }
    if (sequence.last !== undefined) {
      sequence.last.sendsMessage = false;
    }
    sequence.last = this.#submission(running, false);
    sequence.lastPartAt = performance.now();
    running.wake();
    return sequence.last;
  }

  #run(job: OpenJob): RunningJob {
    const { retry, onChange } = this.#options;
    if (this.#isClosed) {
      this.#root.idleJobs.set(job.id, job);
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    this.#root.idleJobs.delete(job.id);
    const running = new RunningJob(this.#root, job, {
      collect: this.#collectOf(job),
      retry,
      onChange,
      onDamaged: this.#onDamaged,
    });
    this.#jobs.add(running);
    return running;
  }

  #collectOf({ intent, key }: OpenJob): Collect {
    const { source, findMissing, poll } = this.#options;
    if (intent.source === "message") {
      const startedAt = performance.now();
      const lastPartAt = (): number => this.#sequences.get(intent.sequence ?? "")?.lastPartAt ?? startedAt;
      return (running) => collectMessages(running, { findMissing, lastPartAt });
    }
    return (running) =>
      collectCloud(running, {
        source: source(intent),
        key: key ?? cloudKeys(intent)[0] ?? "",
        poll,
        asking: this.#asking,
        downloading: this.#downloading,
      });
  }

  /** For the same job once more. */
  #repeat(begun: Archived | RunningJob): Submission {
    return begun instanceof RunningJob
      ? new Submission({ ended: begun.ended, isRepeated: true, running: begun })
      : new Submission({ ended: Promise.resolve(begun), isRepeated: true });
  }

  #submission(running: RunningJob, isResumed: boolean): Submission {
    const onMessageSent = (): void => {
      if (!this.#jobs.delete(running)) {
        return;
      }
      this.#root.close(running.job);
    };
    return new Submission({ ended: running.ended, isRepeated: false, running, isResumed, onMessageSent });
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) {
      throw new DimensionerError("cancelledClose", diskFacts);
    }
  }
}

/** What there is for a key. An open job is one that nobody works on and that brings another measurement. */
type Begun = Archived | OpenJob | RunningJob;

/** Whether a job for the same transaction brings nothing that would be lost. */
function isSame(intent: Intent, begun: Begun): begun is Archived | RunningJob {
  if (begun instanceof RunningJob) {
    return !isOtherAnswer(answerOf(intent), answerOf(begun.job.intent));
  }
  if (!("manifest" in begun)) {
    return false;
  }
  const { measurement, raw } = begun.manifest;
  return !isOtherAnswer(answerOf(intent), {
    measurement: measurement?.sha256 ?? null,
    raw: raw?.sha256 ?? null,
  });
}
