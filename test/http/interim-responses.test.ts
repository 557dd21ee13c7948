import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { closesAfterEach, manyAtOnce } from "../support/opened.ts";
import { connectClients } from "../support/operations.ts";
import { replyBytes, startServer } from "../support/servers.ts";
import { identity, pem } from "../support/tls.ts";

const answer = replyBytes({ body: '{"errorCode":0,"measuredObjects":[]}' });
const list = replyBytes({ body: "[]" });

/** How long the client keeps a connection of reads that is idle. */
const readKeepAliveMs = 4_000;

/** Interim responses (RFC 9110, 15.2) that nobody asked for. */
const interim: Readonly<Record<string, string>> = {
  "100 Continue": "HTTP/1.1 100 Continue\r\n\r\n",
  "100 with a field and no reason": "HTTP/1.1 100 \r\nX-Field: 1\r\n\r\n",
  "two 100 Continue": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
  "102 Processing": "HTTP/1.1 102 Processing\r\n\r\n",
  "103 Early Hints": "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n",
  "103, 100 and 102":
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
};

/** How the bytes are sent: in one piece, in two, or each on its own. */
const deliveries: Readonly<Record<string, (socket: Socket, bytes: Buffer, headBytes: number) => unknown>> = {
  "with the answer": (socket, bytes) => socket.write(bytes),
  "before the answer": (socket, bytes, headBytes) => {
    socket.write(bytes.subarray(0, headBytes));
    setTimeout(() => socket.write(bytes.subarray(headBytes)), 20);
  },
  "byte by byte": async (socket, bytes) => {
    for (const byte of bytes) {
      socket.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
};

describe("an interim response that nobody asked for", () => {
  const rows = Object.entries(interim).flatMap(([what, head]) =>
    Object.entries(deliveries).map(([how, deliver]) => [`${what}, ${how}`, { head, deliver }] as const),
  );
  manyAtOnce(Object.fromEntries(rows), async ({ head, deliver }, opened) => {
    const server = opened(
      await startServer(({ target }, socket) => {
        const body = target.includes("measure") ? answer : list;
        deliver(socket, Buffer.concat([Buffer.from(head), body]), head.length);
      }),
    );
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
    // Each request succeeds, is sent once, and leaves the connection usable.
    const isUsable = async (): Promise<boolean> => {
      const [before, since] = [server.requests.length, performance.now()];
      for (let round = 0; round < 2; round++) {
        assert.equal((await clients.newer.measure()).result.ok, false);
        assert.deepEqual(await clients.cloud.devices(), []);
      }
      const requests = server.requests.slice(before);
      assert.equal(requests.length, 4);
      const [first, second] = requests.filter(({ target }) => target === "/api/deviceclients");
      const isSame = first?.connection === second?.connection;
      // The client closes a connection that was idle for seconds, as it is on a slow computer: then once more.
      assert.ok(isSame || performance.now() - since >= readKeepAliveMs / 2, "another connection");
      return isSame;
    };
    while (!(await isUsable())) {}
  });

  const opened = closesAfterEach();

  it("is passed over on an encrypted connection too", async () => {
    const server = opened(
      await startServer(
        (_, socket) => socket.write(Buffer.concat([Buffer.from(interim["100 Continue"] ?? ""), list])),
        { tls: identity("good") },
      ),
    );
    const clients = opened(
      connectClients({ newer: server, earlier: server, cloud: server }, 60_000, { ca: pem("authority.crt") }),
    );
    assert.deepEqual(await clients.cloud.devices(), []);
    assert.deepEqual(await clients.cloud.terminals(), []);
  });

  it("in the middle of a body is a part of the body", async () => {
    const bytes = Buffer.from("\0b HTTP/1.1 100 Continue\r\n\r\n");
    const server = opened(
      await startServer((_, socket) => {
        socket.write(replyBytes({ headers: { "content-length": bytes.length } }));
        setTimeout(() => socket.write(bytes.subarray(0, 3)), 10);
        setTimeout(() => socket.write(bytes.subarray(3)), 30);
      }),
    );
    const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
    const { body } = await clients.cloud.media("1", "2");
    assert.ok(Buffer.concat(await body.toArray()).equals(bytes));
  });
});
