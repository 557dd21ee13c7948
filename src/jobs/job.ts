/** The work on one job: it collects media and seals a package, pauses and tries again, until it is archived or cannot succeed. */
import { diskFacts } from "../vault/archive-disk.ts";
import { asksCloud } from "../vault/packages/intent.ts";
import type { FoundPackage } from "../vault/vault.ts";
import { DimensionerError, isDimensionerError, type ErrorCode } from "../errors/dimensioner-error.ts";
import { phrase, type Problem } from "../errors/interpolation.ts";
import {
  checkItems,
  collectDevice,
  downloadMedia,
  findPackages,
  findStaged,
  findTransaction,
  findUnnoted,
  isOfPackages,
  isToCollect,
  isRetryableJob,
  isToDownload,
  listMedia,
  noteStored,
  noteStoredBefore,
  noteWaiting,
  removeStrays,
  stagePinned,
  type CollectingJob,
  type DeviceSource,
  type JobStore,
  type MediaSource,
} from "./collect.ts";
import {
  canGrow,
  CollectedMedia,
  isWhole,
  judge,
  leftToSettleMs,
  missingFrom,
  type FindMissing,
} from "./completeness.ts";
import { hasContent, searchOf, type OpenJob } from "./job-rows.ts";
import type { Archived } from "./seal.ts";
import { Semaphore, type Waiting } from "./semaphore.ts";

/** Everything that a process knows of a job whose message was not sent yet. What has to survive is in the database. */
export interface Job extends OpenJob {
  /** False before the database has it, and once its message was sent. */
  isOpen: boolean;
  /** By what a further message finds it: its sequence, or the key that it was accepted with; null if no message can join it. */
  readonly foundBy: string | null;
  /** The work on it; null while no node has it. */
  running: RunningJob | null;
  /** Work of a closed node that a hanging disk delays; null if there is none. */
  earlier: Promise<unknown> | null;
  /** Its removal, if its message has ended in an error although the database may have accepted it; null otherwise. */
  withdrawal: Withdrawal | null;
}

/** The removal of a job that may have been accepted. */
export interface Withdrawal {
  /** Whether it is certain that no worker has it. */
  isGone: boolean;
  /** The present attempt. */
  removing: Promise<boolean> | null;
}

/** What a job knows of the messages that are its parts. */
export interface Sequence {
  /** What identifies their parcel, the surest first; null for what they do not say. */
  readonly parcel: readonly (string | null)[];
  /** The positions whose media are stored or being stored. */
  readonly positions: Set<string>;
  /** The names of files that are used. */
  readonly used: Set<string>;
  /** The message of the last part, which goes on as that of the job. */
  last: { sendsMessage: boolean; isOfSequence: boolean } | undefined;
  /** Whether a message of another parcel has the same ID too: then nothing is added any more. */
  isDivided: boolean;
}

/** What the jobs of one node share: whom they ask, how long they pause, and how many of them do the same work at a time. */
export class JobNode {
  /** Returns the cloud of a job; throws ERR_CONFIG if there is none. */
  readonly cloud: (job: OpenJob) => MediaSource;
  /** Returns the device that measured; throws ERR_CONFIG if it is not deployed. */
  readonly device: (job: OpenJob) => DeviceSource;
  readonly findMissing: FindMissing;
  /** The pauses after failures: twice as long each time. */
  readonly retry: { readonly firstMs: number; readonly longestMs: number };
  /**
   * The pauses between the rounds of a job that waits for media. `paceMs`: for how long each further list takes its place at least, so that
   * many waiting jobs do not flood a fast cloud.
   */
  readonly poll: { readonly firstMs: number; readonly longestMs: number; readonly paceMs: number };
  /** Called with a damaged package of the same job. */
  readonly onDamaged: (path: string) => void;
  /** Called when the state of a job changes, and with each chunk that is downloaded. */
  readonly onChange: (running: RunningJob) => void;
  readonly preparing = new Semaphore(othersAtOnce);
  /** Images do not wait behind videos of the cloud, because a device keeps them for a limited time only. */
  readonly collecting: Semaphore;
  readonly finding = new Semaphore(othersAtOnce);
  readonly listing: Semaphore;
  readonly downloading: Semaphore;
  readonly sealing = new Semaphore(othersAtOnce);
  /** The errors that hold up its jobs, by what they say. */
  readonly #troubles = new Map<string, DimensionerError>();

