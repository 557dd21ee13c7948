import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Failure } from "./sqlite-messages.ts";

/** The primary result codes of SQLite (sqlite.org/rescode.html) that are treated differently. */
export const resultCodes = {
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  notADatabase: 26,
} as const;

/** SQLite's result codes for some errors of the system. */
const resultOfSystem: ReadonlyMap<string, number> = new Map([
  ["EACCES", resultCodes.readOnly],
  ["EPERM", resultCodes.readOnly],
  ["EROFS", resultCodes.readOnly],
  ["ENOSPC", resultCodes.full],
  ["EDQUOT", resultCodes.full],
]);

/** The primary result code of an error that node:sqlite threw; 0 if it is not SQLite's. */
export function resultCodeOf(error: unknown): number {
  const code = error instanceof Error && "errcode" in error ? error.errcode : 0;
  // The upper bits hold the extension: 266 is SQLITE_IOERR_READ, one kind of SQLITE_IOERR (10).
  return typeof code === "number" ? code & 0xff : 0;
}

export function describeFailure(error: unknown): Failure {
  const resultCode = resultCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return resultCode === resultCodes.corrupt || resultCode === resultCodes.notADatabase
    ? { reason: "damaged", message }
    : { reason: "failed", resultCode, message };
}

/** Like `describeFailure`. SQLite does not say why a file cannot be opened, so the system is asked. */
export function describeOpenFailure(error: unknown, file: string): Failure {
  const failure = describeFailure(error);
  if (failure.reason !== "failed") {
    return failure;
  }
  const cause =
    failure.resultCode === resultCodes.cannotOpen ? (problemOfFolder(dirname(file)) ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return {
    reason: "failed",
    resultCode: resultOfSystem.get(code) ?? failure.resultCode,
    message: cause instanceof Error ? cause.message : failure.message,
  };
}

function problemOfFolder(folder: string): unknown {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}
