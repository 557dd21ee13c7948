import type { ErrorCode } from "./codes.ts";

/**
 * A text that says what happened and what to do next. A name between two underscores on each side is a placeholder;
 * src/errors/interpolation.ts fills it in.
 */
export interface Wording {
  readonly text: string;
  readonly hint: string;
  /**
   * The text in the nodes, which speak of settings, messages and deploying where the library speaks of options and
   * calls.
   */
  readonly inNode?: { readonly text?: string; readonly hint?: string };
}

/** The texts of one kind of failure. */
export interface Sentence extends Wording {
  readonly code: ErrorCode;
  /** Whether the same request may succeed later although nothing was changed. */
  readonly retryable?: true;
  /** The text if a command may have been executed, because then something else is to be done next. */
  readonly unknownOutcome?: Wording;
  /** The text for the cloud, a gateway and a time stamp server: none of them has a power switch or Enable Local API. */
  readonly cloud?: Wording;
}