  constructor(
    options: Pick<JobNode, "cloud" | "device" | "findMissing" | "onDamaged" | "onChange"> &
      Partial<Pick<JobNode, "retry" | "poll">> & {
        /** How many jobs may download at the same time. */
        readonly concurrency: number;
      },
  ) {
    const { concurrency } = options;
    this.cloud = options.cloud;
    this.device = options.device;
    this.findMissing = options.findMissing;
    this.onDamaged = options.onDamaged;
    this.onChange = options.onChange;
    this.retry = options.retry ?? { firstMs: 1_000, longestMs: 60_000 };
    this.poll = options.poll ?? { firstMs: 500, longestMs: 30_000, paceMs: 200 };
    this.collecting = new Semaphore(concurrency);
    this.downloading = new Semaphore(concurrency);
    this.listing = new Semaphore(listsAtOnce, this.poll.paceMs);
  }

  /**
   * Returns the error that was given first of those that say the same. Where a cloud is off, thousands of jobs have the same error, and
   * with its stack it would take more memory than its job.
   */
  sharedTrouble(error: DimensionerError): DimensionerError {
    const text = `${error.textKey} ${error.message}`;
    const before = this.#troubles.get(text);
    if (before !== undefined) {
      return before;
    }
    if (this.#troubles.size >= mostTroubles) {
      this.#troubles.clear();
    }
    this.#troubles.set(text, error);
    return error;
  }
}

const listsAtOnce = 4;
/** Enough for jobs to share the syncs of the disk and the database, and few enough that thousands of jobs take little memory. */
const othersAtOnce = 16;
/** Different errors beyond this number take little memory compared with what they hold up. */
const mostTroubles = 100;
/** By how much a timer may be late. */
const lateMs = 1_000;

export type RunningState = "trouble" | "waiting" | "working";

/**
 * A job that this process works on until it is archived, is stopped, or cannot succeed. `#run` is the whole way of it; while it waits,
 * it is that suspended function and this record, because thousands of jobs may wait.
 */
export class RunningJob implements CollectingJob, Waiting {
  readonly job: Job;
  readonly store: JobStore;
  readonly node: JobNode;
  readonly seen: CollectedMedia;
  /** The parts that its messages are; null if they are none. */
  sequence: Sequence | null = null;
  state: RunningState = "working";
  /** The error that holds it up at the moment. */
  trouble: DimensionerError | undefined;
  doneBytes = 0;
  totalBytes: number | null = null;
  /** Resolves when nothing of it runs any more. */
  done: Promise<void> = Promise.resolve();
  /** Whether another process or a closed node may have worked on it. */
  readonly #isTakenOver: boolean;
  readonly #end = Promise.withResolvers<Archived>();
  #hasEnded = false;
  /** Until it waits for the first time, or ends. */
  readonly #firstTry = new Moment();
  /** Until it is certain which of its media are as they were stored, or until it ends. */
  readonly #unchecked = new Moment();
  /** Whether it is known what other workers have stored of it: only with the packages, which may be away. */
  #knowsStaged = false;
  /** The slots of media that are not on this disk, and may be with the packages. */
  #elsewhere: readonly string[] = [];
  /** Ends what it waits for: its turn, or its pause. */
  #resume: (() => void) | undefined;
  /** Why it pauses; undefined while it does not. */
  #pause: "failure" | "missing" | "settling" | undefined;
  #pausedAtMs = 0;
  #pauseMs = 0;
  /** When it is complete if nothing new comes; only while it pauses for that. */
  #settledAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether something has arrived since the last round began. */
  #hasNews = false;
  /** Whether it has all that it will archive, unless something arrives. */
  #isCollected = false;
  /** The number of failures in a row. */
  #failures = 0;
  #isUnwanted = false;
  /** Why it is stopped. */
  #stopped: DimensionerError | undefined;
  #stopping: AbortController | undefined;
  #stopWatching: (() => void) | undefined;
  /** How long it has waited as far as the database knows. */
  #savedMs: number;

