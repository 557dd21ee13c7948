import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { isTaken, isUnknown } from "../table/is-taken.ts";

/**
 * Whether a failure can disappear without another message: a connection, a token or a disk may come back. Such a job
 * stays open; any other failure ends it.
 */
export function isRetryableJob(error: unknown): boolean {
  if (!isDimensionerError(error)) {
    return false;
  }
  switch (error.code) {
    case "ERR_UNREACHABLE":
    case "ERR_TIMEOUT":
    case "ERR_CONNECTION_LOST":
    case "ERR_UNAUTHORIZED":
    // The sign-in page of a network looks like an invalid response or a redirect.
    case "ERR_BAD_RESPONSE":
    // Somebody may select a video mode again, and the device has its video until the next start.
    case "ERR_WRONG_MODE":
    // A config node can be corrected, and its deploy aborts what was running.
    case "ERR_CONFIG":
      return true;
    case "ERR_CANCELLED":
      return !isTaken(error);
    // Somebody can repair a damaged or newer database, like a disk, but not a damaged row or a lost one.
    case "ERR_STORE":
      return error.sentence !== "jobDamaged" && !isUnknown(error);
    case "ERR_HTTP":
      return error.details.retryable || error.sentence === "redirect" || error.details.statusCode === 403;
    case "ERR_FILE":
      return error.sentence !== "fileExists" && error.sentence !== "fileOutside";
    default:
      return false;
  }
}
