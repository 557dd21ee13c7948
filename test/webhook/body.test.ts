import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { discardBody, readBody } from "../../src/webhook/body.ts";

describe("webhook/body", () => {
  let server: Server;
  let socket: Socket;

  /** A request that has announced 100 bytes and sent these. */
  const receive = async (sent: string): Promise<IncomingMessage> => {
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    socket = connect(address.port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n${sent}`);
    const [request] = (await once(server, "request")) as [IncomingMessage];
    return request;
  };

  beforeEach(async () => {
    server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("gives up a body that does not come to its end in time", async () => {
    assert.equal(await readBody(await receive("{"), 1000, 20), 408);
  });

  it("gives up a body that goes on after the limit, before its end", async () => {
    assert.equal(await readBody(await receive("x".repeat(20)), 10, 60_000), 413);
  });

  it("stops throwing away when the time or the limit is over, or the sender is gone", async () => {
    await discardBody(await receive("{"), 1000, 20);
    socket.destroy();
    await discardBody(await receive("x".repeat(20)), 10, 60_000);
    socket.destroy();
    const gone = discardBody(await receive("{"), 1000, 60_000);
    socket.destroy();
    await gone;
  });

  it("takes over what a body parser of the site has read", async () => {
    for (const [body, bytes] of [
      [{ id: 1 }, '{"id":1}'],
      ['{"id":2}', '{"id":2}'],
      [Buffer.from("abc"), "abc"],
    ] as const) {
      const request = await receive("x".repeat(100));
      await text(request);
      Object.assign(request, { body });
      assert.deepEqual(await readBody(request, 100, 1000), Buffer.from(bytes));
      assert.equal(await readBody(request, 2, 1000), 413);
      socket.destroy();
    }
  });
});
