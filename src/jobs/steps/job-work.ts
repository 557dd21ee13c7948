import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { CollectedMedia } from "./collected-media.ts";
import type { JobStore } from "./job-store.ts";
import type { JobTroubles } from "./job-troubles.ts";
import type { FindMissing, DeviceSource, MediaSource } from "./media-source.ts";
import type { OpenJob } from "../table/open-job.ts";
import type { Archived } from "../seal/job-results.ts";

/**
 * The steps of a job. Those from `device` to `download` form a round, in which every source is asked once for what is
 * missing.
 */
export type StepName = "prepare" | "device" | "find" | "list" | "download" | "seal" | "keep";

/** A pause for missing media, for the cloud's list to settle, or after a failure. */
export interface Pause {
  readonly againInMs: number;
  readonly why: "failure" | "missing" | "settling";
}

/** The result of a step: the next step, a pause, or the end of the job. */
export type Move = { readonly to: StepName } | Pause | { readonly archived: Archived };

/** The pauses after failures. */
export interface RetryRules {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pauses between the rounds of a job that waits for media. */
export interface PollRules {
  readonly firstMs: number;
  readonly longestMs: number;
  /**
   * How long each further request keeps its place in the queue, so that many waiting jobs do not flood a fast cloud.
   */
  readonly paceMs: number;
}

/** What the steps of all jobs of one node use. */
export interface JobWork {
  /** Returns the cloud of a job; throws ERR_CONFIG if there is none. */
  readonly cloud: (job: OpenJob) => MediaSource;
  /** Returns the device that measured; throws ERR_CONFIG if it is not deployed. */
  readonly device: (job: OpenJob) => DeviceSource;
  readonly findMissing: FindMissing;
  readonly retry: RetryRules;
  readonly poll: PollRules;
  readonly troubles: JobTroubles;
  /** Called with a damaged package of the same job. */
  readonly onDamaged: (path: string) => void;
}

/** A job as its steps use it. */
export interface StepJob {
  readonly job: OpenJob;
  readonly root: JobStore;
  readonly seen: CollectedMedia;
  /** Aborts when the job is stopped, with the error to end with. */
  readonly signal: AbortSignal;
  /** False after a wait for media, or after a failure. */
  readonly isFirstTry: boolean;
  /** Whether another process or a closed node may have worked on it. */
  readonly isTakenOver: boolean;
  /** Whether its media may have changed since they were stored. */
  readonly isUnchecked: boolean;
  /** Whether something has arrived since the last round began. */
  hasNews: boolean;
  /** The number of failures in a row. */
  failures: number;
  /** The error that holds it up at the moment. */
  trouble: DimensionerError | undefined;
  /** To be called when its media are checked. */
  endCheck(): void;
  /** Begins another round at once, or after the present one. */
  wake(): void;
  /** Ends the wait: its media are there, or it is to end. */
  endWait(): void;
  /** Resets the failures after a success. */
  resetFailures(): void;
  /** Notes the progress of a download. */
  setBytes(doneBytes: number, totalBytes: number | null): void;
}
