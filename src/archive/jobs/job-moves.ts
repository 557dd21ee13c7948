import type { Archived } from "./sealing.ts";

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
