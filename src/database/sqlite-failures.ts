import { DimensionerError } from "../errors/dimensioner-error.ts";
import { problemOf, verbatim } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { resultCodes } from "./sqlite-errors.ts";
import type { Failure } from "./sqlite-messages.ts";

/** The sentences for result codes that people can do something about. */
const sentenceOfResult: ReadonlyMap<number, SentenceKey> = new Map([
  [resultCodes.permission, "storeDenied"],
  [resultCodes.busy, "storeLocked"],
  [resultCodes.locked, "storeLocked"],
  [resultCodes.readOnly, "storeDenied"],
  [resultCodes.full, "storeFull"],
]);

/** Creates the ERR_STORE for a database that could not be opened, or a transaction that failed. */
export function failureError(path: string, failure: Failure): DimensionerError {
  switch (failure.reason) {
    case "in-use":
      return storeError("storeInUse", { path });
    case "newer-schema":
      return storeError("storeNewer", { path });
    case "closed":
      return closedError(path);
    case "foreign":
      return storeError("storeForeign", { path });
    case "damaged":
      return storeError("storeDamaged", { path, problem: verbatim(failure.message) });
    case "replaced":
      return storeError("storeReplaced", { path });
    case "failed": {
      const sentence = sentenceOfResult.get(failure.resultCode) ?? "storeFailed";
      return storeError(sentence, { path, problem: verbatim(failure.message) });
    }
  }
}

/** Creates the ERR_STORE for an error of the system: at the path itself, or one that ended the thread. */
export function systemError(path: string, error: unknown): DimensionerError {
  return storeError("storeFailed", { path, problem: problemOf(error) }, error);
}

/** Creates the ERR_STORE for a disk that does not answer. */
export function unansweredError(path: string, withinMs: number): DimensionerError {
  return storeError("storeUnanswered", { path, seconds: withinMs / 1000 });
}

/** Creates the ERR_STORE for a transaction after the close. */
export function closedError(path: string): DimensionerError {
  return storeError("storeClosed", { path });
}

function storeError(
  sentence: SentenceKey,
  values: ConstructorParameters<typeof DimensionerError>[2],
  cause?: unknown,
): DimensionerError {
  return new DimensionerError(sentence, { surface: "store", operation: "store", cause }, values);
}
