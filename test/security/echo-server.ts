import type { Socket } from "node:net";
import { reply, replyBytes, startServer, type RawRequest, type RawServer } from "../support/servers.ts";

/** Each answers with what it was shown, somewhere in an answer that cannot be used. */
const responses: readonly ((socket: Socket, shown: string) => void)[] = [
  (socket, shown) => reply(socket, { status: 500, body: shown }),
  (socket, shown) =>
    reply(socket, { status: 401, headers: { "www-authenticate": `Bearer ${shown}` }, body: shown }),
  (socket, shown) => reply(socket, { status: 302, headers: { location: `http://127.0.0.1:9/?t=${shown}` } }),
  (socket, shown) => reply(socket, { headers: { "content-type": "application/json" }, body: shown }),
  (socket, shown) => reply(socket, { body: JSON.stringify([{ [shown]: shown }]) }),
  (socket, shown) => reply(socket, { body: JSON.stringify({ [shown]: [shown] }) }),
  (socket, shown) => reply(socket, { headers: { "content-type": "text/html" }, body: `<html>${shown}` }),
  (socket, shown) => socket.end(`${shown}\r\n\r\n`),
  (socket, shown) => reply(socket, { headers: { "content-encoding": shown }, body: "[]" }),
  (socket, shown) => reply(socket, { status: 206, headers: { "content-range": shown }, body: "[]" }),
  (socket, shown) => reply(socket, { headers: { "content-range": `bytes ${shown}` }, body: "[]" }),
  (socket, shown) =>
    socket.end(`HTTP/1.1 503 ${shown}\r\nretry-after: ${shown}\r\ncontent-length: 0\r\n\r\n`),
  (socket, shown) => socket.end(`HTTP/1.1 200 OK\r\n${shown}: 1\r\ncontent-length: 2\r\n\r\n[]`),
  (socket, shown) => socket.end(replyBytes({ body: JSON.stringify([shown]) }).subarray(0, -4)),
  (socket, shown) => reply(socket, { status: 404, headers: { etag: `"${shown}"` }, body: shown }),
  (socket, shown) => reply(socket, { status: 200, headers: { "content-length": shown }, body: shown }),
];

export const echoResponses = responses.length;

/** A cloud that says back what the Authorization header of a request says, in another way each time. */
export function startEchoServer(): Promise<RawServer> {
  return startServer(({ headers, index }: RawRequest, socket) => {
    const [, shown = ""] = (headers["authorization"] ?? "").split(" ");
    responses[index % responses.length]?.(socket, shown);
  });
}
