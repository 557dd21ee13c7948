import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Search } from "../find/transaction-finder.ts";
import type { CollectedMedia } from "./collected-media.ts";
import type { JobStore } from "./job-store.ts";
import type { FindMissing, DeviceSource, MediaSource } from "./media-source.ts";
import type { OpenJob } from "./open-job.ts";

/** How a job is tried again after a failure. */
export interface RetryRules {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** How often is asked for media that are not there yet. */
export interface PollRules {
  readonly firstMs: number;
  readonly longestMs: number;
  /** So long each further question keeps its place, so that many waiting jobs do not flood a cloud that answers fast. */
  readonly paceMs: number;
}

/** What the steps of all jobs of one node work with. */
export interface JobWork {
  /** The cloud of a job; throws ERR_CONFIG while there is none. */
  readonly cloud: (job: OpenJob) => MediaSource;
  /** The device that measured; throws ERR_CONFIG while it is not deployed. */
  readonly device: (job: OpenJob) => DeviceSource;
  readonly findMissing: FindMissing;
  readonly retry: RetryRules;
  readonly poll: PollRules;
  /** Told of a damaged package that the same job has already. */
  readonly onDamaged: (path: string) => void;
}

/** A job as its steps see it. */
export interface StepJob {
  readonly job: OpenJob;
  readonly root: JobStore;
  readonly seen: CollectedMedia;
  /** Aborts when the job is stopped; its reason is the error to end with. */
  readonly signal: AbortSignal;
  /** False once it has waited for media, or after a failure. */
  readonly isFirstTry: boolean;
  /** Whether another process, or a node that is closed, may have worked on it. */
  readonly isTakenOver: boolean;
  /** Whether its media may not be any more what was stored. */
  isUnchecked: boolean;
  /** Whether something has come since the last look began. */
  hasNews: boolean;
  /** Failures in a row. */
  failures: number;
  /** What keeps it from going on right now. */
  trouble: DimensionerError | undefined;
  /** Has a webhook's record that may be of its measurement wake it. */
  watchFor(search: Search): void;
  stopWatching(): void;
  /** Its media are there, or it is to end: nothing more is waited for. */
  endWait(): void;
  /** Something has been achieved: what went wrong before is over. */
  resetFailures(): void;
  /** How much of a download is there. */
  setBytes(doneBytes: number, totalBytes: number | null): void;
}
