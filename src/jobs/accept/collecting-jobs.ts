import { randomUUID } from "node:crypto";
import type { Intent, IntentFacts } from "../../vault/packages/intent.ts";
import { isSameWork, type Wanted } from "../run/active-jobs.ts";
import { bringsAnswer } from "../seal/addition.ts";
import type { Archive } from "../run/archive.ts";
import type { ExistingPackage } from "../seal/existing-packages.ts";
import { answerOf, isOtherAnswer, keysOfJob, type Answer } from "../table/job-keys.ts";
import type { JobWork } from "../steps/job-work.ts";
import type { OpenJob } from "../table/open-job.ts";
import { expectedOf, isSatisfied, otherParcelsVideo } from "../steps/required-media.ts";
import { expectedWith, isNotLookedFor, withRecording } from "../steps/with-existing.ts";
import type { ArchiveWarning } from "../run/runner-options.ts";
import { RunningJob } from "../run/running-job.ts";
import type { Archived } from "../seal/job-results.ts";
import { Submission } from "./submission.ts";

interface CollectingJobsOptions extends Pick<JobWork, "findMissing" | "onDamaged"> {
  readonly node: string;
  readonly onWarning: (warning: ArchiveWarning) => void;
  /** Aborts when the node closes. */
  readonly signal: AbortSignal;
  /** Aborts when the node closes: the job of a repeated message may continue in another node. */
  readonly repeatedUntil: AbortSignal;
  /** `accepted`: for a job that was just accepted, with the packages that were found for it. */
  readonly run: (job: OpenJob, accepted?: { readonly packages: readonly ExistingPackage[] }) => RunningJob;
  readonly submission: (running: RunningJob) => Submission;
}

/**
 * The jobs of one node whose messages bring no media: these are collected from the device and the cloud. The same job is
 * done once.
 */
export class CollectingJobs {
  readonly #archive: Archive;
  readonly #options: CollectingJobsOptions;

  constructor(archive: Archive, options: CollectingJobsOptions) {
    this.#archive = archive;
    this.#options = options;
  }

  /**
   * Resolves when the job is in the database, or at once if the same job is done or running. Throws like
   * JobRunner.submit.
   */
  async submit(intent: Intent): Promise<Submission> {
    const { active } = this.#archive;
    const { transactionId } = intent;
    const wanted = wantedBy({ intent, answer: answerOf(intent) });
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

  /** To be called with a job of an earlier run: a message that is sent again joins it. */
  resumed(running: RunningJob): void {
    const { key, intent } = running.job;
    if (key !== null && intent.sequence === null) {
      const job = Promise.resolve(running);
      const forget = this.#archive.active.add(key, { ...wantedBy(running.job), job, resumed: running });
      running.end.whenSettled(forget);
    }
  }

  async #start(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    return begun instanceof RunningJob ? this.#options.submission(begun) : this.#repeat(intent, begun);
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
    const { node, findMissing, onDamaged, onWarning, signal, run } = this.#options;
    const { answer } = wanted;
    const { packages, hasOther } = await sealing.find(keys, answer, onDamaged);
    const [first] = packages;
    const manifests = packages.map(({ manifest }) => manifest);
    const asked = withRecording(intent, manifests);
    const isThere = isSatisfied(expectedOf(asked), manifests, findMissing) && !bringsAnswer(answer, packages);
    if (first !== undefined && isThere) {
      const all = expectedWith(asked, manifests);
      const isComplete = isSatisfied(all, manifests, findMissing) && !isNotLookedFor(all, manifests);
      return sealing.results.existing(first, packages, isComplete);
    }
    const [key = null] = keys;
    // It may have been resumed while the packages were looked for.
    const resumed = key === null ? undefined : this.#archive.active.findResumed(key, wanted);
    if (resumed !== undefined) {
      return resumed;
    }
    const idle = key === null ? [] : openJobs.idle.ofKey(key);
    const same = idle.find((job) => isSameWork(wantedBy(job), wanted));
    if (same !== undefined) {
      return run(same);
    }
    if (hasOther || isOtherAtWork || idle.some((job) => isOtherAnswer(answer, job.answer))) {
      const id = intent.transactionId ?? intent.measuredBy?.imageIdentifier ?? "";
      onWarning({ warning: "otherMeasurement", values: { id } });
    }
    signal.throwIfAborted();
    const given = { node, key, intent, answer, items: new Map() };
    return run(await this.#archive.intake.accept(randomUUID(), given), { packages });
  }

  /** Handles a repeated message: the webhook's records of its transaction count as handled. */
  async #repeat(intent: Intent, begun: Archived | RunningJob): Promise<Submission> {
    const id = begun instanceof RunningJob ? begun.job.id : begun.manifest.job;
    if (intent.transactionId !== null) {
      await this.#archive.jobs.handled(intent.transactionId, { id, intent });
    }
    return new Submission(begun, { repeatedUntil: this.#options.repeatedUntil });
  }
}

function wantedBy({ intent, answer }: { intent: IntentFacts; answer: Answer }): Wanted {
  return { expected: expectedOf(intent), othersVideo: otherParcelsVideo(intent), answer };
}