  /** `accepted`: for a job that was just accepted, with its packages if they were searched for. */
  constructor(
    job: Job,
    store: JobStore,
    node: JobNode,
    accepted?: { readonly packages?: readonly FoundPackage[] },
  ) {
    this.job = job;
    this.store = store;
    this.node = node;
    this.seen = new CollectedMedia(job, accepted?.packages);
    this.#savedMs = job.waitedMs;
    this.#isTakenOver = accepted === undefined;
    if (!job.isResumed) {
      this.#unchecked.come();
      this.#knowsStaged = true;
    }
    // Its message may have ended without it.
    this.#end.promise.catch(ignore);
  }

  /** Starts or resumes the job. */
  begin(): void {
    this.done = this.#run();
  }

  /** Resolves with the package, or rejects with the error. */
  get end(): Promise<Archived> {
    return this.#end.promise;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when the job waits for the first time, or has ended. */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise;
  }

  /** Resolves when it is certain which of its media are as they were stored, or when the job has ended. */
  get checked(): Promise<void> {
    return this.#unchecked.promise;
  }

  /** Whether its package, or media that nobody else has, are held up on their way to where the packages are. */
  get isUndelivered(): boolean {
    const { state, unstaged } = this.job;
    return this.state === "trouble" && (this.#isCollected || state === "sealing" || unstaged !== null);
  }

  /** Whether it waits for the cloud to report its measurement, and has not been told of its transaction. */
  get awaitsRecord(): boolean {
    const { intent, transactionId } = this.job;
    return this.state === "waiting" && transactionId === null && asksCloud(intent);
  }

  /** How long it still waits for something new before it is complete; Infinity if it does not. */
  get settlesInMs(): number {
    return this.#pause === "settling" ? Math.max(0, this.#settledAtMs - performance.now()) : Infinity;
  }

  /** Aborts when the job is stopped, with the reason. It exists only while it is used, because it takes more memory than the job. */
  get signal(): AbortSignal {
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      if (this.#stopped !== undefined) {
        this.#stopping.abort(this.#stopped);
      }
    }
    return this.#stopping.signal;
  }

  /** Stops the work in this process; the job stays open. */
  stop(): void {
    this.#stopBy(new DimensionerError("cancelledKept", diskFacts));
  }

  /** The same without waiting for work that a disk delays. */
  abandon(): void {
    this.stop();
    this.#settle({ error: this.#stopped });
  }

  /** Ends a waiting job at once, and a working one when it would wait. */
  drop(): void {
    this.#isUnwanted = true;
    this.#stopUnwanted();
  }

  /** Starts another round at once, or after the present one. */
  wake(): void {
    this.#hasNews = true;
    if (this.#pause !== undefined) {
      this.go();
    }
  }

  /** Tries again at once what has failed. */
  retry(): void {
    if (this.#pause === "failure") {
      this.go();
    }
  }

  /** Restarts the wait, because another part has arrived. */
  restartWait(): void {
    this.job.waitedMs = 0;
    this.#pausedAtMs = performance.now();
    this.wake();
  }

