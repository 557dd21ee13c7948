import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { failureOf } from "../support/failures.ts";
import { token } from "../support/operations.ts";
import { describePoint } from "./fault-points.ts";
import type { ProxiedConnection } from "./fault-proxy.ts";
import type { End } from "./operations.ts";
import type { RunResult } from "./run-operation.ts";

/** A margin for a busy machine; a run that would never end is caught by the timeout of the run itself. */
const marginMs = 60_000;

/** Asserts everything that is promised of every run. */
export async function assertPromises(result: RunResult): Promise<void> {
  const { operation, point } = result;
  try {
    const [end] = result.ends;
    assert.equal(result.ends.length, 1, "one end");
    assert.ok(end !== undefined);
    assert.ok(result.tookMs < result.limitMs + marginMs, `no operation outlives its deadline`);
    assert.equal(result.lateEvents, 0, "nothing happens after the end");
    assert.equal(result.openSockets, 0, "no socket is left open");
    assert.equal(result.openFiles, 0, "no file is left open");
    assert.equal(result.strayConnections, 0, "no connection leads elsewhere");
    assertTokenStays(result, end);
    // The sender of a webhook's posts is not a client of this package.
    if ("error" in end && operation.kind !== "webhook") {
      await assertHonestError(result, end.error);
    }
    if (operation.kind === "command") {
      assertOnce(result);
    }
    if (result.run.acts !== undefined) {
      assertDoneOnce(result, end);
    }
    if ("value" in end) {
      assertSuccess(result, end.value);
    }
    if (operation.kind !== "archive") {
      assertFiles(result, end);
    }
    assert.ifError(result.repeatError ?? null);
  } catch (error) {
    const where = `${operation.name}, ${point === null ? "no fault" : describePoint(point)}`;
    const shown = inspect(result.ends, { depth: 3, breakLength: 110 }).slice(0, 1_500);
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}\n${shown}`, {
      cause: error,
    });
  }
}

/** Asserts that the token is sent to the cloud only, in one header field, and appears nowhere else. */
function assertTokenStays({ proxiedConnections, operation, files }: RunResult, end: End): void {
  for (const connection of proxiedConnections) {
    const sent = textOf(connection.up);
    if (operation.surface !== "cloud") {
      assert.ok(!sent.includes(token), "the token went to a device");
    }
    const without = sent.replaceAll(`authorization: Bearer ${token}\r\n`, "");
    assert.ok(!without.includes(token), "the token is in more than one field");
  }
  if ("value" in end) {
    assert.ok(!inspect(end.value, { depth: 10 }).includes(token), "the token is in what came out");
  }
  for (const content of files.values()) {
    assert.ok(!content.includes(token), "the token is in a file");
  }
}

async function assertHonestError(
  { operation, bytesWritten, requests, acts }: RunResult,
  error: unknown,
): Promise<void> {
  // Asserts what is promised of every error: its sentence, its cause, and no secret in it.
  const { details } = await failureOf(
    Promise.reject(error instanceof Error ? error : new Error(String(error))),
  );
  if (operation.kind !== "command") {
    assert.equal(details.outcome, null);
    return;
  }
  const { outcome } = details;
  assert.equal(outcome === "not-sent", bytesWritten === 0, `${outcome} with ${bytesWritten} bytes written`);
  if (outcome === "not-sent") {
    assert.equal(requests.length, 0, "not sent, but it arrived");
  }
  if (outcome === "refused") {
    assert.equal(acts, 0, "refused, but done");
  }
  assert.ok(outcome !== null && outcome !== "failed");
}

/** At most one request on at most one connection. */
function assertOnce({ proxiedConnections, requests }: RunResult): void {
  const used = proxiedConnections.filter(({ up }) => up.length > 0);
  assert.ok(used.length <= 1, `bytes on ${used.length} connections`);
  const heads = used.flatMap(({ up }) => textOf(up).split("\r\n\r\n").slice(0, -1));
  assert.ok(heads.length <= 1, `${heads.length} requests`);
  assert.ok(requests.length <= 1, `${requests.length} requests arrived`);
}

/** Asserts that the device acted at most once, and exactly once where success was reported. */
function assertDoneOnce({ acts }: RunResult, end: End): void {
  assert.ok(acts <= 1, `done ${acts} times`);
  if ("value" in end) {
    assert.equal(acts, 1, "told to be done, but it was not");
  }
}

function assertSuccess({ run, proxiedConnections }: RunResult, value: unknown): void {
  run.check?.(value);
  if (typeof value === "object" && value !== null && "rawResponse" in value) {
    const [connection] = proxiedConnections.filter(({ down }) => down.length > 0);
    assert.deepEqual(
      Buffer.from(String(value.rawResponse)),
      bodyOf(connection),
      "not byte for byte what was answered",
    );
  }
}

/**
 * Asserts that a file under its final name is whole or absent, and that an existing one is untouched unless it was to
 * be replaced.
 */
function assertFiles({ run, files, failedCall }: RunResult, end: End): void {
  const hidden = [...files.keys()].filter((name) => name.startsWith("."));
  // An unfinished file may be left only where its removal failed.
  if (failedCall !== "unlink") {
    assert.deepEqual(hidden, [], "unfinished files are left");
  }
  const seen = [...files].filter(([name]) => !name.startsWith("."));
  if (run.file === undefined || run.content === undefined) {
    assert.equal(seen.length, 0, "files out of nowhere");
    return;
  }
  const { existing, ifExists } = run.file;
  for (const [name, content] of seen) {
    const isOld = existing?.name === name && content.equals(existing.content);
    assert.ok(isOld || content.equals(run.content), `${name} is not whole`);
    if (existing?.name === name && ifExists !== "replace") {
      assert.ok(isOld, `${name} was overwritten`);
    }
  }
  if (existing !== null) {
    assert.ok(files.has(existing.name), `${existing.name} is gone`);
  }
  if (!("value" in end)) {
    return;
  }
  assert.ok(
    typeof end.value === "object" && end.value !== null && "path" in end.value && "sha256" in end.value,
  );
  const { path, sha256 } = end.value;
  const [, saved] = seen.find(([name]) => String(path).endsWith(`/${name}`)) ?? [];
  assert.ok(saved !== undefined && saved.equals(run.content), "the file that was told of is not there");
  assert.equal(sha256, createHash("sha256").update(run.content).digest("hex"));
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("latin1");
}

/** The body of the only response on a connection, whose length the simulator sends. */
function bodyOf(connection: ProxiedConnection | undefined): Buffer {
  const all = Buffer.concat(connection?.down ?? []);
  return all.subarray(all.indexOf("\r\n\r\n") + 4);
}
