import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { Outcome } from "../../src/errors/dimensioner-error.ts";
import { failsWith } from "../support/failures.ts";
import { startFullBacklog } from "../support/full-backlog.ts";
import { closesAfterEach } from "../support/opened.ts";
import { type Clients, commands, connectClients, deviceCode, reads, token } from "../support/operations.ts";
import { readBody } from "../support/read-body.ts";
import { type Answer, type RawServer, reply, replyBytes, startServer } from "../support/servers.ts";

/** The resources that keep the process alive, including sockets and timers of the tests. */
function resources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /Timeout|TCP|TLS|Immediate|Connect|GetAddr/.test(name));
}

/** The same when none of them goes any more: a destroyed socket of the test before still exists for some turns. */
async function resourcesAtRest(): Promise<string[]> {
  for (;;) {
    const { length } = resources();
    await sleep(20);
    if (resources().length >= length) {
      return resources();
    }
  }
}

/** Ends when no more is left than there was before. */
async function isLeftAs(before: readonly string[]): Promise<void> {
  while (resources().length > before.length) {
    await sleep(1);
  }
}

/** Less than any timeout of the clients here, and more than a busy machine needs. */
const soonMs = 30_000;

const cancelled = (outcome: Outcome | null) => ({ code: "ERR_CANCELLED", outcome }) as const;

