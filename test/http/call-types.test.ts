import assert from "node:assert/strict";
import type { Call, Command, Read } from "../../src/http/call.ts";
import type { startDownload } from "../../src/http/download.ts";
import type { Transport, readResponse } from "../../src/http/transport.ts";

/** The functions that send calls: those of the transport, and those that repeat. */
interface Senders {
  readonly sendCommand: Parameters<Transport["sendCommand"]>[0];
  readonly sendRead: Parameters<Transport["sendRead"]>[0];
  readonly read: Parameters<typeof readResponse>[1];
  readonly download: Parameters<typeof startDownload>[1];
}

type Takes<TSender extends keyof Senders, TCall> = TCall extends Senders[TSender] ? true : false;

describe("the types of calls", () => {
  it("accept a command only where it is sent once, and a read only where it may be repeated", () => {
    // Each type is true or false by itself, and the compiler accepts no other value: a mistake in the types fails the build.
    const sendReadTakes: [Takes<"sendRead", Read>, Takes<"sendRead", Command>] = [true, false];
    const sendCommandTakes: [Takes<"sendCommand", Command>, Takes<"sendCommand", Read>] = [true, false];
    const readTakes: [Takes<"read", Read>, Takes<"read", Command>] = [true, false];
    const downloadTakes: [Takes<"download", Read>, Takes<"download", Command>] = [true, false];
    assert.deepEqual(
      [sendReadTakes, sendCommandTakes, readTakes, downloadTakes],
      [
        [true, false],
        [true, false],
        [true, false],
        [true, false],
      ],
    );
    // A call that may be either of the two can be sent by neither.
    const unknownOne: [
      [Call] extends [Senders["sendCommand"]] ? true : false,
      [Call] extends [Senders["sendRead"]] ? true : false,
    ] = [false, false];
    assert.deepEqual(unknownOne, [false, false]);
  });
});
