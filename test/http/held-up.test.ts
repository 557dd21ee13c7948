import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DeviceClient } from "../../src/device/client.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Values } from "../../src/errors/interpolation.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import { begin, file } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { holdUp } from "../support/hold-up.ts";
import { closesAfterEach } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { type Answer, type RawServer, reply, replyBytes, startServer } from "../support/servers.ts";

const limitMs = 300;
const longerMs = 500;

/** The server runs in the same process, so what it has written waits in the client's socket when the process goes on. */
describe("a client in a process that is held up for longer than its limit", () => {
  const opened = closesAfterEach();

  async function start(answer: Answer): Promise<{ server: RawServer; client: DeviceClient }> {
    const server = opened(await startServer(answer));
    return { server, client: opened(new DeviceClient({ address: server.origin, timeoutMs: limitMs })) };
  }

  it("takes the answer to a command that came in time", async () => {
    const { server, client } = await start((_, socket) => {
      reply(socket, { status: 200 });
      holdUp(longerMs);
    });
    await untilConnected(() => client.stopVideo());
    assert.equal(server.requests.length, 1);
  });

  it("reads on in a download that did not pause", async () => {
    const body = await untilConnected(async () => {
      const { begun } = await begin(
        opened,
        (_, socket) => {
          socket.write(replyBytes({ body: file }).subarray(0, -file.length));
          socket.write(file);
          holdUp(longerMs);
        },
        limitMs,
      );
      return readBody(begun);
    });
    assert.ok(body.equals(file));
  });

  it("does not send a command whose time has passed, although it is connected by then", async () => {
    const { server, client } = await start((_, socket) => reply(socket, { status: 200 }));
    const ended = failsWith(client.stopVideo(), { code: "ERR_UNREACHABLE", outcome: "not-sent" });
    await Promise.resolve();
    holdUp(longerMs);
    await ended;
    assert.equal(server.connections, 1, "it was connected");
    assert.equal(server.requests.length, 0);
  });

  it("does not send a command whose time has passed while it waited, although its turn comes first", async () => {
    const queues = new CommandQueues();
    const queue = queues.of("device");
    const fail = (sentence: SentenceKey, values: Values): DimensionerError =>
      new DimensionerError(sentence, { surface: "newer-device", operation: "measure" }, values);
    const wait = { queueLimit: 1, maxWaitMs: 50, signals: [], fail };
    const request = { video: undefined, waitOptions: () => wait };
    const release = await queue.waitForTurn(request);
    const waiting = failsWith(queue.waitForTurn(request), { code: "ERR_EXPIRED", outcome: null });
    holdUp(100);
    release();
    await waiting;
    assert.equal(queues.size, 0);
  });

  it("still ends a command that nobody answers", async () => {
    const { server, client } = await start(() => holdUp(longerMs));
    const ended = untilConnected(() => client.stopVideo());
    await failsWith(ended, { code: "ERR_TIMEOUT", outcome: "unknown" });
    assert.equal(server.requests.length, 1);
    await nextTurn();
  });
});

/** Again if the computer has stood still for the whole limit before there was a connection: nothing was sent then. */
async function untilConnected<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DimensionerError) || error.code !== "ERR_UNREACHABLE") {
        throw error;
      }
    }
  }
}
