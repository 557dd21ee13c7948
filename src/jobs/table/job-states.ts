/**
 * The states of a job, in the order in which it passes them, and what each means. docs/archive.md shows the same table.
 */
export const jobStates = {
  accepted: "The job is in the database: from now on it is finished, whatever happens to the process.",
  collecting: "Its media are being downloaded, or waited for.",
  sealing: "Nothing is added any more: the manifest is written, and the package gets its name.",
  archived: "The package is under its final name.",
  reported: "The message about the package has left the node. The job has ended.",
  failed: "The job has ended in an error.",
} as const satisfies Readonly<Record<string, string>>;

export type JobState = keyof typeof jobStates;

/**
 * The states from which each state can be reached. If sealing fails at the disk, the job goes back to collecting; so
 * does a job whose package was deleted before its message was sent.
 */
export const statesBefore: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: [],
  collecting: ["accepted", "sealing", "archived"],
  sealing: ["accepted", "collecting"],
  archived: ["sealing"],
  reported: ["archived"],
  failed: ["accepted", "collecting", "sealing"],
};

/** The states in which a job accepts further parts. */
export const openToParts: readonly JobState[] = ["accepted", "collecting"];

/** The states in which a job is resumed after a restart. */
export const unfinished: readonly JobState[] = ["accepted", "collecting", "sealing", "archived"];

/** The states of a job that has ended. */
export const endStates: readonly JobState[] = ["reported", "failed"];
