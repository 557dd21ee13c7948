import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { isInContainer } from "../../src/http/failures.ts";

/** One request as it came over the socket. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The number of this request on this server, from 0. */
  readonly index: number;
  /** The number of its connection on this server, from 0: requests with the same number share one connection. */
  readonly connection: number;
}

export type Answer = (request: RawRequest, socket: Socket) => unknown;

export interface RawServer {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly RawRequest[];
  /** All connections so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** The next request to arrive. */
  next(): Promise<RawRequest>;
  /** Resolves when the last open connection has ended. */
  allClosed(): Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  readonly tls?: TlsOptions;
  /** Called with a connection before its first byte. */
  readonly onConnection?: (socket: Socket) => void;
}

/**
 * A server on a free port of 127.0.0.1 that reads request heads and lets the test write every byte of the response.
 */
export async function startServer(answer: Answer, { tls, onConnection }: Parts = {}): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting: ((request: RawRequest) => void)[] = [];
  const emptied: (() => void)[] = [];
  let connections = 0;

  const accept = (socket: Socket): void => {
    const connection = connections++;
    let head = "";
    track(socket);
    onConnection?.(socket);
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      for (let end = head.indexOf("\r\n\r\n"); end >= 0; end = head.indexOf("\r\n\r\n")) {
        const request = readHead(head.slice(0, end), requests.length, connection);
        head = head.slice(end + 4);
        requests.push(request);
        waiting.splice(0).forEach((tell) => tell(request));
        answer(request, socket);
      }
    });
  };
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) {
        emptied.splice(0).forEach((tell) => tell());
      }
    });
  };
  const server: Server =
    tls === undefined ? createServer({ noDelay: true }, accept) : createTlsServer(tls, accept);
  if (tls !== undefined) {
    server.on("connection", track);
    server.on("tlsClientError", () => undefined);
  }
  const port = await listen(server);
  return {
    origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    get connections() {
      return connections;
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    allClosed: () =>
      sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve)),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
}

export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/**
 * The port of the discard service, which no computer offers any more. A free port would not do: another program can be given
 * it before it is used.
 */
export const closedPort = 9;

/** A port of 127.0.0.1 on which nothing listens yet, and that no other test is given before this process has ended. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Below the ports that systems give to connections and to port 0: nothing else takes it before the test does.
    const port = randomInt(20_000, 32_000);
    if (!(await isReserved(port))) {
      continue;
    }
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (isFree) {
      await new Promise((resolve) => server.close(resolve));
      return port;
    }
  }
}

/** Takes the UDP port of the same number, which nobody else needs, so that of several processes one gets it. */
async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  return await new Promise((resolve) => {
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
}

function readHead(head: string, index: number, connection: number): RawRequest {
  const [start = "", ...lines] = head.split("\r\n");
  const [method = "", target = ""] = start.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { method, target, headers, index, connection };
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Uint8Array;
  /** `none`: neither length nor chunks, and the connection ends with the body. */
  readonly framing?: "length" | "chunked" | "none";
}

/** A whole answer as bytes. */
export function replyBytes({ status = 200, headers = {}, body = "", framing = "length" }: Reply): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (framing === "length" && status !== 204 && !("content-length" in headers)) {
    lines.push(`content-length: ${bytes.length}`);
  }
  if (framing === "chunked") {
    lines.push("transfer-encoding: chunked");
  }
  const head = Buffer.from(`HTTP/1.1 ${status} Some Words\r\n${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const chunked = [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")];
  return Buffer.concat([head, ...(framing === "chunked" && bytes.length > 0 ? chunked : [bytes])]);
}

export function reply(socket: Socket, answer: Reply): void {
  const bytes = replyBytes(answer);
  if (answer.framing === "none") {
    socket.end(bytes);
  } else {
    socket.write(bytes);
  }
}

/**
 * Resets the connection after the written data were sent: in the same turn of the event loop the reset would overtake
 * them.
 */
export function resetAfter(socket: Socket, bytes: Uint8Array | string): void {
  socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 10));
}

export function replyJson(socket: Socket, value: unknown, answer: Reply = {}): void {
  reply(socket, {
    ...answer,
    headers: { "content-type": "application/json; charset=utf-8", ...answer.headers },
    body: typeof value === "string" ? value : JSON.stringify(value),
  });
}

/** What Node-RED says of a port of this computer on which nothing listens: the tests may run in a container. */
export const saysRefused = isInContainer() ? "Node-RED runs in a container" : "it refuses connections";
