/** The jobs of one node: messages become jobs or join one, and their results go back to the messages. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { diskFacts } from "../vault/archive-disk.ts";
import type { Intent, IntentFacts, IntentTexts, StoredItem } from "../vault/packages/intent.ts";
import type { Expected, LeftOut } from "../vault/packages/manifest.ts";
import { answerOf, isOtherAnswer, keysOfJob, type Answer } from "../vault/packages/package-keys.ts";
import type { FoundPackage } from "../vault/vault.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { unlessAborted } from "../media/disk.ts";
import { isTaken, isUnknown } from "../database/own-jobs.ts";
import { settledWithin } from "../time/after-limit.ts";
import type { Archive } from "./archive.ts";
import { addItems, namesInUse } from "./collect.ts";
import {
  expectedOf,
  expectedWith,
  includesAll,
  isNotLookedFor,
  isSatisfied,
  lackVideoOf,
  otherParcelsVideo,
  withRecording,
} from "./completeness.ts";
import { storeGivenMedia, type GivenMedium } from "./intake.ts";
import { JobNode, RunningJob, type Job, type Sequence } from "./job.ts";
import { positionOf, type OpenJob } from "./job-rows.ts";
import { bringsAnswer, type Archived, type Sealing } from "./seal.ts";
import { KeyTurns } from "./semaphore.ts";

/** Options for the jobs of a node; the optional ones have defaults. */
export interface RunnerOptions
  extends Pick<JobNode, "cloud" | "device" | "findMissing">, Partial<Pick<JobNode, "retry" | "poll">> {
  /** The id of the node that owns the jobs. */
  readonly node: string;
  /** How many jobs may download at the same time. */
  readonly concurrency: number;
  /** Returns the folders in which a message may name files; none if not given. */
  readonly outputFolders?: () => Promise<readonly string[]>;
  /** Called when the state of a job changes, and with each chunk that is downloaded. */
  readonly onChange?: (running: RunningJob) => void;
  /** Called with a warning about something that needs attention, although the job continues. */
  readonly onWarning?: (warning: ArchiveWarning) => void;
  /** Called with the jobs of each other node that are resumed. */
  readonly onTaken?: (taken: TakenJobs) => void;
}

/** A warning about an existing package, or about media that are kept although their job has ended in an error. */
export type ArchiveWarning =
  | { readonly warning: "damagedPackage" | "keptAside"; readonly values: { readonly path: string } }
  | { readonly warning: "otherMeasurement"; readonly values: { readonly id: string } };

/** Jobs of another node with which this one continues. */
export interface TakenJobs {
  /** The ID of the other node. */
  readonly node: string;
  readonly count: number;
}

/** The position of a message in its sequence. */
export interface Part {
  readonly id: string;
  readonly index: number;
  /** The number of parts, if this one states it. */
  readonly count: number | null;
}

/** What a job is to archive, and the measurement that it brings. */
interface Wanted {
  readonly expected: Expected;
  /** Whose the video of its transaction is, if it is another parcel's. */
  readonly othersVideo: LeftOut["reason"] | undefined;
  readonly answer: Answer;
}

/** A disk that hangs must not delay a deploy: Node-RED waits 15 s for a node to close. */
const closeTimeoutMs = 5_000;
/** Enough sequences of several parcels for those of which messages are still on their way. */
const mostDivided = 1_000;

/** Runs the jobs of one node in one archive, and returns their results. */
export class JobRunner {
  readonly #archive: Archive;
  /** The id of the node. */
  readonly #id: string;
  readonly #node: JobNode;
  readonly #outputFolders: () => Promise<readonly string[]>;
  readonly #onWarning: (warning: ArchiveWarning) => void;
  readonly #onTaken: (taken: TakenJobs) => void;
  /** Messages that are being accepted. */
  readonly #accepting = new Set<Promise<Submission>>();
  /** The first message of a sequence begins a job, and the others wait until it is known. */
  readonly #sequences = new KeyTurns();
  /** The ids of sequences that messages of several parcels had, the latest last. */
  readonly #divided = new Set<string>();
  /** Aborts messages that are being accepted. */
  readonly #closing = new AbortController();
  /** Ends the messages of jobs that stay open. */
  readonly #stopping = new AbortController();