  /**
   * Ends what it waits for, whoever does: a turn that comes, a timer, a record, a part, a drop or a close. The time for which missing media
   * are waited for is limited by the job. A pause that took longer than it was to take counts as one that did not: the computer has
   * slept, or the process was stopped, and nothing could arrive.
   */
  go(): void {
    const resume = this.#resume;
    if (resume === undefined) {
      return;
    }
    this.#resume = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const why = this.#pause;
    this.#pause = undefined;
    if (why === "missing" || why === "settling") {
      const tookMs = performance.now() - this.#pausedAtMs;
      const waitedMs = Math.max(Math.min(tookMs, this.#pauseMs + lateMs), 1);
      this.seen.quietMs += waitedMs;
      this.job.waitedMs += why === "missing" ? waitedMs : 0;
    }
    resume();
  }

  resetFailures(): void {
    this.#failures = 0;
    this.trouble = undefined;
  }

  setBytes(doneBytes: number, totalBytes: number | null): void {
    this.doneBytes = doneBytes;
    this.totalBytes = totalBytes;
    this.node.onChange(this);
  }

  /**
   * The way of a job, from top to bottom: what is left of an earlier process, then rounds and pauses until nothing is missing or the wait is
   * over, then its package. A failure that can disappear begins it again. It waits in this function alone, and in none that this one calls:
   * with each further suspended function, thousands of waiting jobs would take megabytes more.
   */
  async #run(): Promise<void> {
    const { job, node, seen } = this;
    try {
      if (job.earlier !== null) {
        // Work of a closed node has to end first, because the two would interfere.
        void job.earlier.then(() => this.go());
        await this.#suspended();
      }
      for (;;) {
        try {
          await this.#turn(node.preparing);
          const before = await this.#work(node.preparing, () => this.#prepare());
          if (before !== undefined) {
            this.#settle({ archived: before });
            return;
          }
          // What was collected and could not be delivered is not asked for again, unless something has arrived.
          while (!this.#isCollected || this.#hasNews) {
            // A round: the device, the webhook's records and the cloud are each asked once for what is missing.
            this.#throwIfStopped();
            this.#isCollected = false;
            this.#hasNews = false;
            seen.failure = undefined;
            if (isToCollect(this)) {
              await this.#turn(node.collecting);
              await this.#ask(node.collecting, () => collectDevice(this, node.device(job)));
            }
            if (asksCloud(job.intent) && job.transactionId === null) {
              await this.#turn(node.finding);
              await this.#ask(node.finding, () => findTransaction(this, node.onDamaged));
            }
            if (asksCloud(job.intent) && job.transactionId !== null) {
              // A new job does not wait behind many others that ask again and again.
              const isUrgent = !this.#firstTry.hasCome;
              await this.#turn(node.listing, isUrgent);
              const isListed = await this.#ask(
                node.listing,
                () => listMedia(this, node.cloud(job)),
                isUrgent,
              );
              if (isListed && isToDownload(this)) {
                await this.#turn(node.downloading);
                await this.#ask(node.downloading, () => downloadMedia(this, node.cloud(job)));
              }
            }
            if (job.unstaged !== null) {
              await this.#turn(node.sealing);
              const { failure } = seen;
              seen.failure = undefined;
              // What only this computer has waits for as long as it takes, whatever else fails.
              if (await this.#ask(node.sealing, () => stagePinned(this))) {
                seen.failure = failure;
              }
            }
            if (seen.away !== undefined) {
              await findPackages(this, node.onDamaged);
              await this.#findStaged();
            }
            const pause = this.#pauseForMissing();
            if (pause === null) {
              this.#isCollected = true;
              break;
            }
            // A record may have arrived after the database was asked.
            if (!this.#hasNews) {
              await this.#paused(pause.ms, pause.why);
            }
          }
          await this.#turn(node.sealing);
          const archived = await this.#work(node.sealing, () => this.#seal(false));
          this.#settle({ archived });
          return;
        } catch (error) {
          this.#endWatch();
          this.#throwIfStopped();
          const pauseMs = this.#pauseAfterFailure(error);
          if (pauseMs === null) {
            // It cannot go on. What there is becomes an incomplete package.
            await this.#turn(node.sealing);
            const archived = await this.#work(node.sealing, () => this.#seal(true));
            this.#settle({ archived });
            return;
          }
          await this.#paused(pauseMs, "failure");
        }
      }
    } catch (error) {
      this.#settle({ error: this.#stopped ?? error });
    }
  }

