import { isDimensionerError } from "../../errors/dimensioner-error.ts";

/**
 * Whether a failure can pass while nobody sends anything again: a connection, a token, a disk can come back. Such a job
 * stays open. All else ends it.
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
    // The sign-in page of a network looks like a bad answer or a redirect.
    case "ERR_BAD_RESPONSE":
    // A config node can be corrected, and one that is deployed anew ends what it had begun.
    case "ERR_CONFIG":
    case "ERR_CANCELLED":
      return true;
    // A database that is damaged or newer is put right by somebody, as a disk is; a damaged row is not.
    case "ERR_STORE":
      return error.sentence !== "jobDamaged";
    case "ERR_HTTP":
      return error.details.retryable || error.sentence === "redirect" || error.details.statusCode === 403;
    case "ERR_FILE":
      return error.sentence !== "fileExists" && error.sentence !== "fileOutside";
    default:
      return false;
  }
}
