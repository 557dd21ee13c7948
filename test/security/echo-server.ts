import type { Socket } from "node:net";
import { reply, replyBytes, startServer, type RawRequest, type RawServer } from "../support/servers.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const escaped = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** What a cloud could say of a measurement, and in its lists. */
const words: readonly ((echoed: string) => string)[] = [
  (echoed) => JSON.stringify({ errorCode: 7, errorMessage: echoed, transactionReference: echoed }),
  (echoed) => JSON.stringify({ errorCode: 7, errorMessage: `Not valid: ${encodeURIComponent(echoed)}` }),
  (echoed) => JSON.stringify({ errorCode: 7, errorMessage: base64(`user:${echoed}`) }),
  (echoed) => `{"errorCode":7,"errorMessage":"${escaped(echoed)}"}`,
  (echoed) => JSON.stringify({ errorCode: 7, errorMessage: `${"x".repeat(190)}${echoed}` }),
  (echoed) =>
    JSON.stringify([
      { id: echoed, contentId: "1", contentType: "image/jpeg", description: echoed, name: echoed },
    ]),
  (echoed) => `{"errorCode":7,"${echoed.replace(/["\\]/g, "\\$&")}":NaN}`,
];

/** Each response contains the echoed text. */
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
  (socket, echoed) =>
    reply(socket, {
      headers: { "content-type": `image/${echoed}` },
      body: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9]),
    }),
  ...words.map((say) => (socket: Socket, echoed: string) => reply(socket, { body: say(echoed) })),
];

export const echoResponses = responses.length;

/** A cloud that echoes the Authorization header of a request, in another way each time. */
export function startEchoServer(): Promise<RawServer> {
  return startServer(({ headers, index }: RawRequest, socket) => {
    const [, echoed = ""] = (headers["authorization"] ?? "").split(" ");
    responses[index % responses.length]?.(socket, echoed);
  });
}
