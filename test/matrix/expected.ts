import assert from "node:assert/strict";
import { endingOf, type OperationInfo, type Row } from "./row.ts";
import type { Count } from "./count.ts";

/** The expected counts of a row: the sum of its endings. */
export interface Expected extends Omit<Count, "requests" | "partial"> {
  readonly fewestRequests: number;
  readonly mostRequests: number;
}

/** An operation or a node; for a download also where it goes. */
export interface CountedOperation extends OperationInfo {
  readonly savesFile?: boolean;
}

export function expectedOf(row: Row, operations: readonly CountedOperation[]): Expected {
  const sum = { tried: 0, fewestRequests: 0, mostRequests: 0, acts: 0, ended: 0, whole: 0 };
  for (const operation of operations) {
    const ending = endingOf(row, operation);
    if (ending !== undefined) {
      sum.tried += 1;
      sum.ended += 1;
      sum.fewestRequests += ending.fewest;
      sum.mostRequests += ending.most;
      sum.acts += ending.acts;
      sum.whole += operation.savesFile === true && ending.code === undefined ? 1 : 0;
    }
  }
  return sum;
}

/** Asserts that the counts agree with the row. */
export function checkCount(count: Count, row: Row, operations: readonly CountedOperation[]): void {
  const { fewestRequests, mostRequests, ...expected } = expectedOf(row, operations);
  const { requests, ...counted } = count;
  assert.ok(expected.tried > 0, "a row that can happen to no operation");
  assert.deepEqual(counted, { ...expected, partial: 0 });
  assert.ok(requests >= fewestRequests && requests <= mostRequests, `${requests} requests`);
}
