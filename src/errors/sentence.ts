import type { ErrorCode } from "./codes.ts";

/**
 * What happened and what to do next. A name between two underscores each is filled in when the error is made;
 * src/errors/interpolation.ts says with what.
 */
export interface Wording {
  readonly text: string;
  readonly hint: string;
  /** What the nodes say instead: they speak of settings, messages and deploying, the library of options and calls. */
  readonly inNode?: { readonly text?: string; readonly hint?: string };
}

/** One way to fail, in words. */
export interface Sentence extends Wording {
  readonly code: ErrorCode;
  /** The same request may succeed later with nothing changed. */
  readonly retryable?: true;
  /** Said where a command may have been executed: what to do next is another thing then. */
  readonly unknownOutcome?: Wording;
  /** Said of the cloud, and of a gateway that stands for it: neither has a power switch or Enable Local API. */
  readonly cloud?: Wording;
}
