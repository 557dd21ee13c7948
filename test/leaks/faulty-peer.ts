import {
  startServer,
  reply,
  replyBytes,
  resetAfter,
  type Answer,
  type RawServer,
} from "../support/servers.ts";

const ok = { headers: { "content-type": "application/json" }, body: "{}" };

/** The ways in which a peer can fail. */
const faults: readonly Answer[] = [
  (_request, socket) => socket.resetAndDestroy(),
  (_request, socket) => socket.end(),
  (_request, socket) => reply(socket, { status: 500, body: "<html>" }),
  (_request, socket) => reply(socket, { status: 429, body: "{" }),
  (_request, socket) => socket.end(replyBytes({ ...ok, body: "x".repeat(400) }).subarray(0, 200)),
  (_request, socket) => reply(socket, { status: 404 }),
  (_request, socket) => reply(socket, { status: 302, headers: { location: "http://127.0.0.1:9/" } }),
  (_request, socket) => reply(socket, { headers: { "content-type": "text/html" }, body: "<html>" }),
  (_request, socket) => socket.end("220 not HTTP\r\n"),
  // No response until the deadline.
  () => undefined,
  (_request, socket) => resetAfter(socket, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1234"),
  (_request, socket) => reply(socket, { headers: { "x-long": "x".repeat(40_000) } }),
];

/** A device and cloud that fails each request in another way than the one before. */
export function startFaultyPeer(): Promise<RawServer> {
  return startServer((request, socket) => faults[request.index % faults.length]?.(request, socket));
}