describe("close ends everything, and nothing goes out afterwards", () => {
  const opened = closesAfterEach();

  async function begin(answer: Answer): Promise<{ server: RawServer; clients: Clients }> {
    const server = opened(await startServer(answer));
    return { server, clients: connectClients({ newer: server, earlier: server, cloud: server }, 60_000) };
  }

  /** Closes, and asserts that no request reaches the server afterwards. */
  async function closeAndLook(server: RawServer, clients: { close(): Promise<unknown> }): Promise<void> {
    const { requests } = server;
    const [before, since] = [requests.length, performance.now()];
    await clients.close();
    await server.allClosed();
    assert.ok(performance.now() - since < soonMs, "soon");
    await sleep(30);
    assert.equal(requests.length, before, "no request afterwards");
    assert.equal(server.sockets.size, 0, "no connection afterwards");
  }

  const underWay: Readonly<Record<string, Answer>> = {
    "no answer has begun": () => undefined,
    "a head is half there": (_, socket) => socket.write("HTTP/1.1 200 OK\r\nContent-"),
    "a body is half there": (_, socket) => socket.write(replyBytes({ body: "[1,2,3]" }).subarray(0, -3)),
  };
  for (const [name, answer] of Object.entries(underWay)) {
    it(`ends requests while ${name}`, async () => {
      const { server, clients } = await begin(answer);
      const before = resources();
      // One command for each queue; commands that wait are tested separately.
      const running = [
        ...commands.filter(({ operation }) => /^(measure|remote stop)$/.test(operation)),
        ...reads,
      ].map((one) => {
        const outcome = reads.some((read) => read === one) ? null : "unknown";
        return failsWith(one.run(clients), cancelled(outcome));
      });
      while (server.requests.length < running.length) {
        await server.next();
      }
      await closeAndLook(server, clients);
      await Promise.all(running);
      await isLeftAs(before);
    });
  }

  it("ends commands that wait in the queue", async () => {
    const { server, clients } = await begin(() => undefined);
    const arrived = server.next();
    const running = failsWith(clients.newer.measure(), cancelled("unknown"));
    await arrived;
    const waiting = [1, 2, 3].map(() => failsWith(clients.newer.startVideo(), cancelled("not-sent")));
    await closeAndLook(server, clients);
    await Promise.all([running, ...waiting]);
  });

  it("ends a connection that is being established", async () => {
    const full = opened(await startFullBacklog());
    const nobody = { origin: `http://127.0.0.1:${full.port}` };
    const before = resources();
    const clients = connectClients({ newer: nobody, earlier: nobody, cloud: nobody }, 60_000);
    const running = [
      failsWith(clients.newer.measure(), cancelled("not-sent")),
      failsWith(clients.cloud.measure(deviceCode, "x"), cancelled("not-sent")),
      failsWith(clients.earlier.ping(), cancelled(null)),
      failsWith(readBody(clients.cloud.media("1", "2")), cancelled(null)),
    ];
    while (resources().length === before.length) {
      await sleep(1);
    }
    await clients.close();
    await Promise.all(running);
    await isLeftAs(before);
  });

  it("ends a TLS handshake", async () => {
    const server = opened(await startServer(() => undefined));
    const baseUrl = server.origin.replace("http:", "https:");
    const cloud = new CloudClient({ baseUrl, token });
    const running = failsWith(cloud.measure(deviceCode, "x"), cancelled("not-sent"));
    while (server.sockets.size === 0) {
      await sleep(5);
    }
    await closeAndLook(server, cloud);
    await running;
  });

  it("ends a read that waits for its next try", async () => {
    const { server, clients } = await begin((_, socket) =>
      reply(socket, { status: 503, headers: { "retry-after": 20 } }),
    );
    const running = reads.map((read) => failsWith(read.run(clients), cancelled(null)));
    while (server.requests.length < running.length) {
      await server.next();
    }
    await sleep(20);
    await closeAndLook(server, clients);
    await Promise.all(running);
  });

  it("ends a download that runs, is paused, or waits for its next try", async () => {
    const { server, clients } = await begin(({ target }, socket: Socket) => {
      if (target.includes("lost")) {
        reply(socket, { status: 503, headers: { "retry-after": 20 } });
      } else {
        socket.write(replyBytes({ headers: { "content-length": 1e9 }, body: Buffer.alloc(1e6) }));
      }
    });
    const unread = clients.cloud.media("1", "paused");
    const running = [
      failsWith(readBody(clients.cloud.media("1", "runs")), cancelled(null)),
      failsWith(readBody(clients.cloud.media("1", "lost")), cancelled(null)),
      failsWith(readBody(clients.newer.video("download")), cancelled(null)),
      failsWith(readBody(clients.newer.image("color", "x")), cancelled(null)),
    ];
    const { body } = await unread;
    while (server.requests.length < running.length + 1) {
      await server.next();
    }
    await sleep(20);
    assert.ok(body.readableLength > 0);
    await closeAndLook(server, clients);
    await Promise.all(running);
    // Reading the body afterwards starts nothing.
    await failsWith(buffer(body), cancelled(null));
    assert.equal(server.sockets.size, 0);
  });

  it("ends the wait for media and for a video", async () => {
    const { server, clients } = await begin((_, socket) => reply(socket, { status: 404 }));
    let onWaiting: () => unknown = () => undefined;
    const bothWait = new Promise<void>((resolve) => {
      let waiting = 0;
      onWaiting = () => ++waiting === 2 && resolve();
    });
    const options = { waitMs: 60_000, onWaiting: () => onWaiting() };
    const running = [
      failsWith(readBody(clients.newer.video("stream", options)), cancelled(null)),
      failsWith(clients.cloud.waitForMedia("1", options), cancelled(null)),
    ];
    await bothWait;
    await closeAndLook(server, clients);
    await Promise.all(running);
  });

  it("closes idle connections, and fails calls that come too late", async () => {
    const { server, clients } = await begin((_, socket) => reply(socket, { body: "[]" }));
    await clients.cloud.devices();
    await clients.newer.stopVideo();
    // Less than two where a slow computer has let the time pass after which an idle one is closed.
    assert.ok(server.sockets.size === 1 || server.sockets.size === 2, `${server.sockets.size}`);
    await closeAndLook(server, clients);
    for (const command of commands) {
      await failsWith(command.run(clients), cancelled("not-sent"));
    }
    for (const read of reads) {
      await failsWith(read.run(clients), cancelled(null));
    }
    await failsWith(readBody(clients.newer.video("download")), cancelled(null));
    await clients.close();
    assert.equal(server.requests.length, 2);
  });

  it("a client that was never used has nothing to close", async () => {
    const before = await resourcesAtRest();
    const device = new DeviceClient({ address: "192.0.2.1" });
    await Promise.all([device.close(), device.close()]);
    await isLeftAs(before);
  });

  it("a hundred clients come and go and leave nothing", async () => {
    const { server } = await begin((_, socket) => reply(socket, { body: "[]" }));
    const before = await resourcesAtRest();
    for (let round = 0; round < 100; round++) {
      const cloud = new CloudClient({ baseUrl: server.origin, token });
      await cloud.devices();
      const late = cloud.terminals().catch(() => undefined);
      await cloud.close();
      await late;
    }
    await server.allClosed();
    await isLeftAs(before);
  });
});

describe("a signal of the caller", () => {
  const opened = closesAfterEach();

  it("has no listener left when the calls have ended", async () => {
    const server = opened(
      await startServer(({ index }, socket) =>
        reply(socket, { status: index === 0 ? 503 : 200, body: "[]" }),
      ),
    );
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
    const { signal } = new AbortController();
    await clients.cloud.devices({ signal });
    await Promise.all([1, 2, 3].map(() => clients.newer.stopVideo({ signal })));
    await readBody(clients.cloud.media("1", "2", { signal, contentType: "application/json" }));
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  it("ends one call, and the next one goes well", async () => {
    const server = opened(
      await startServer(({ index }, socket) => index > 0 && reply(socket, { body: "[]" })),
    );
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
    const abort = new AbortController();
    const arrived = server.next();
    const ended = failsWith(clients.cloud.devices({ signal: abort.signal }), cancelled(null));
    await arrived;
    abort.abort();
    await ended;
    assert.deepEqual(await clients.cloud.devices(), []);
  });
});
