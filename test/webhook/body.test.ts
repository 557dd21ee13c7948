import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { discardBody, readBody } from "../../src/webhook/posted-record.ts";
import { Room } from "../../src/webhook/room.ts";
import { holdUp } from "../support/hold-up.ts";

describe("reading the body of a post", () => {
  let server: Server;
  let socket: Socket;
  const room = new Room();

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
    assert.equal(await readBody(await receive("{"), 1000, 20, room), 408);
  });

  it("takes a body that came in time to a process that is held up", async () => {
    const body = readBody(await receive("{"), 1000, 300, room);
    socket.write("x".repeat(99));
    holdUp(500);
    assert.deepEqual(await body, Buffer.from(`{${"x".repeat(99)}`));
  });

  it("gives up a body that goes on after the limit, before its end", async () => {
    assert.equal(await readBody(await receive("x".repeat(20)), 10, 60_000, room), 413);
  });

  it("refuses a body where as many are under way as may be, or as many bytes, and gives the room back", async () => {
    const few = { items: 1, bytes: 50 };
    const request = await receive("x".repeat(40));
    const first = readBody(request, 1000, 60_000, room, few);
    assert.equal(await readBody(request, 1000, 60_000, room, few), 503, "a second body");
    socket.write("x".repeat(20));
    assert.equal(await first, 503, "too many bytes");
    socket.destroy();
    const next = readBody(await receive("x".repeat(40)), 1000, 60_000, room, few);
    socket.write("x".repeat(10));
    socket.destroy();
    assert.equal(await next, null, "the sender is gone");
    assert.equal(room.items, 0);
  });

  it("has room for 500 bodies, and for 32 MB of them, where no other limit is given", async () => {
    const bodies = new Room();
    Array.from({ length: 499 }).forEach(() => bodies.take(0));
    const request = await receive("{");
    const last = readBody(request, 1000, 60_000, bodies);
    assert.equal(await readBody(request, 1000, 60_000, bodies), 503, "one more");
    bodies.take(32_000_000 - 99, 0);
    socket.write("x".repeat(99));
    assert.equal(await last, 503, "one byte more");
  });

  it("puts a body together that comes a byte at a time", async () => {
    const request = await receive("");
    const body = readBody(request, 1000, 60_000, room);
    const text = Array.from({ length: 100 }, (_, index) => String(index % 10)).join("");
    for (const byte of text) {
      request.emit("data", Buffer.from(byte));
    }
    request.emit("end");
    assert.equal((await body)?.toString(), text);
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
      assert.deepEqual(await readBody(request, 100, 1000, room), Buffer.from(bytes));
      assert.equal(await readBody(request, 2, 1000, room), 413);
      socket.destroy();
    }
  });

  it("refuses what a body parser of the site has read if it is nested too deeply to be a record", async () => {
    const request = await receive("x".repeat(100));
    await text(request);
    Object.assign(request, { body: JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown });
    assert.equal(await readBody(request, 1_000_000, 1000, room), 400);
  });
});
