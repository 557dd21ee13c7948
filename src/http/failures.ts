import { codeOf, connectProblem, isNotTls, isUntrusted } from "../errors/connect-problem.ts";
import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { ProblemError, type Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type { Call, Peer } from "./call.ts";

/** Whether a request was sent: the difference between "certainly not executed" and "may have been executed". */
export type RequestProgress = "not-sent" | "sent";

const knownHostCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);
const silentCodes = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

/** The proxy cannot be reached, or refuses the tunnel. */
export class ProxyError extends ProblemError {}

/** Creates the error of a call. */
export function callFailure(
  peer: Peer,
  call: Call,
  sentence: SentenceKey,
  outcome: Outcome | null,
  values: Values = {},
  more: Pick<FailureFacts, "cause" | "statusCode" | "rawResponse"> = {},
): DimensionerError {
  return new DimensionerError(
    sentence,
    { surface: peer.surface, operation: call.operation, outcome, url: peer.origin + call.path, ...more },
    { host: peer.host, path: call.path, ...call.values, ...values },
  );
}

/** The outcome of a command whose response is missing or unusable; null for reads. */
export function outcomeOf(call: Call, progress: RequestProgress): Outcome | null {
  if (!call.acts) {
    return null;
  }
  return progress === "sent" ? "unknown" : "not-sent";
}

/** The error if no connection could be made, so that nothing was sent. `seconds` is the limit for making one. */
export function connectFailure(peer: Peer, call: Call, error: Error, seconds: number): DimensionerError {
  const code = codeOf(error);
  const outcome = outcomeOf(call, "not-sent");
  const cause = error instanceof ProxyError ? error.cause : error;
  const fail = (sentence: SentenceKey): DimensionerError =>
    callFailure(peer, call, sentence, outcome, { seconds, problem: connectProblem(error) }, { cause });
  if (code === "ECONNREFUSED") {
    return fail("unreachableRefused");
  }
  if (knownHostCodes.has(code)) {
    return fail("unreachableHost");
  }
  if (silentCodes.has(code)) {
    return fail("unreachableSilent");
  }
  if (isNotTls(error)) {
    return fail("unreachableNotTls");
  }
  if (isUntrusted(error)) {
    return fail("unreachableTls");
  }
  if (error instanceof ProxyError) {
    return fail("unreachableProxy");
  }
  return fail("unreachableOther");
}

/** The error after the request was sent: the connection ended, or the response was not HTTP. */
export function wireFailure(peer: Peer, call: Call, error: Error): DimensionerError {
  // Undici's parser errors have no code. A response that ends too early is one of them.
  const notHttp =
    (error.name === "HTTPParserError" && !error.message.includes("EOF")) ||
    codeOf(error) === "UND_ERR_HEADERS_OVERFLOW";
  const sentence = notHttp ? "responseNotHttp" : "connectionLost";
  return callFailure(peer, call, sentence, outcomeOf(call, "sent"), {}, { cause: error });
}

/** The error for a status that the API does not promise. */
export function statusFailure(peer: Peer, call: Call, statusCode: number): DimensionerError {
  const passing = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  let sentence: SentenceKey = passing ? "httpBusy" : "http";
  if (statusCode >= 300 && statusCode < 400) {
    sentence = "redirect";
  } else if (statusCode === 404) {
    sentence = "notFound";
  }
  const refused = statusCode >= 300 && statusCode < 500 && statusCode !== 408;
  const outcome = call.acts && refused ? "refused" : outcomeOf(call, "sent");
  return callFailure(
    peer,
    call,
    call.statuses?.[statusCode] ?? sentence,
    outcome,
    { statusCode },
    { statusCode },
  );
}
