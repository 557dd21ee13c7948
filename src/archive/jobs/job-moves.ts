import type { Archived } from "./sealing.ts";

/** The steps of a job. Those from `device` to `download` are one look: everybody is asked once for what is missing. */
export type StepName = "prepare" | "device" | "find" | "list" | "download" | "seal" | "keep";

/** A pause for what is missing, for the cloud's list to settle, or after a failure. */
export interface Pause {
  readonly againInMs: number;
  readonly why: "failure" | "missing" | "settling";
}

/** What a step of a job has led to: its next step, a pause, or its end. */
export type Move = { readonly to: StepName } | Pause | { readonly archived: Archived };
