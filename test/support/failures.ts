import assert from "node:assert/strict";
import { inspect } from "node:util";
import { errorFacts } from "../../src/errors/code-facts.ts";
import {
  DimensionerError,
  errorCodes,
  type ErrorCode,
  type ErrorDetails,
} from "../../src/errors/dimensioner-error.ts";

/** Contained in every token and reference of the tests: no error may show it. */
export const secret = "s3cr3t";

export type ExpectedFailure = { readonly code: ErrorCode } & Partial<Omit<ErrorDetails, "hint">>;

/** Returns the error with which the promise rejects, and asserts what is promised of every error. */
export async function failureOf(promise: Promise<unknown>): Promise<DimensionerError> {
  let resolved: unknown;
  try {
    resolved = await promise;
  } catch (error) {
    assert.ok(error instanceof DimensionerError, inspect(error));
    keepsThePromises(error);
    return error;
  }
  return assert.fail(`resolved with ${inspect(resolved)}`);
}

/** Asserts a failure with these facts; other facts are ignored. */
export async function failsWith(
  promise: Promise<unknown>,
  { code, ...details }: ExpectedFailure,
): Promise<DimensionerError> {
  const error = await failureOf(promise);
  const seen = Object.fromEntries(
    Object.keys(details).map((name) => [name, Reflect.get(error.details, name)]),
  );
  assert.deepEqual({ code: error.code, ...seen }, { code, ...details }, error.message);
  return error;
}

function keepsThePromises(error: DimensionerError): void {
  const { details, message } = error;
  assert.ok(errorCodes.includes(error.code), error.code);
  assert.ok(Object.hasOwn(error, "code") && Object.hasOwn(error, "details"));
  assert.ok(error.cause === undefined || error.cause instanceof Error, inspect(error.cause));
  assert.equal(Object.getPrototypeOf(details), Object.prototype);
  assert.equal(String(error), `DimensionerError: ${message}`);
  assert.match(message, /^\S.*[.]$/s);
  assert.ok(message.length < 400, message);
  assert.doesNotMatch(message + details.hint, /__\w+__|\bundefined\b|\bnull\b|\bNaN\b|\[object/);
  assert.equal(typeof details.retryable, "boolean");
  const { outcome } = details;
  const documented = errorFacts[error.code].outcomes;
  assert.ok(outcome === null || documented.includes(outcome), `${error.code} is documented for ${outcome}`);
  if (outcome === "unknown" || outcome === "failed") {
    assert.equal(details.retryable, false);
  }
  if (details.url !== undefined) {
    const url = new URL(details.url);
    assert.equal(url.origin + url.pathname, details.url);
  }
  const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + error.stack;
  assert.ok(!everything.includes(secret), everything);
}
