import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Read } from "../../src/http/call.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import { startDownload } from "../../src/http/download.ts";
import { Transport, defaultQueueRules } from "../../src/http/transport.ts";
import type { Download } from "../../src/model/download.ts";
import type { Opened } from "./opened.ts";
import { type Answer, type RawServer, reply, replyBytes, startServer } from "./servers.ts";

export const read: Read = { acts: false, operation: "media", method: "GET", path: "/media", query: "q=1" };

/** Two versions of one picture: hardly a byte of one stands at the same place in the other. */
const [first, second] = ["first", "second"].map((name) => {
  const block = createHash("sha512").update(name).digest();
  const comment = Buffer.concat(Array.from({ length: 512 }, () => block));
  return Buffer.concat([Buffer.from("ffd8fffe8002", "hex"), comment, Buffer.from("ffd9", "hex")]);
});
export const [file, other] = [first ?? Buffer.alloc(0), second ?? Buffer.alloc(0)];
export const size = file.length;

/** Announces the whole body, sends a part and closes the connection. */
export function cut(socket: Socket, bytes: Buffer, at: number, headers: Record<string, string> = {}): void {
  const whole = replyBytes({ body: bytes, headers });
  socket.end(whole.subarray(0, whole.length - bytes.length + at));
}

export function rest(
  socket: Socket,
  bytes: Buffer,
  from: number,
  headers: Record<string, string> = {},
): void {
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  reply(socket, { status: 206, headers: { "content-range": range, ...headers }, body: bytes.subarray(from) });
}

/** The result of a download, and how often it was restarted. */
export interface Whole {
  readonly download: Download;
  readonly content: Buffer;
  readonly restarts: number;
}

/** Reads a download, and restarts it where that is possible. */
export async function readWhole(begun: Promise<Download>): Promise<Whole> {
  let download = await begun;
  for (let restarts = 0; ; restarts++) {
    try {
      return { download, content: await buffer(download.body), restarts };
    } catch {
      download = await download.restart();
    }
  }
}

interface Run {
  readonly server: RawServer;
  readonly transport: Transport;
  readonly begun: Promise<Download>;
}

/** Starts a server with these responses, and a download from it. */
export async function begin(opened: Opened, answer: Answer, timeoutMs = 60_000): Promise<Run> {
  const server = opened(await startServer(answer));
  const peer = { surface: "cloud", origin: server.origin, host: "cloud" } as const;
  const queues = new CommandQueues();
  const transport = opened(new Transport({ peer, timeoutMs, queues, ...defaultQueueRules }));
  return { server, transport, begun: startDownload(transport, read, "medium") };
}

export const etag = { etag: '"v1"', "content-type": "Video/MP4; codecs=x" };
