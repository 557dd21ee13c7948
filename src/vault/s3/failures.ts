import { connectProblem, isNotTls, isUntrusted } from "../../errors/connect-problem.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, ProblemError, problemOf, type Values } from "../../errors/interpolation.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import type { BucketAddress } from "./bucket-address.ts";
import { childText, readXml } from "./xml.ts";

/** The answer of an object store that has refused a request, or could not serve it. */
export class BucketRefusal extends Error {
  readonly status: number;
  /** S3's own, such as `NoSuchBucket`; blank if the answer has none. */
  readonly code: string;
  /** The time of the object store's clock; NaN if it has not said it. */
  readonly storeTimeMs: number;
  /** The bucket's region, where that is what was wrong. */
  readonly region: string | undefined;

  /** Whether a request to read was answered as if nothing were there, but not by an object store: something else was reached. */
  readonly isStray: boolean;

  constructor(status: number, headers: Readonly<Record<string, unknown>>, text: string, method?: string) {
    const xml = readXml(text);
    const code = childText(xml, "Code") ?? "";
    const said = childText(xml, "Message");
    super([code === "" ? `HTTP ${status}` : code, said].filter(Boolean).join(": "));
    this.status = status;
    this.code = code;
    this.isStray = status === 404 && code === "" && method === "GET";
    this.storeTimeMs = Date.parse(String(headers["date"]));
    const region = headers["x-amz-bucket-region"] ?? childText(xml, "Region");
    this.region = typeof region === "string" ? region : undefined;
  }
}

const sentenceOfCode: ReadonlyMap<string, SentenceKey> = new Map([
  ["NoSuchBucket", "bucketMissing"],
  // Of a listing: the endpoint has the name of the bucket, too.
  ["NoSuchKey", "bucketMissing"],
  ["RequestTimeTooSkewed", "bucketClock"],
  ["ExpiredToken", "bucketExpired"],
  ["ExpiredTokenException", "bucketExpired"],
  ["TokenRefreshRequired", "bucketExpired"],
  ["PermanentRedirect", "bucketRegion"],
  ["AuthorizationHeaderMalformed", "bucketRegion"],
]);

/** The request was too slow, or another one for the same object ran at the same time. */
const passingCodes: ReadonlySet<string> = new Set([
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeout",
]);
/** How object stores say that an object must not be deleted: S3 has no code for it. */
const protection = /object ?lock|\bworm\b|immutab|protected|retention|retained|(?:legal|active) ?hold/i;
/** How they say that a bucket has no Object Lock, and not that a request needs something else because of it. */
const noLock =
  /(?:missing|without|no|not have) (?:an? )?object ?lock|object ?lock (?:is )?(?:disabled|not (?:configured|enabled|supported))/i;
const busyStatus: ReadonlySet<number> = new Set([429, 503]);
const brokenStatus: ReadonlySet<number> = new Set([500, 502, 504]);

/** Whether the same request may succeed a moment later. */
export function mayPass(error: unknown): boolean {
  if (error instanceof BucketRefusal) {
    return error.isStray || isBroken(error) || isBusy(error) || passingCodes.has(error.code);
  }
  return !(error instanceof DimensionerError || error instanceof ProblemError);
}

/**
 * Whether there is no such object or upload. A missing bucket is another matter, and so is a proxy that does not reach the object
 * store; the answer to HEAD, which has no body, cannot tell.
 */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof BucketRefusal && error.status === 404 && error.code !== "NoSuchBucket" && !error.isStray
  );
}

/** Whether the object store does not have this kind of request. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof BucketRefusal && (error.status === 405 || error.status === 501);
}

/** Whether temporary credentials have ended. */
export function isExpired(error: unknown): boolean {
  return error instanceof BucketRefusal && sentenceOf(error) === "bucketExpired";
}

/** Throws the ProblemError for an answer as no S3-compatible store gives it. */
export function notS3(): never {
  throw new ProblemError(phrase("bucketNotS3"));
}

/** Creates the ERR_STORE for a request that has failed for good. */
export function bucketError(address: BucketAddress, operation: string, error: unknown): DimensionerError {
  if (error instanceof DimensionerError) {
    return error;
  }
  const facts = { surface: "store", operation, cause: error } as const;
  const values: Values = { path: address.name, name: address.bucket, host: address.origin };
  if (error instanceof ProblemError) {
    return new DimensionerError("bucketFailed", facts, { ...values, problem: error.problem });
  }
  if (!(error instanceof BucketRefusal)) {
    return new DimensionerError(connectSentence(error), facts, { ...values, problem: connectProblem(error) });
  }
  const offMs = Math.abs(Date.now() - error.storeTimeMs);
  const count = Number.isNaN(offMs) ? 15 : Math.max(1, Math.round(offMs / 60_000));
  const problem = problemOf(error);
  const isProtected = operation === "delete" && isRefused(error) && protection.test(error.message);
  return new DimensionerError(isProtected ? "bucketProtected" : sentenceOf(error), facts, {
    ...values,
    problem,
    count,
    value: error.region ?? "?",
  });
}

function connectSentence(error: unknown): SentenceKey {
  if (isNotTls(error)) {
    return "bucketNotTls";
  }
  return isUntrusted(error) ? "bucketTls" : "bucketUnreachable";
}

function sentenceOf(error: BucketRefusal): SentenceKey {
  const known = sentenceOfCode.get(error.code);
  if (known === "bucketRegion" || (known === undefined && error.status === 301)) {
    return error.region === undefined ? "bucketFailed" : "bucketRegion";
  }
  if (known !== undefined) {
    return known;
  }
  if (noLock.test(error.message)) {
    return "bucketNoLock";
  }
  if (isDenied(error)) {
    return "bucketDenied";
  }
  return isBusy(error) ? "bucketBusy" : "bucketFailed";
}

function isDenied({ status }: BucketRefusal): boolean {
  return status === 401 || status === 403;
}

/** As object stores answer what they could serve. */
function isRefused({ status }: BucketRefusal): boolean {
  return status === 400 || status === 403 || status === 409;
}

function isBusy({ status, code }: BucketRefusal): boolean {
  return busyStatus.has(status) || code === "SlowDown";
}

function isBroken({ status, code }: BucketRefusal): boolean {
  return brokenStatus.has(status) || code === "InternalError";
}