  constructor(archive: Archive, options: RunnerOptions) {
    const {
      node,
      outputFolders,
      onChange = () => undefined,
      onWarning = () => undefined,
      onTaken = () => undefined,
      ...rules
    } = options;
    this.#archive = archive;
    this.#id = node;
    this.#onTaken = onTaken;
    this.#outputFolders = outputFolders ?? (async () => []);
    this.#onWarning = onWarning;
    const onDamaged = (path: string): void => onWarning({ warning: "damagedPackage", values: { path } });
    this.#node = new JobNode({ ...rules, onChange, onDamaged });
  }

  /** The jobs whose message is not out yet; some may have ended. */
  get jobs(): Iterable<RunningJob> {
    return this.#archive.runningOf(this.#node);
  }

  /**
   * Accepts a job whose message brings no media: they are collected from the device and the cloud. Resolves when it is in the database,
   * or at once if the same job is done or running, because a job is done once. Throws ERR_FILE, ERR_STORE or ERR_QUEUE_FULL; then
   * nothing was accepted.
   */
  async submit(intent: Intent): Promise<Submission> {
    this.#closing.signal.throwIfAborted();
    const { transactionId } = intent;
    const answer = answerOf(intent);
    const keys = keysOfJob({ intent, transactionId, answer });
    // A second message of the same key joins the job of the first one, so that has to be known.
    return await this.#accept(
      this.#archive.submitting.run(keys.slice(0, 1), () => this.#submit(intent, keys, answer)),
    );
  }

  /** Joins a job that also does what the message wants, finds its package, or accepts a new job. */
  async #submit(intent: Intent, keys: readonly string[], answer: Answer): Promise<Submission> {
    const { sealing } = this.#archive.store;
    const { findMissing, onDamaged } = this.#node;
    const [key = null] = keys;
    const wanted = wantedBy({ intent, answer });
    const atWork = this.#withKey(key).find((job) => isAtWork(job) && isSameWork(wantedBy(job), wanted));
    if (atWork?.running) {
      return await this.#repeat(intent, atWork.running);
    }
    const found = await sealing.findIfThere(keys, answer, onDamaged);
    const { packages, hasOther } = "away" in found ? { packages: [], hasOther: false } : found;
    const [first] = packages;
    const manifests = packages.map(({ manifest }) => manifest);
    const asked = withRecording(intent, manifests);
    const isThere = isSatisfied(expectedOf(asked), manifests, findMissing) && !bringsAnswer(answer, packages);
    if (first !== undefined && isThere) {
      const all = expectedWith(asked, manifests);
      const isComplete =
        isSatisfied(all, manifests, findMissing) &&
        !isNotLookedFor(all, manifests) &&
        !lackVideoOf(asked, manifests);
      const existing = sealing.existing(first, packages, isComplete);
      if (await isLogged(sealing, existing)) {
        return await this.#repeat(intent, existing);
      }
    }
    // A job that was left by an earlier run may have been resumed while the packages were looked for.
    const others = this.#withKey(key);
    const same = others.find((job) => isSameWork(wantedBy(job), wanted));
    if (same !== undefined) {
      return same.running === null
        ? new Submission(this.#run(same), { owner: this })
        : await this.#repeat(intent, same.running);
    }
    if (hasOther || others.some((job) => isOtherAnswer(answer, job.answer))) {
      const id = intent.transactionId ?? intent.measuredBy?.imageIdentifier ?? "";
      this.#onWarning({ warning: "otherMeasurement", values: { id } });
    }
    this.#closing.signal.throwIfAborted();
    const given = { node: this.#id, key, intent, answer, items: new Map() };
    const job = await this.#archive.accept(randomUUID(), given);
    return new Submission(this.#run(job, "away" in found ? {} : { packages }), { owner: this });
  }

  /** The jobs of a key that a message can join: no node has them, or one works on them. */
  #withKey(key: string | null): Job[] {
    return key === null
      ? []
      : this.#archive
          .joinable(key)
          .filter((job) => job.intent.sequence === null && (job.running === null || isAtWork(job)));
  }

  /** Handles a repeated message: the webhook's records of its transaction count as handled. */
  async #repeat(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    const id = begun instanceof RunningJob ? begun.job.id : begun.manifest.job;
    if (intent.transactionId !== null) {
      await this.#archive.jobs.handled(intent.transactionId, { id, intent });
    }
    return new Submission(begun, { repeatedUntil: this.#stopping.signal });
  }

  /**
   * Accepts the media of a message. Resolves when their bytes are on the disk; a part of a sequence joins the job of
   * its first part. Throws ERR_FILE or ERR_STORE, or ERR_INPUT for media that are not what the message says, or arrive
   * too late.
   */
  async submitMedia(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    this.#closing.signal.throwIfAborted();
    return await this.#accept(this.#submitMedia(intent, media, part));
  }

  async #submitMedia(intent: Intent, media: readonly GivenMedium[], part: Part | null): Promise<Submission> {
    if (part !== null && !this.#divided.has(part.id)) {
      const begun = await this.#sequences.run([part.id], () => this.#beginSequence(intent, media, part));
      if (begun instanceof Submission) {
        return begun;
      }
      if (begun !== undefined) {
        return await this.#join(begun.running, begun.sequence, { intent, media, part });
      }
    }
    const alone = { used: new Set<string>(), position: 0 };
    const running = await this.#acceptMedia(randomUUID(), { ...intent, sequence: null }, media, alone);
    return new Submission(running, { owner: this });
  }

  /**
   * Begins the job of a sequence with the part that has arrived first, or returns the job that it has already. Undefined if the message
   * is of another parcel than those before it, as those of a list of parcels are, which are no parts of one package.
   */
  async #beginSequence(
    intent: Intent,
    media: readonly GivenMedium[],
    part: Part,
  ): Promise<{ running: RunningJob; sequence: Sequence } | Submission | undefined> {
    this.#closing.signal.throwIfAborted();
    const parcel = parcelOf(intent);
    const jobs = this.#archive.joinable(part.id).filter(({ intent: { sequence } }) => sequence === part.id);
    const running = jobs.find((job) => isAtWork(job) && job.running?.node === this.#node)?.running;
    if (running?.sequence) {
      const { sequence } = running;
      if (isOther(sequence.parcel, parcel)) {
        this.#divide(running, sequence, part.id);
        return undefined;
      }
      return { running, sequence };
    }
    if (this.#divided.has(part.id)) {
      return undefined;
    }
    const first = { position: part.index, used: new Set<string>() };
    const begun = await this.#acceptMedia(randomUUID(), intent, media, first);
    const sequence: Sequence = {
      parcel,
      positions: new Set([String(part.index)]),
      used: first.used,
      last: undefined,
      isDivided: false,
    };
    begun.sequence = sequence;
    return this.#submissionOfPart(begun, sequence, part);
  }

  #divide(running: RunningJob, sequence: Sequence, id: string): void {
    sequence.isDivided = true;
    this.#divided.add(id);
    const [oldest = id] = this.#divided;
    if (this.#divided.size > mostDivided) {
      this.#divided.delete(oldest);
    }
    this.#endDivided(running, sequence);
  }

  /** The job waits for no more parts: how many of the others are of its parcel is not known. */
  #endDivided(running: RunningJob, { last, positions }: Sequence): void {
    this.#archive.setCount(running.job, positions.size);
    if (last !== undefined && positions.size === 1) {
      last.isOfSequence = false;
    }
    running.wake();
  }

  async #acceptMedia(
    id: string,
    intent: Intent,
    media: readonly GivenMedium[],
    part: { readonly used: Set<string>; readonly position: number },
  ): Promise<RunningJob> {
    const archive = this.#archive;
    archive.checkRoom(intent);
    const { signal } = this.#closing;
    const { recording, transactionId } = intent;
    let job: Job;
    try {
      const given = { ...part, outputFolders: this.#outputFolders, recording, signal };
      const items = await storeGivenMedia(archive.store, id, media, given);
      // On a disk that hangs the message has ended long ago; its sender still has the media.
      signal.throwIfAborted();
      const answer = answerOf(intent);
      const [key = null] = keysOfJob({ intent, transactionId, answer });
      job = await archive.accept(id, { node: this.#id, key, intent, answer, items });
    } catch (error) {
      await archive.work.remove(id);
      throw error;
    }
    return this.#run(job, {});
  }

  /** Adds a further part to a job. */
  async #join(
    running: RunningJob,
    sequence: Sequence,
    {
      intent: { recording },
      media,
      part,
    }: { readonly intent: Intent; readonly media: readonly GivenMedium[]; readonly part: Part },
  ): Promise<Submission> {
    const { store } = this.#archive;
    const { job } = running;
    const { positions, used } = sequence;
    const { signal } = this.#closing;
    const position = String(part.index);
    // The same part brings nothing new when it is repeated, unless the disk has lost its media.
    let isNew = !positions.has(position);
    positions.add(position);
    try {
      if (!isNew) {
        // After a restart it is not known at once which media are lost.
        await running.checked;
        signal.throwIfAborted();
      }
      isNew ||= [...job.lost.keys()].some((slot) => positionOf(slot) === position);
      if (!isNew && running.hasEnded) {
        // The part before it carries the message, which is on its way.
        const submission = new Submission(running, { owner: this });
        submission.sendsMessage = false;
        return submission;
      }
      if (isNew) {
        const given = { used, position: part.index, outputFolders: this.#outputFolders, recording, signal };
        const items = await storeGivenMedia(store, job.id, media, given);
        if (!(await this.#add(job, items))) {
          // The message still has them.
          for (const { path } of items.values()) {
            await store.disk.unlink(join(store.work.of(job.id), path)).catch(() => undefined);
          }
          throw new DimensionerError("partTooLate", diskFacts, { count: part.index + 1 });
        }
      }
      return this.#submissionOfPart(running, sequence, part);
    } catch (error) {
      if (isNew) {
        positions.delete(position);
      }
      throw error;
    }
  }

  /** Adds media to a job; returns false if it accepts none any more, here or anywhere. */
  async #add(job: Job, items: ReadonlyMap<string, StoredItem>): Promise<boolean> {
    try {
      return await addItems(this.#archive.store, job, items);
    } catch (error) {
      // The row of a job goes with its message.
      if (isTaken(error) || (isUnknown(error) && !job.isOpen)) {
        return false;
      }
      throw error;
    }
  }

  /** The last part carries the message of the job: the others end without one. */
  #submissionOfPart(running: RunningJob, sequence: Sequence, { count }: Part): Submission {
    const submission = new Submission(running, { owner: this });
    if (sequence.last !== undefined) {
      sequence.last.sendsMessage = false;
    }
    sequence.last = submission;
    if (sequence.isDivided) {
      this.#endDivided(running, sequence);
    } else if (count !== null) {
      this.#archive.setCount(running.job, count);
    }
    running.restartWait();
    return submission;
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
    const mine = this.#archive.idle.filter(isMine);
    const others = new Map<string, number>();
    for (const { node } of mine.filter((job) => job.node !== this.#id)) {
      others.set(node, (others.get(node) ?? 0) + 1);
    }
    others.forEach((count, node) => this.#onTaken({ node, count }));
    yield* mine.filter(({ intent }) => intent.sequence !== null).map((job) => this.#resume(job));
    for (const job of mine) {
      if (job.isOpen && job.running === null && !this.#closing.signal.aborted) {
        yield this.#resume(job);
      }
    }
  }

  #resume(job: Job): Submission {
    const running = this.#run(job);
    const submission = new Submission(running, { isResumed: true, owner: this });
    const { intent, items, lost } = job;
    if (intent.sequence !== null) {
      running.sequence = {
        parcel: parcelOf(intent),
        positions: new Set([...items.keys()].map(positionOf).filter((position) => position !== null)),
        used: namesInUse([...items.values(), ...lost.values()]),
        last: submission,
        isDivided: false,
      };
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
    const jobs = [...this.jobs];
    jobs.forEach((running) => running.stop());
    const settled = Promise.allSettled([...jobs.map(({ done }) => done), ...this.#accepting]);
    this.#archive.track(settled);
    const isHung = !(await settledWithin(settled, closeTimeoutMs));
    for (const running of this.jobs) {
      running.abandon();
      running.job.earlier = isHung ? settled : null;
      running.job.running = null;
    }
  }

  /** `accepted`: for a job that was just accepted, with the packages that were found for it. */
  #run(job: Job, accepted?: { readonly packages?: readonly FoundPackage[] }): RunningJob {
    if (this.#closing.signal.aborted) {
      throw new DimensionerError("cancelledKept", diskFacts);
    }
    const running = new RunningJob(job, this.#archive.store, this.#node, accepted);
    job.running = running;
    running.begin();
    return running;
  }

  /** To be called when the job's message was sent, or has ended in an error. */
  messageSent(running: RunningJob, error?: DimensionerError): void {
    const { job } = running;
    if (job.isOpen && job.running === running) {
      void this.#end(job, error);
    }
  }

  async #end(job: Job, error?: DimensionerError): Promise<void> {
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
}

/** A message and its job, or the existing package. */
export class Submission {
  readonly isResumed: boolean;
  /** False for a part of a sequence if a later part carries the message. */
  sendsMessage = true;
  /** Whether its message is a part of a sequence whose media form one package. */
  isOfSequence: boolean;
  readonly #job: Archived | RunningJob;
  readonly #repeatedUntil: AbortSignal | undefined;
  readonly #owner: JobRunner | undefined;

  constructor(
    job: Archived | RunningJob,
    {
      repeatedUntil,
      isResumed = false,
      owner,
    }: {
      /** For a repeated message: aborts when its own node closes, although the job may continue in another one. */
      readonly repeatedUntil?: AbortSignal;
      readonly isResumed?: boolean;
      /** Missing if the message is not that of the job. */
      readonly owner?: JobRunner;
    },
  ) {
    this.#job = job;
    this.#repeatedUntil = repeatedUntil;
    this.#owner = owner;
    this.isResumed = isResumed;
    this.isOfSequence = typeof this.running?.job.intent.sequence === "string";
  }

  /** The job; undefined if the package existed before. */
  get running(): RunningJob | undefined {
    return this.#job instanceof RunningJob ? this.#job : undefined;
  }

  /**
   * Resolves with the package, or rejects with the error of the job; `wasThere` if another message has caused the
   * package.
   */
  end(): Promise<Archived> {
    const job = this.#job;
    const end = job instanceof RunningJob ? job.end : Promise.resolve(job);
    return this.#repeatedUntil === undefined ? end : endOfOther(end, this.#repeatedUntil);
  }

  /** Reads the message properties that were kept for a restart. Rejects with ERR_STORE. */
  async kept(): Promise<IntentTexts["keep"] | undefined> {
    return this.running === undefined ? undefined : await this.#owner?.kept(this.running.job.id);
  }

  /** To be called when the message was sent, or has ended in an error: the job is not resumed any more. */
  messageSent(error?: DimensionerError): void {
    if (this.running !== undefined) {
      this.#owner?.messageSent(this.running, error);
    }
  }
}

async function endOfOther(end: Promise<Archived>, signal: AbortSignal): Promise<Archived> {
  return { ...(await unlessAborted(end, { ...diskFacts, signal })), wasThere: true };
}

/** Whether the log beside the packages says that these were archived. While that cannot be, a job waits for it. */
async function isLogged(sealing: Sealing, archived: Archived): Promise<boolean> {
  try {
    await sealing.logged(archived);
    return true;
  } catch (error) {
    if (!isDimensionerError(error)) {
      throw error;
    }
    return false;
  }
}

function isAtWork({ running }: Job): boolean {
  return running !== null && !running.hasEnded;
}

function wantedBy({ intent, answer }: { intent: IntentFacts; answer: Answer }): Wanted {
  return { expected: expectedOf(intent), othersVideo: otherParcelsVideo(intent), answer };
}

/** Whether an active job also does what another one is to do. */
function isSameWork(atWork: Wanted, wanted: Wanted): boolean {
  return (
    !isOtherAnswer(wanted.answer, atWork.answer) &&
    (wanted.answer.raw === null || wanted.answer.raw === atWork.answer.raw) &&
    (wanted.othersVideo === undefined || atWork.othersVideo !== undefined) &&
    includesAll(atWork.expected, wanted.expected)
  );
}

/** What identifies the parcel of a message, the surest first; null for what it does not say. */
function parcelOf({
  transactionId,
  measuredBy,
  references,
}: Pick<IntentFacts, "transactionId" | "references" | "measuredBy">): Sequence["parcel"] {
  const { id = "", imageIdentifier = null } = measuredBy ?? {};
  const measurement = imageIdentifier === null ? null : JSON.stringify([id, imageIdentifier]);
  return [transactionId, measurement, references.transactionReference];
}

/** Whether two messages are of different parcels. The first fact decides that both of them have. */
function isOther(one: Sequence["parcel"], other: Sequence["parcel"]): boolean {
  const known = one.findIndex((fact, index) => fact !== null && other[index] !== null);
  return known >= 0 && one[known] !== other[known];
}
