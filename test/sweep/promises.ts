import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { failureOf } from "../support/failures.ts";
import { token } from "../support/operations.ts";
import { sayPoint } from "./fault-points.ts";
import type { Conversation } from "./relay.ts";
import type { End } from "./operations.ts";
import type { TrialResult } from "./trial.ts";

/** A margin for a machine that is busy with other things; what would never end is caught by the trial itself. */
const marginMs = 10_000;

/** Holds one run against everything that is promised of every run. */
export async function assertPromises(result: TrialResult): Promise<void> {
  const { operation, point } = result;
  try {
    const [end] = result.ends;
    assert.equal(result.ends.length, 1, "one end");
    assert.ok(end !== undefined);
    assert.ok(result.tookMs < result.limitMs + marginMs, `no operation outlives its deadline`);
    assert.equal(result.lateSigns, 0, "nothing happens after the end");
    assert.equal(result.openSockets, 0, "no socket is left open");
    assert.equal(result.openFiles, 0, "no file is left open");
    assert.equal(result.strayConnections, 0, "no connection leads elsewhere");
    assertTokenStays(result, end);
    // What posts to a webhook is no client of ours.
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
    assert.ifError(result.aftermath ?? null);
  } catch (error) {
    const where = `${operation.name}, ${point === null ? "no fault" : sayPoint(point)}`;
    const shown = inspect(result.ends, { depth: 3, breakLength: 110 }).slice(0, 1_500);
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}\n${shown}`, {
      cause: error,
    });
  }
}

/** The token goes to the cloud alone, in one header field, and comes out nowhere. */
function assertTokenStays({ conversations, operation, files }: TrialResult, end: End): void {
  for (const line of conversations) {
    const sent = textOf(line.up);
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
  { operation, bytesWritten, requests, acts }: TrialResult,
  error: unknown,
): Promise<void> {
  // Holds every error against what all errors promise: its sentence, its cause, no secret in it.
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
function assertOnce({ conversations, requests }: TrialResult): void {
  const used = conversations.filter(({ up }) => up.length > 0);
  assert.ok(used.length <= 1, `bytes on ${used.length} connections`);
  const heads = used.flatMap(({ up }) => textOf(up).split("\r\n\r\n").slice(0, -1));
  assert.ok(heads.length <= 1, `${heads.length} requests`);
  assert.ok(requests.length <= 1, `${requests.length} requests arrived`);
}

/** At most one act, and where it is told that it was done, exactly one. */
function assertDoneOnce({ acts }: TrialResult, end: End): void {
  assert.ok(acts <= 1, `done ${acts} times`);
  if ("value" in end) {
    assert.equal(acts, 1, "told to be done, but it was not");
  }
}

function assertSuccess({ run, conversations }: TrialResult, value: unknown): void {
  run.check?.(value);
  if (typeof value === "object" && value !== null && "rawResponse" in value) {
    const [line] = conversations.filter(({ down }) => down.length > 0);
    assert.deepEqual(
      Buffer.from(String(value.rawResponse)),
      bodyOf(line),
      "not byte for byte what was answered",
    );
  }
}

/** Under its final name a file is whole or absent; what stood there is untouched unless it was to be replaced. */
function assertFiles({ run, files, brokenCall }: TrialResult, end: End): void {
  const hidden = [...files.keys()].filter((name) => name.startsWith("."));
  // Only where its removal failed can something be left.
  if (brokenCall !== "unlink") {
    assert.deepEqual(hidden, [], "unfinished files are left");
  }
  const seen = [...files].filter(([name]) => !name.startsWith("."));
  if (run.file === undefined || run.content === undefined) {
    assert.equal(seen.length, 0, "files out of nowhere");
    return;
  }
  const { standing, ifExists } = run.file;
  for (const [name, content] of seen) {
    const isOld = standing?.name === name && content.equals(standing.content);
    assert.ok(isOld || content.equals(run.content), `${name} is not whole`);
    if (standing?.name === name && ifExists !== "replace") {
      assert.ok(isOld, `${name} was overwritten`);
    }
  }
  if (standing !== null) {
    assert.ok(files.has(standing.name), `${standing.name} is gone`);
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

/** The body of the only answer on a connection; the simulator gives its length. */
function bodyOf(line: Conversation | undefined): Buffer {
  const all = Buffer.concat(line?.down ?? []);
  return all.subarray(all.indexOf("\r\n\r\n") + 4);
}
