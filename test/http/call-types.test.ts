import assert from "node:assert/strict";
import type { Call, Command, Read } from "../../src/http/call.ts";
import type { Transport } from "../../src/http/transport.ts";

type Takes<TMethod extends "send" | "read" | "download", TCall> = TCall extends Parameters<
  Transport[TMethod]
>[0]
  ? true
  : false;

describe("the types of calls", () => {
  it("let nothing that repeats take a command, and nothing that acts take a read", () => {
    // The compiler refuses a value that is not the type's own answer: a slip in the types ends the build.
    const sendTakes: [Takes<"send", Command>, Takes<"send", Read>] = [true, false];
    const readTakes: [Takes<"read", Read>, Takes<"read", Command>] = [true, false];
    const downloadTakes: [Takes<"download", Read>, Takes<"download", Command>] = [true, false];
    assert.deepEqual(
      [sendTakes, readTakes, downloadTakes],
      [
        [true, false],
        [true, false],
        [true, false],
      ],
    );
    // Whoever does not know which of the two it is can do nothing with it.
    const unknownOne: [
      [Call] extends [Parameters<Transport["send"]>[0]] ? true : false,
      [Call] extends [Parameters<Transport["read"]>[0]] ? true : false,
    ] = [false, false];
    assert.deepEqual(unknownOne, [false, false]);
  });
});
