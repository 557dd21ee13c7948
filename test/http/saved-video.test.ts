import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { DeviceClient } from "../../src/device/client.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import type { Download } from "../../src/model/download.ts";
import { readWhole } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { holdUp } from "../support/hold-up.ts";
import { closesAfterEach } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { type RawServer, reply, replyJson, startServer } from "../support/servers.ts";

const result = { errorCode: 0, measuredObjects: [] };

describe("commands and the saved video", () => {
  const opened = closesAfterEach();

  /** A device that sends its video one byte at a time until it is released. */
  async function startDevice(): Promise<{
    readonly server: RawServer;
    readonly client: DeviceClient;
    readonly queues: CommandQueues;
    has: boolean;
    finish(): void;
  }> {
    const finishers: (() => void)[] = [];
    const device = { has: true };
    const server = opened(
      await startServer(({ target }, socket) => {
        if (target.includes("measure")) {
          replyJson(socket, result);
        } else if (!/video\/(download|stream)/.test(target)) {
          reply(socket, {});
        } else if (device.has) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\0");
          finishers.push(() => socket.write("b"));
        } else {
          reply(socket, { status: 404 });
        }
      }),
    );
    const queues = new CommandQueues();
    const client = opened(new DeviceClient({ address: server.origin, queues, timeoutMs: 60_000 }));
    return Object.assign(device, {
      server,
      client,
      queues,
      finish: () => finishers.splice(0).forEach((finish) => finish()),
    });
  }

  /** A device whose first video is cut after its first byte. */
  async function startCutDevice(headers: Record<string, string>, timeoutMs = 60_000) {
    let cutFirst = (): void => undefined;
    const server = opened(
      await startServer(({ target, headers: { range } }, socket) => {
        if (!target.endsWith("video/download")) {
          reply(socket, {});
        } else if (server.requests.length === 1) {
          const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
          socket.write(`HTTP/1.1 200 OK\r\n${fields.join("")}Content-Length: 2\r\n\r\n\0`);
          cutFirst = () => socket.destroy();
        } else if (range === undefined) {
          reply(socket, { body: "\0b", headers });
        } else {
          reply(socket, { status: 206, body: "b", headers: { ...headers, "Content-Range": "bytes 1-1/2" } });
        }
      }),
    );
    const queues = new CommandQueues();
    const client = opened(new DeviceClient({ address: server.origin, queues, timeoutMs }));
    return { server: Object.assign(server, { cut: () => cutFirst() }), client, queues };
  }

  const paths = (server: RawServer): string[] => server.requests.map(({ target }) => target.slice(8));

  for (const method of ["download", "stream"] as const) {
    it(`start and cancel wait while it is transferred by ${method}; stop and measure do not`, async () => {
      const { server, client, queues, finish } = await startDevice();
      const begun = server.next();
      const transfer = readBody(client.video(method));
      await begun;
      const other = opened(new DeviceClient({ address: server.origin, queues }));
      const waits: number[] = [];
      const onWaiting = (count: number): unknown => waits.push(count);
      await other.stopVideo();
      const waiting = [other.startVideo({}, { onWaiting }), client.cancelVideo({ onWaiting })];
      await client.measure();
      assert.deepEqual(waits, [1, 2]);
      assert.deepEqual(paths(server), [`video/${method}`, "video/stop", "measure"]);
      finish();
      assert.equal((await transfer).toString(), "\0b");
      await Promise.all(waiting);
      assert.deepEqual(paths(server).slice(3), ["video/start", "video/cancel"]);
      assert.equal(queues.size, 0);
    });
  }

  it("a stop does not overtake a start that waits: nothing would end the recording", async () => {
    const { server, client, queues, finish } = await startDevice();
    const begun = server.next();
    const transfer = readBody(client.video("download"));
    await begun;
    const waits: number[] = [];
    const onWaiting = (count: number): unknown => waits.push(count);
    const waiting = [client.startVideo({}, { onWaiting }), client.stopVideo({ onWaiting })];
    await client.measure();
    assert.deepEqual(
      [waits, paths(server)],
      [
        [1, 2],
        ["video/download", "measure"],
      ],
    );
    finish();
    await Promise.all([transfer, ...waiting]);
    assert.deepEqual(paths(server).slice(2), ["video/start", "video/stop"]);
    assert.equal(queues.size, 0);
  });

  for (const end of ["dropped", "expired"] as const) {
    it(`a stop is sent once the start before it is ${end}, unless that ends both`, async () => {
      const { server, client, queues, finish } = await startDevice();
      const begun = server.next();
      const transfer = readBody(client.video("download"));
      await begun;
      const maxWaitMs = end === "expired" ? 1 : 0;
      const hasty = opened(new DeviceClient({ address: server.origin, queues, maxWaitMs }));
      const abort = new AbortController();
      const code = end === "expired" ? "ERR_EXPIRED" : "ERR_CANCELLED";
      const ended = [
        failsWith(hasty.startVideo({}, { signal: abort.signal }), { code, outcome: "not-sent" }),
        failsWith(hasty.stopVideo({ signal: abort.signal }), { code, outcome: "not-sent" }),
      ];
      const stop = client.stopVideo();
      if (end === "dropped") {
        abort.abort();
      } else {
        holdUp(10);
      }
      await Promise.all([...ended, stop]);
      assert.deepEqual(paths(server), ["video/download", "video/stop"]);
      finish();
      await transfer;
      assert.equal(queues.size, 0);
    });
  }

  it("start and cancel wait until both of two transfers have ended", async () => {
    const { server, client, finish } = await startDevice();
    const abort = new AbortController();
    const first = readBody(client.video("download", { signal: abort.signal }));
    const second = readBody(client.video("stream"));
    while (server.requests.length < 2) {
      await server.next();
    }
    const waiting = client.startVideo();
    const cancelled = failsWith(first, { code: "ERR_CANCELLED", outcome: null });
    abort.abort();
    await cancelled;
    await turn();
    assert.equal(server.requests.length, 2);
    finish();
    await second;
    await waiting;
    assert.equal(server.requests.length, 3);
  });

  for (const headers of [{}, { ETag: '"v1"' }]) {
    const how = "ETag" in headers ? "with an ETag" : "without an ETag";
    it(`start and cancel wait while a cut transfer ${how} is begun again`, async () => {
      const { server, client, queues } = await startCutDevice(headers);
      const waits: number[] = [];
      const onWaiting = (count: number): unknown => waits.push(count);
      const whole = readWhole(client.video("download"));
      await server.next();
      const waiting = [client.startVideo({}, { onWaiting }), client.cancelVideo({ onWaiting })];
      assert.deepEqual(waits, [1, 2]);
      server.cut();
      assert.equal((await whole).content.toString(), "\0b");
      await Promise.all(waiting);
      const commands = ["video/start", "video/cancel"];
      assert.deepEqual(paths(server), ["video/download", "video/download", ...commands]);
      assert.equal(queues.size, 0);
    });
  }

  it("a start waits for a restart no longer than for a byte", async () => {
    const begin = async (): Promise<{
      device: Awaited<ReturnType<typeof startCutDevice>>;
      download: Download;
    }> => {
      const device = await startCutDevice({}, 400);
      try {
        return { device, download: await device.client.video("download") };
      } catch (error) {
        // On a computer that stands still for a while, the limit ends it before it has begun: then once more.
        if (error instanceof DimensionerError && /^ERR_(?:UNREACHABLE|TIMEOUT)$/.test(error.code)) {
          return begin();
        }
        throw error;
      }
    };
    const { device, download } = await begin();
    const { server, queues } = device;
    const patient = opened(new DeviceClient({ address: server.origin, queues, timeoutMs: 60_000 }));
    const waiting = patient.startVideo();
    const since = performance.now();
    server.cut();
    await assert.rejects(buffer(download.body));
    await waiting;
    assert.ok(performance.now() - since > 300);
    assert.deepEqual(paths(server), ["video/download", "video/start"]);
  });

  it("a start no longer waits for a restart that is aborted, or when the client is closed", async () => {
    for (const end of ["abort", "close"] as const) {
      const { server, client, queues } = await startCutDevice({});
      const other = opened(new DeviceClient({ address: server.origin, queues }));
      const abort = new AbortController();
      const download = await client.video("download", { signal: abort.signal });
      const waiting = other.startVideo();
      server.cut();
      await assert.rejects(buffer(download.body));
      if (end === "abort") {
        const restarted = failsWith(download.restart(), { code: "ERR_CANCELLED", outcome: null });
        abort.abort();
        await restarted;
      } else {
        await client.close();
      }
      await waiting;
      assert.deepEqual([paths(server), queues.size], [["video/download", "video/start"], 0]);
    }
  });

  it("all commands are sent while the video is only waited for", async () => {
    const device = await startDevice();
    device.has = false;
    const { server, client } = device;
    const asked = new Promise<void>((resolve) => {
      void client.video("download", { waitMs: 60_000, onWaiting: resolve }).catch(() => undefined);
    });
    await asked;
    await client.startVideo();
    await client.cancelVideo();
    assert.deepEqual(
      paths(server).filter((path) => path !== "video/download"),
      ["video/start", "video/cancel"],
    );
  });

  it("a download waits for a video that is not there yet", async () => {
    const device = await startDevice();
    device.has = false;
    let times = 0;
    const transfer = readBody(
      device.client.video("download", {
        waitMs: 60_000,
        onWaiting: () => {
          device.has = ++times === 2;
        },
      }),
    );
    while (device.server.requests.length < 3) {
      await device.server.next();
    }
    device.finish();
    const content = await transfer;
    assert.deepEqual([times, content.toString()], [2, "\0b"]);
  });

  it("a download gives up after the wait, and at once without one", async () => {
    const device = await startDevice();
    device.has = false;
    const noVideo = { code: "ERR_NO_VIDEO", outcome: null, statusCode: 404, retryable: true } as const;
    await failsWith(readBody(device.client.video("download")), noVideo);
    assert.equal(device.server.requests.length, 1);
    const since = performance.now();
    await failsWith(readBody(device.client.video("stream", { waitMs: 300 })), noVideo);
    const took = performance.now() - since;
    assert.ok(took >= 299 && took < 60_000, `${took} ms`);
    assert.equal(device.queues.size, 0);
  });

  it("the wait's signal ends the wait, but not the transfer after it", async () => {
    const device = await startDevice();
    const reset = new AbortController();
    const begun = device.server.next();
    const transfer = readBody(device.client.video("download", { waitSignal: reset.signal }));
    await begun;
    reset.abort("reset");
    device.finish();
    await transfer;
    device.has = false;
    const again = new AbortController();
    const dropped = readBody(
      device.client.video("download", {
        waitMs: 60_000,
        waitSignal: again.signal,
        onWaiting: () => again.abort("reset"),
      }),
    );
    const error = await failsWith(dropped, { code: "ERR_CANCELLED", outcome: null });
    assert.equal(error.sentence, "cancelledReset");
  });
});
