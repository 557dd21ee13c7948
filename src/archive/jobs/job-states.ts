/**
 * The states of a job, in the order in which it passes them, and what each means. docs/archive.md shows the same table.
 */
export const jobStates = {
  accepted: "The job is in the database: from now on it is finished, whatever happens to the process.",
  collecting: "Its media are being downloaded, or waited for.",
  sealing: "Nothing is added any more: the manifest is written, and the package gets its name.",
  archived: "The package is under its final name.",
  told: "The message about the package has left the node. The job has ended.",
  failed: "The job has ended in an error.",
} as const satisfies Readonly<Record<string, string>>;

export type JobState = keyof typeof jobStates;

/**
 * From which states each state can be reached. Sealing that the disk refuses goes back to collecting; so does a job whose package
 * is gone before its message was sent.
 */
export const statesBefore: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: [],
  collecting: ["accepted", "sealing", "archived"],
  sealing: ["accepted", "collecting"],
  archived: ["sealing"],
  told: ["archived"],
  failed: ["accepted", "collecting", "sealing"],
};

/** While a job is in one of these, a further part of it can join. */
export const openToParts: readonly JobState[] = ["accepted", "collecting"];

/** A job in one of these goes on after a restart. */
export const unfinished: readonly JobState[] = ["accepted", "collecting", "sealing", "archived"];

/** A job in one of these has ended. */
export const endStates: readonly JobState[] = ["told", "failed"];
