import type { JobWork } from "../steps/job-work.ts";
import type { RunningJob } from "./running-job.ts";

/** Options for the jobs of a node; the optional ones have defaults. */
export interface RunnerOptions
  extends Pick<JobWork, "cloud" | "device" | "findMissing">, Partial<Pick<JobWork, "retry" | "poll">> {
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
}

/** A warning about an existing package, or about media that are kept although their job has ended in an error. */
export type ArchiveWarning =
  | { readonly warning: "damagedPackage" | "keptAside"; readonly values: { readonly path: string } }
  | { readonly warning: "otherMeasurement"; readonly values: { readonly id: string } };
