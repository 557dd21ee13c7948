import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { verbatim, ProblemError, problemOf, type Problem, type Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type { Call, Peer } from "./call.ts";

/** How far a request got: the line between "certainly not executed" and "it may have been executed". */
export type Reach = "not-sent" | "sent";

const knownHostCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);
const silentCodes = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);
const tlsCodes = /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO$)/;

/** What OpenSSL makes of an answer that is no TLS, mostly of plain HTTP at an address with https. */
const notTlsCodes = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_DATA_LENGTH_TOO_LONG",
]);

/** The proxy cannot be reached or does not connect. */
export class ProxyError extends ProblemError {}

/** The failure of a call, with the outcome that its kind and its reach allow. */
export function callFailure(
  peer: Peer,
  call: Call,
  sentence: SentenceKey,
  outcome: Outcome | null,
  values: Values = {},
  more: Pick<FailureFacts, "cause" | "statusCode"> = {},
): DimensionerError {
  return new DimensionerError(
    sentence,
    { surface: peer.surface, operation: call.operation, outcome, url: peer.origin + call.path, ...more },
    { host: peer.host, path: call.path, ...call.values, ...values },
  );
}

/** What a command did when its answer is missing or unusable; null for reads. */
export function outcomeOf(call: Call, reach: Reach): Outcome | null {
  if (!call.acts) {
    return null;
  }
  return reach === "sent" ? "unknown" : "not-sent";
}

/** Before the request went out: no connection could be made. `seconds` is the limit for making one. */
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
  if (notTlsCodes.has(code)) {
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

/** After the request went out: the connection ended or what came was not HTTP. */
export function wireFailure(peer: Peer, call: Call, error: Error): DimensionerError {
  // Undici's parser errors have no code; an answer that ends too early is one of them.
  const notHttp =
    (error.name === "HTTPParserError" && !error.message.includes("EOF")) ||
    codeOf(error) === "UND_ERR_HEADERS_OVERFLOW";
  const sentence = notHttp ? "responseNotHttp" : "connectionLost";
  return callFailure(peer, call, sentence, outcomeOf(call, "sent"), {}, { cause: error });
}

/** Any status that is not the one the API promises. */
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

/** Whether TLS could not be agreed on with the peer, its certificate included. */
export function isUntrusted(error: Error): boolean {
  return tlsCodes.test(codeOf(error));
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** A dual-stack connect that fails has a code and no words; OpenSSL's words have numbers and file names around them. */
export function connectProblem(error: Error): Problem {
  const code = codeOf(error);
  if (code.startsWith("ERR_SSL_") && "reason" in error && typeof error.reason === "string") {
    return verbatim(error.reason);
  }
  if (tlsCodes.test(code)) {
    // Node.js advises how to start it: that is not for whoever reads this.
    return verbatim(error.message.replace(/;.*/s, ""));
  }
  return error.message === "" && code !== "" ? verbatim(code) : problemOf(error);
}
