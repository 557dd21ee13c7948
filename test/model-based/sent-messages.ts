import assert from "node:assert/strict";
import type { NodeError } from "../../src/runtime/status/node-status.ts";
import type { End, Sent } from "../support/flow.ts";
import { routes, idOf, timeoutMs } from "./flow-nodes.ts";
import type { NodeName } from "./steps.ts";

/** A message that was handed to a node, and what became of it. */
export interface SentMessage {
  readonly id: string;
  readonly to: NodeName;
  readonly reference: string;
  readonly sentAt: number;
  ended?: End;
  endedAt: number;
  /** How many messages had left any node when its node began to close. */
  sentAtClose?: number;
  /** A reset or a deploy has come meanwhile. */
  mayBeCancelled: boolean;
}

/** What Node-RED's hooks have seen since the sequence began. */
export interface Seen {
  readonly ends: readonly End[];
  readonly sent: readonly Sent[];
}

/** Asserts that a message has ended once: in one output before its node began to close, or in one error that is true. */
export function assertEnd(one: SentMessage, seen: Seen): void {
  const isMine = (msgId: unknown, nodeId: string): boolean => msgId === one.id && nodeId === idOf(one.to);
  const ends = seen.ends.filter(({ msgId, nodeId }) => isMine(msgId, nodeId));
  assert.equal(ends.length, 1, `${one.to} ${one.reference} has ended ${ends.length} times`);
  const sent = seen.sent
    .map((message, index) => ({ ...message, index }))
    .filter(({ msg, nodeId }) => isMine(msg["_msgid"], nodeId));
  const error = one.ended?.error;
  assert.equal(
    sent.length,
    error === undefined ? 1 : 0,
    `${one.to}: ${sent.length} outputs, ${String(error)}`,
  );
  for (const { msg, index } of sent) {
    assert.equal(msg["untouched"], one.reference);
    assert.ok(
      index < (one.sentAtClose ?? Number.POSITIVE_INFINITY),
      `${one.to} has sent after its close began`,
    );
  }
  if (error !== undefined) {
    assertError(one, error);
  }
}

/** Asserts what an error says, apart from its outcome, which `compareWithModel` compares with the requests. */
function assertError(one: SentMessage, error: NodeError): void {
  const { outcome } = error.cause;
  assert.equal(
    outcome === null,
    routes[one.to] === undefined,
    `${one.to}: ${error.code}, outcome ${outcome}`,
  );
  assert.notEqual(error.code, "ERR_EXPIRED", "nothing waited for as long as that");
  assert.notEqual(error.code, "ERR_FILE", `the disk is well, but ${error.message}`);
  if (error.code === "ERR_CANCELLED") {
    assert.ok(one.mayBeCancelled, `${one.to} was cancelled by nobody`);
  }
  if (error.code === "ERR_TIMEOUT") {
    // Timers round, so a deadline can pass a few milliseconds early.
    assert.ok(one.endedAt - one.sentAt > timeoutMs - 5, `${one.to} was given up before its deadline`);
  }
}
