import type { Socket } from "node:net";
import { reply, replyBytes, startServer, type RawRequest, type RawServer } from "../support/servers.ts";

/** Each response contains the echoed text, and cannot be used. */
const responses: readonly ((socket: Socket, echoed: string) => void)[] = [
  (socket, echoed) => reply(socket, { status: 500, body: echoed }),
  (socket, echoed) =>
    reply(socket, { status: 401, headers: { "www-authenticate": `Bearer ${echoed}` }, body: echoed }),
  (socket, echoed) =>
    reply(socket, { status: 302, headers: { location: `http://127.0.0.1:9/?t=${echoed}` } }),
  (socket, echoed) => reply(socket, { headers: { "content-type": "application/json" }, body: echoed }),
  (socket, echoed) => reply(socket, { body: JSON.stringify([{ [echoed]: echoed }]) }),
  (socket, echoed) => reply(socket, { body: JSON.stringify({ [echoed]: [echoed] }) }),
  (socket, echoed) => reply(socket, { headers: { "content-type": "text/html" }, body: `<html>${echoed}` }),
  (socket, echoed) => socket.end(`${echoed}\r\n\r\n`),
  (socket, echoed) => reply(socket, { headers: { "content-encoding": echoed }, body: "[]" }),
  (socket, echoed) => reply(socket, { status: 206, headers: { "content-range": echoed }, body: "[]" }),
  (socket, echoed) => reply(socket, { headers: { "content-range": `bytes ${echoed}` }, body: "[]" }),
  (socket, echoed) =>
    socket.end(`HTTP/1.1 503 ${echoed}\r\nretry-after: ${echoed}\r\ncontent-length: 0\r\n\r\n`),
  (socket, echoed) => socket.end(`HTTP/1.1 200 OK\r\n${echoed}: 1\r\ncontent-length: 2\r\n\r\n[]`),
  (socket, echoed) => socket.end(replyBytes({ body: JSON.stringify([echoed]) }).subarray(0, -4)),
  (socket, echoed) => reply(socket, { status: 404, headers: { etag: `"${echoed}"` }, body: echoed }),
  (socket, echoed) => reply(socket, { status: 200, headers: { "content-length": echoed }, body: echoed }),
];

export const echoResponses = responses.length;

/** A cloud that echoes the Authorization header of a request, in another way each time. */
export function startEchoServer(): Promise<RawServer> {
  return startServer(({ headers, index }: RawRequest, socket) => {
    const [, echoed = ""] = (headers["authorization"] ?? "").split(" ");
    responses[index % responses.length]?.(socket, echoed);
  });
}
