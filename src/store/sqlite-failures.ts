import { DimensionerError } from "../errors/dimensioner-error.ts";
import { problemOf, verbatim } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type { OpenFailure, SqliteFailure } from "./sqlite-messages.ts";

/** SQLite's primary result codes (sqlite.org/rescode.html) that people can do something about. */
const sentenceOfResult: ReadonlyMap<number, SentenceKey> = new Map([
  [3, "storeDenied"],
  [5, "storeInUse"],
  [6, "storeInUse"],
  [8, "storeDenied"],
  [11, "storeDamaged"],
  [13, "storeFull"],
  [26, "storeDamaged"],
]);

/** ERR_STORE for a database that could not be opened. */
export function openError(path: string, failure: OpenFailure): DimensionerError {
  switch (failure.reason) {
    case "damaged":
      return storeError("storeDamaged", { path, problem: verbatim(failure.message) });
    case "newer-schema":
      return storeError("storeNewer", { path });
    case "failed":
      return statementError(path, failure.failure);
  }
}

/** ERR_STORE for what SQLite said. */
export function statementError(path: string, { resultCode, message }: SqliteFailure): DimensionerError {
  return storeError(sentenceOfResult.get(resultCode) ?? "storeFailed", { path, problem: verbatim(message) });
}

/** ERR_STORE for what ended the thread. */
export function threadError(path: string, error: unknown): DimensionerError {
  return storeError("storeFailed", { path, problem: problemOf(error) }, error);
}

/** ERR_STORE for a disk that does not answer. */
export function unansweredError(path: string, withinMs: number): DimensionerError {
  return storeError("storeUnanswered", { path, seconds: withinMs / 1000 });
}

/** ERR_STORE for what comes when the database has been closed. */
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
