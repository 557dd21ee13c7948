import assert from "node:assert/strict";
import { inspect } from "node:util";
import { DimensionerError, errorCodes, type ErrorCause, type ErrorCode } from "../../src/errors.ts";

/** Stands in every token and reference of the tests: no error may show it. */
export const secret = "s3cr3t";

export type ExpectedFailure = { readonly code: ErrorCode } & Partial<Omit<ErrorCause, "hint">>;

/** The error that the promise rejects with, held against the promises that hold for every error. */
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

/** Expects a failure with these facts; what is not named is not looked at. */
export async function failsWith(
  promise: Promise<unknown>,
  { code, ...cause }: ExpectedFailure,
): Promise<DimensionerError> {
  const error = await failureOf(promise);
  const seen = Object.fromEntries(Object.keys(cause).map((name) => [name, Reflect.get(error.cause, name)]));
  assert.deepEqual({ code: error.code, ...seen }, { code, ...cause }, error.message);
  return error;
}

function keepsThePromises(error: DimensionerError): void {
  const { cause, message } = error;
  assert.ok(errorCodes.includes(error.code), error.code);
  assert.ok(Object.hasOwn(error, "code") && Object.hasOwn(error, "cause"));
  assert.equal(Object.getPrototypeOf(cause), Object.prototype);
  assert.equal(String(error), message);
  assert.match(message, /^\S.*[.]$/s);
  assert.ok(message.length < 400, message);
  assert.doesNotMatch(message + cause.hint, /__\w+__|undefined|null|NaN|\[object/);
  assert.equal(typeof cause.retryable, "boolean");
  if (cause.outcome === "unknown" || cause.outcome === "failed") {
    assert.equal(cause.retryable, false);
  }
  if (cause.url !== undefined) {
    const url = new URL(cause.url);
    assert.equal(url.origin + url.pathname, cause.url);
  }
  const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + error.stack;
  assert.ok(!everything.includes(secret), everything);
}