  /**
   * Makes the job's folder and record agree with the database, and finds the packages that it may complete. Returns the package of the
   * job if it has one already.
   */
  async #prepare(): Promise<Archived | undefined> {
    const { job, store, node, seen } = this;
    const isUnchecked = !this.#unchecked.hasCome;
    if (isUnchecked) {
      const names = new Set([...job.items.values()].map(({ path }) => path));
      await store.work.takeOver(job.id, (name) => names.has(name));
      const own = await store.sealing.findOwn(job);
      if (own !== undefined) {
        return own;
      }
    }
    if (job.state !== "accepted") {
      const recovered = await store.sealing.recover(job);
      if (recovered !== undefined) {
        return recovered;
      }
    }
    const isNew = !this.#firstTry.hasCome && !this.#isTakenOver;
    if (isUnchecked) {
      this.#elsewhere = await checkItems(this);
      await findUnnoted(this);
      if (this.#elsewhere.length === 0) {
        this.#unchecked.come();
      }
    }
    await store.work.make(job.id);
    if (!isNew) {
      await noteStoredBefore(this);
      await removeStrays(this);
    }
    if (seen.packages === undefined || !isNew) {
      await findPackages(this, node.onDamaged);
    }
    await this.#findStaged();
    const search = asksCloud(job.intent) && job.transactionId === null ? searchOf(job) : null;
    if (search !== null) {
      this.#endWatch();
      this.#stopWatching = store.finder.watch(search.local, () => this.wake());
    }
    return undefined;
  }

  /** While the packages are away, the job goes on without it: what it collects meanwhile is the same. */
  async #findStaged(): Promise<void> {
    if (this.#knowsStaged || this.seen.away !== undefined) {
      return;
    }
    try {
      await findStaged(this, this.#elsewhere);
    } catch (error) {
      if (!isOfPackages(error)) {
        throw error;
      }
      this.seen.away = error;
      return;
    }
    this.#elsewhere = [];
    this.#knowsStaged = true;
    this.#unchecked.come();
    if (this.job.unnoted.size > 0) {
      await noteStoredBefore(this);
    }
  }

  /**
   * Decides after a round. Returns the pause until the next one, or null if the job can be sealed: nothing is missing, or the wait is over
   * and an incomplete package is allowed. The pauses are short at first, then longer, because a video that takes minutes needs no request
   * each second. Throws the failure of the round, ERR_MEDIA_INCOMPLETE if the wait is over, or ERR_NOT_FOUND if the cloud does not know
   * the transaction and nothing is waited for.
   */
  #pauseForMissing(): { readonly ms: number; readonly why: "missing" | "settling" } | null {
    const { job, seen, node } = this;
    if (seen.failure !== undefined) {
      throw seen.failure.error;
    }
    const missing = missingFrom(seen, node.findMissing);
    const isMissing = missing.length > 0;
    // A record that is there and cannot be taken yet is waited for, however short the wait is.
    const leftToWaitMs = Math.max(0, job.intent.waitMs - job.waitedMs, seen.notFound?.settlesInMs ?? 0);
    const leftMs = isMissing ? leftToWaitMs : leftToSettleMs(seen);
    const isOver = isMissing && (leftMs === 0 || !canGrow(seen, missing));
    const mayEnd = isOver || leftMs === 0;
    if (seen.away !== undefined && (isOver || (mayEnd && !this.#knowsStaged))) {
      // What is missing may be in a package that cannot be read now, and what other workers have stored cannot be fetched.
      throw seen.away;
    }
    if (isOver) {
      this.#refuseIncomplete(missing);
    }
    if (mayEnd) {
      this.#endWait();
      return null;
    }
    this.resetFailures();
    // An error takes more memory than the job itself, and the next round asks the cloud again.
    seen.unknown = undefined;
    seen.refused = undefined;
    const { intent } = job;
    const { firstMs, longestMs } = node.poll;
    const onlyParts = !isWhole(job) && !asksCloud(intent) && intent.measuredBy === null;
    const paceMs = isMissing ? job.waitedMs / 5 : intent.settleMs / 4;
    // Parts come by themselves. Their pauses are limited all the same: while the computer sleeps, one pause at most counts as waiting.
    const ms = Math.min(onlyParts ? longestMs : Math.max(firstMs, paceMs), longestMs, leftMs);
    return { ms, why: isMissing ? "missing" : "settling" };
  }

  /**
   * Decides after a failure: the pause until the next try, or null for an incomplete package, if the job cannot go on and that is allowed
   * and possible. Throws the error that ends the job.
   */
  #pauseAfterFailure(error: unknown): number | null {
    const { job, store, node } = this;
    const { intent, sinceMs } = job;
    // What is whole, or on this disk and only to be brought to other workers, or with the packages, waits for its folder or bucket for as long as it takes.
    const isStored = job.unnoted.size > 0 || this.#elsewhere.length > 0;
    const isHere = this.#isCollected || job.state === "sealing" || isStored;
    const isWaiting = (isHere && isOfPackages(error)) || job.unstaged !== null;
    const hasNoEnd = intent.giveUpMs === 0 || isWaiting;
    const leftMs = hasNoEnd ? Infinity : sinceMs + intent.giveUpMs - performance.now();
    if (!isRetryableJob(error) || leftMs <= 0) {
      const isOfMedia = isDimensionerError(error) && isRetryableJob(error) && !notOfTheMedia.has(error.code);
      if (!isOfMedia || intent.onIncomplete === "error" || !hasContent(job)) {
        throw error;
      }
      return null;
    }
    this.seen.failure = undefined;
    this.trouble = error instanceof DimensionerError ? node.sharedTrouble(error) : undefined;
    saveTimes(store, job);
    // The pause doubles with each failure in a row, with jitter, so that many jobs do not repeat at the same moment.
    const fullMs = Math.min(node.retry.firstMs * 2 ** this.#failures, node.retry.longestMs);
    this.#failures += 1;
    return Math.min(fullMs * (0.5 + Math.random() / 2), leftMs);
  }

  /** Ends an incomplete job, unless an incomplete package is allowed. */
  #refuseIncomplete(absent: readonly Problem[]): void {
    const { job, seen, store, node } = this;
    const { intent } = job;
    const { unknown } = seen;
    if (intent.onIncomplete === "keep" && (unknown === undefined || hasContent(job))) {
      return;
    }
    if (unknown !== undefined && intent.waitMs === 0) {
      throw unknown;
    }
    const missing = unknown === undefined ? absent : [phrase("unknownTransaction"), ...absent];
    const cause = unknown ?? seen.refused;
    const seconds = intent.waitMs / 1000;
    if (intent.sequence !== null) {
      // The media of the earlier parts are on no message any more.
      const path = asideOf(store, job);
      throw new DimensionerError("partsIncomplete", { ...diskFacts, cause }, { seconds, missing, path });
    }
    const facts = asksCloud(intent)
      ? { surface: node.cloud(job).peer.surface, operation: "archive" }
      : diskFacts;
    throw new DimensionerError("mediaIncomplete", { ...facts, cause }, { seconds, missing });
  }

  /**
   * A part may arrive at the last moment, and a package may be deleted, so it is judged when it accepts no more. `isUnsure`: whether it
   * ends by a failure, so that there may be more.
   */
  async #seal(isUnsure: boolean): Promise<Archived> {
    if (isUnsure) {
      await noteStored(this);
    }
    const { findMissing, onDamaged } = this.node;
    return await this.store.sealing.seal(
      this.job,
      (packages) => judge(this.seen, packages, { findMissing, isUnsure }),
      onDamaged,
    );
  }

  /** Waits for a place among those that do the same work, which `#work` gives back. Undefined if there is one at once. */
  #turn(semaphore: Semaphore, isUrgent = false): Promise<void> | undefined {
    this.#throwIfStopped();
    if (semaphore.enter(this, isUrgent)) {
      return undefined;
    }
    if (semaphore === this.node.downloading) {
      this.#setState("waiting");
    }
    return this.#suspended();
  }

  /** Works in its turn. */
  async #work<T>(semaphore: Semaphore, act: () => Promise<T>, isUrgent = false): Promise<T> {
    if (this.#stopped !== undefined) {
      // It may have been stopped before its turn had come.
      if (!semaphore.cancel(this)) {
        semaphore.leave(performance.now(), true);
      }
      throw this.#stopped;
    }
    const sinceMs = performance.now();
    try {
      this.#setState("working");
      return await act();
    } finally {
      semaphore.leave(sinceMs, isUrgent);
    }
  }

  /** Asks one source. Its failure is noted, and does not prevent media of the others from being stored. */
  async #ask(semaphore: Semaphore, ask: () => Promise<void>, isUrgent = false): Promise<boolean> {
    try {
      await this.#work(semaphore, ask, isUrgent);
    } catch (error) {
      this.#throwIfStopped();
      this.seen.failure ??= { error };
      return false;
    }
    this.#throwIfStopped();
    return true;
  }

  /** Pauses until the time is over or it is woken. */
  #paused(ms: number, why: "failure" | "missing" | "settling"): Promise<void> {
    // Nothing uses the signal any more, and the next round may have nothing to download.
    this.#stopping = undefined;
    this.doneBytes = 0;
    this.totalBytes = null;
    this.#pause = why;
    this.#pauseMs = ms;
    this.#pausedAtMs = performance.now();
    this.#settledAtMs = why === "settling" ? this.#pausedAtMs + leftToSettleMs(this.seen) : 0;
    this.#firstTry.come();
    noteWaiting(this);
    this.#setState(why === "failure" ? "trouble" : "waiting");
    this.#timer = setTimeout(resume, ms, this);
    return this.#suspended();
  }

  /** Waits until `go` is called, unless it is stopped. */
  #suspended(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
      if (this.#stopped !== undefined) {
        this.go();
      }
    });
  }

  #stopBy(reason: DimensionerError): void {
    // Only the first reason counts.
    this.#stopped ??= reason;
    this.#stopping?.abort(this.#stopped);
    this.go();
  }

  #throwIfStopped(): void {
    if (this.#stopped !== undefined) {
      throw this.#stopped;
    }
  }

  #setState(state: RunningState): void {
    if (this.state !== state) {
      this.state = state;
      this.node.onChange(this);
      this.#stopUnwanted();
    }
  }

  #stopUnwanted(): void {
    if (this.#isUnwanted && this.state !== "working") {
      this.#stopBy(new DimensionerError("cancelledReset", diskFacts));
    }
  }

  #endWatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** Ends the wait: its media are there, or it is to end. A restart does not restart the wait. */
  #endWait(): void {
    this.#endWatch();
    if (this.job.waitedMs !== this.#savedMs) {
      this.#savedMs = this.job.waitedMs;
      saveTimes(this.store, this.job);
    }
  }

  #settle(result: { readonly archived: Archived } | { readonly error: unknown }): void {
    if (this.#hasEnded) {
      return;
    }
    this.#hasEnded = true;
    this.#endWait();
    this.#stopping = undefined;
    this.#firstTry.come();
    this.#unchecked.come();
    if ("archived" in result) {
      this.trouble = undefined;
      this.#end.resolve(result.archived);
    } else {
      this.#end.reject(result.error);
    }
    this.node.onChange(this);
  }
}

