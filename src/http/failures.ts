import { existsSync } from "node:fs";
import { codeOf, connectProblem, isNotTls, isTlsAlert, isUntrusted } from "../errors/connect-problem.ts";
import { DimensionerError, type FailureFacts, type Outcome } from "../errors/dimensioner-error.ts";
import { ProblemError, type Values, phrase, problemOf, verbatim } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type { Call, Peer } from "./call.ts";

/** Whether a request was sent: the difference between "certainly not executed" and "may have been executed". */
export type RequestProgress = "not-sent" | "sent";

const knownHostCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);
const silentCodes = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

const isThisComputer = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/;

/** Whether this process runs in a container, as Docker, Podman, systemd and Kubernetes show it. */
export function isInContainer(): boolean {
  return (
    process.env["container"] !== undefined ||
    process.env["KUBERNETES_SERVICE_HOST"] !== undefined ||
    existsSync("/.dockerenv") ||
    existsSync("/run/.containerenv")
  );
}

/** The proxy cannot be reached, or refuses the tunnel. */
export class ProxyError extends ProblemError {}

/** Creates the error of a call. */
export function callFailure(
  peer: Peer,
  call: Call,
  sentence: SentenceKey,
  outcome: Outcome | null,
  values: Values = {},
  more: Pick<FailureFacts, "cause" | "statusCode" | "errorCode" | "rawResponse"> = {},
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
  const cause = error instanceof ProxyError ? error.cause : error;
  const values = { seconds, problem: connectProblem(error) };
  return callFailure(peer, call, connectSentence(peer, error), outcomeOf(call, "not-sent"), values, {
    cause,
  });
}

/** Why no connection could be made. */
export function connectSentence({ origin }: Pick<Peer, "origin">, error: Error): SentenceKey {
  const code = codeOf(error);
  const host = new URL(origin).hostname;
  if (code === "ECONNREFUSED") {
    const isItself = isThisComputer.test(host) && !(error instanceof ProxyError) && isInContainer();
    return isItself ? "unreachableContainer" : "unreachableRefused";
  }
  if (knownHostCodes.has(code)) {
    return /\.local\.?$/.test(host) ? "unreachableLocal" : "unreachableHost";
  }
  if (silentCodes.has(code)) {
    return "unreachableSilent";
  }
  if (isNotTls(error)) {
    return "unreachableNotTls";
  }
  if (isUntrusted(error)) {
    return "unreachableTls";
  }
  return error instanceof ProxyError ? "unreachableProxy" : "unreachableOther";
}

/** How much of a body has arrived, of how much was announced; null where no length was. */
export interface Received {
  readonly bytes: number;
  readonly announced: number | null;
}

/** What undici's parser says of what it has read; all of it are texts of its own. */
const ofParser = /^Response does not match the HTTP\/1\.1 protocol \(([\w ,./'-]{1,100})\)$/;
/** What it says of an answer that does not even begin as HTTP does. */
const notHttp = /^Expected HTTP/;

/** Whether a text that is no JSON has what a device has measured: gateways have error codes, but no measured objects. */
export function hasMeasured(text: string): boolean {
  return /\bmeasuredObjects\b/i.test(text);
}

/** How many characters of what is no HTTP the error of a command keeps: each takes three bytes at most. */
const mostUnread = 20_000;

/** The error after the request was sent: the connection ended, or the response was not HTTP. */
export function wireFailure(
  peer: Peer,
  call: Call,
  error: Error,
  { bytes, announced }: Received,
): DimensionerError {
  const data = "data" in error && typeof error.data === "string" ? error.data : "";
  const unread = (peer.hide?.(data) ?? data).slice(0, mostUnread);
  const more = { cause: error, ...(call.acts && unread !== "" && { rawResponse: unread }) };
  const fail = (sentence: SentenceKey, values: Values = {}): DimensionerError =>
    callFailure(peer, call, sentence, outcomeOf(call, "sent"), values, more);
  // Undici's parser errors have no code.
  if (error.name === "HTTPParserError" && !error.message.includes("EOF")) {
    const said = ofParser.exec(error.message)?.[1];
    if (said !== undefined && !notHttp.test(said)) {
      return fail("responseBroken", { problem: verbatim(said) });
    }
    if (call.acts && hasMeasured(unread)) {
      return fail("responseFaulty", { problem: verbatim(said ?? error.message) });
    }
    return fail(isTlsAlert(error) ? "responseOnlyTls" : "responseNotHttp");
  }
  if (announced !== null && bytes < announced) {
    return fail("connectionShort", { problem: phrase("bytesOf", { bytes, total: announced }) });
  }
  const contradictory = ["UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"];
  if (contradictory.includes(codeOf(error))) {
    return fail("responseBroken", { problem: problemOf(error) });
  }
  return fail(isUnanswered(error) ? "connectionUnanswered" : "connectionLost");
}

/** Whether the peer has closed a new connection without a single byte, as a server does that expects TLS. */
function isUnanswered(error: Error): boolean {
  const { socket } = "socket" in error ? error : { socket: null };
  return (
    codeOf(error) === "UND_ERR_SOCKET" &&
    typeof socket === "object" &&
    socket !== null &&
    "bytesRead" in socket &&
    socket.bytesRead === 0
  );
}

/** The error for a status that the API does not promise. */
export function statusFailure(peer: Peer, call: Call, statusCode: number): DimensionerError {
  const passing = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  let sentence: SentenceKey = passing ? "httpBusy" : "http";
  // That of 304 is no other address: the answer is in a cache which nobody has asked.
  if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) {
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
