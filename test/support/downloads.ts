import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { Read } from "../../src/http/call.ts";
import { Transport } from "../../src/http/transport.ts";
import type { DownloadFacts } from "../../src/model/download.ts";
import { MemorySink } from "./memory-sink.ts";
import type { Opened } from "./opened.ts";
import { reply, replyBytes, startServer, type Answer, type RawServer } from "./servers.ts";

export const read: Read = { acts: false, operation: "media", method: "GET", path: "/media", query: "q=1" };

/** Two versions of one file: no byte of one stands at the same place in the other. */
const versions = ["first", "second"].map((name) => {
  const block = createHash("sha512").update(name).digest();
  return Buffer.concat(Array.from({ length: 512 }, () => block));
});
export const [file, other] = [versions[0] ?? Buffer.alloc(0), versions[1] ?? Buffer.alloc(0)];
export const size = file.length;

/** Announces the whole, sends a part and hangs up. */
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

interface Run {
  readonly server: RawServer;
  readonly sink: MemorySink;
  readonly transport: Transport;
  readonly ends: Promise<DownloadFacts>;
}

/** Starts a server that answers so, and a download from it. */
export async function begin(
  opened: Opened,
  answer: Answer,
  sink = new MemorySink(),
  timeoutMs = 5_000,
): Promise<Run> {
  const server = opened(await startServer(answer));
  const peer = { surface: "cloud", origin: server.origin, host: "cloud" } as const;
  const transport = opened(new Transport({ peer, timeoutMs }));
  return { server, sink, transport, ends: transport.download(read, sink) };
}

export const etag = { etag: '"v1"', "content-type": "Video/MP4; codecs=x" };
