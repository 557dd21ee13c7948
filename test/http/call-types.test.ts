import assert from "node:assert/strict";
import type { Call, Command, Read } from "../../src/http/call.ts";
import type { startDownload } from "../../src/http/download.ts";
import type { readAnswer } from "../../src/http/read.ts";
import type { Transport } from "../../src/http/transport.ts";

/** What sends a call: the transport itself, and what repeats. */
interface Senders {
  readonly send: Parameters<Transport["send"]>[0];
  readonly ask: Parameters<Transport["ask"]>[0];
  readonly read: Parameters<typeof readAnswer>[1];
  readonly download: Parameters<typeof startDownload>[1];
}

type Takes<TSender extends keyof Senders, TCall> = TCall extends Senders[TSender] ? true : false;

describe("the types of calls", () => {
  it("let nothing that repeats take a command, and nothing that acts take a read", () => {
    // The compiler refuses a value that is not the type's own answer: a slip in the types ends the build.
    const askTakes: [Takes<"ask", Read>, Takes<"ask", Command>] = [true, false];
    const sendTakes: [Takes<"send", Command>, Takes<"send", Read>] = [true, false];
    const readTakes: [Takes<"read", Read>, Takes<"read", Command>] = [true, false];
    const downloadTakes: [Takes<"download", Read>, Takes<"download", Command>] = [true, false];
    assert.deepEqual(
      [askTakes, sendTakes, readTakes, downloadTakes],
      [
        [true, false],
        [true, false],
        [true, false],
        [true, false],
      ],
    );
    // Whoever does not know which of the two it is can do nothing with it.
    const unknownOne: [
      [Call] extends [Senders["send"]] ? true : false,
      [Call] extends [Senders["ask"]] ? true : false,
    ] = [false, false];
    assert.deepEqual(unknownOne, [false, false]);
  });
});