function ignore(): void {
  // Whoever waits for the end has the error.
}

function resume(running: RunningJob): void {
  running.go();
}

/** Something that comes once. A promise is made only for those that wait for it, because thousands of jobs may be open. */
class Moment {
  hasCome = false;
  #waiting: PromiseWithResolvers<void> | undefined;

  get promise(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    if (this.hasCome) {
      this.#waiting.resolve();
    }
    return this.#waiting.promise;
  }

  come(): void {
    this.hasCome = true;
    this.#waiting?.resolve();
  }
}

/** Where the media of a job are kept that fails, for people. */
export function asideOf({ staged, work }: JobStore, { id }: OpenJob): string {
  return staged?.asideOf(id) ?? work.asidePath(id);
}

/** Notes how long a job has waited and been open, so that a restart restarts neither time. Not waited for. */
function saveTimes({ jobs }: JobStore, { id, waitedMs, sinceMs }: OpenJob): void {
  void jobs.setTimes(id, waitedMs, performance.now() - sinceMs).catch(ignore);
}

/** The codes of failures that are independent of the media themselves. */
const notOfTheMedia: ReadonlySet<ErrorCode> = new Set([
  "ERR_FILE",
  "ERR_STORE",
  "ERR_NOT_FOUND",
  "ERR_CANCELLED",
]);
