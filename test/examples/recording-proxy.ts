import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";

/** Stands between a client and a server and keeps what the server said, byte for byte. */
export interface RecordingProxy {
  /** Takes the place of the server's origin. */
  readonly origin: string;
  /** True when one of the server's answers had exactly this body. */
  hasServed(body: Buffer): boolean;
  close(): Promise<void>;
}

/** Answers are told apart by their Content-Length: the server has to send one. */
export async function startRecordingProxy(serverOrigin: string): Promise<RecordingProxy> {
  const target = new URL(serverOrigin);
  const sockets = new Set<Socket>();
  const streams: Buffer[][] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const heard: Buffer[] = [];
    streams.push(heard);
    upstream.on("data", (chunk) => heard.push(chunk));
    client.pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    hasServed: (body) =>
      streams.some((heard) => bodiesIn(Buffer.concat(heard)).some((one) => one.equals(body))),
    async close() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}

function bodiesIn(stream: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at < stream.length;) {
    const headEnd = stream.indexOf("\r\n\r\n", at);
    if (headEnd === -1) {
      break;
    }
    const length = Number(/^content-length: *(\d+)/im.exec(stream.toString("latin1", at, headEnd))?.[1] ?? 0);
    at = headEnd + 4 + length;
    bodies.push(stream.subarray(headEnd + 4, at));
  }
  return bodies;
}
