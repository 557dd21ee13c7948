import assert from "node:assert/strict";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { MessageMemory } from "../../src/runtime/action/message.ts";
import { farList } from "../support/far-list.ts";

const call = { operation: "measure", surface: "config", acts: true } as const;
const megabyte = Buffer.alloc(1e6);

function jobWith(payload: unknown): { msg: { _msgid: string; payload: unknown } } {
  return { msg: { _msgid: "", payload } };
}

describe("what the messages of a node keep in memory", () => {
  it("is found in a list whose few elements are billions apart", () => {
    const memory = new MessageMemory(call);
    memory.hold(jobWith(Array(999).fill(megabyte)));
    memory.hold(jobWith(farList([megabyte])));
    assert.throws(
      () => memory.hold(jobWith(farList([megabyte]))),
      (error) => isDimensionerError(error) && error.code === "ERR_QUEUE_FULL",
    );
  });

  it("is found behind many elements of a list", () => {
    const memory = new MessageMemory(call);
    memory.hold(jobWith(Array(999).fill(megabyte)));
    assert.throws(
      () => memory.hold(jobWith([...Array(1_000_000).fill(0), megabyte, megabyte])),
      (error) => isDimensionerError(error) && error.code === "ERR_QUEUE_FULL",
    );
  });
});
