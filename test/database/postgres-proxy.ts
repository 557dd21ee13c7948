import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { message, ready } from "../support/postgres-stub.ts";

/** Passes connections without TLS on to a PostgreSQL server on this computer, as what is between both does it. */
export interface PostgresProxy {
  readonly port: number;
  /** From now on, each connection that is open ends up at a server that only copies another one. */
  demote(): void;
  close(): void;
}

interface ProxyOptions {
  /** Whether it passes on only the user and the name of the database, and no settings. */
  readonly dropsSettings?: boolean;
}

/** The first bytes of a message: its type, which the first one of a connection has not, and its length. */
const headBytes = 5;
const refusal = "cannot execute UPDATE in a read-only transaction";

export async function startPostgresProxy(to: number, options: ProxyOptions = {}): Promise<PostgresProxy> {
  const sockets = new Set<Socket>();
  const passing = new Set<Socket>();
  const track = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      passing.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((socket) => {
    const other = connect(to, "127.0.0.1");
    track(socket, other);
    track(other, socket);
    passing.add(socket);
    other.on("data", (chunk) => socket.write(chunk));
    // The driver sends nothing more before the answer.
    socket.once("data", (first) => {
      other.write(options.dropsSettings === true ? withoutSettings(first) : first);
      let left: Buffer = Buffer.of();
      socket.on("data", (chunk) => {
        if (passing.has(socket)) {
          other.write(chunk);
          return;
        }
        const { types, rest } = messagesIn(Buffer.concat([left, chunk]));
        left = rest;
        types.forEach((type) => refuse(socket, type));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    demote: () => passing.clear(),
    close() {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}

/** Answers a query, or the end of a statement with values, as a server that only copies another one answers a change. */
function refuse(socket: Socket, type: string): void {
  if (type === "Q" || type === "S") {
    socket.write(Buffer.concat([message("E", `SERROR\0VERROR\0C25006\0M${refusal}\0\0`), ready]));
  }
}

/** The types of the whole messages, and what has come of another one. */
function messagesIn(bytes: Buffer): { readonly types: readonly string[]; readonly rest: Buffer } {
  const types: string[] = [];
  let from = 0;
  while (bytes.length >= from + headBytes && bytes.length > from + bytes.readInt32BE(from + 1)) {
    types.push(bytes.toString("latin1", from, from + 1));
    from += bytes.readInt32BE(from + 1) + 1;
  }
  return { types, rest: bytes.subarray(from) };
}

/** The first message of a connection: its length, the version of the protocol, and names and values. */
function withoutSettings(first: Buffer): Buffer {
  const [lengthBytes, versionBytes] = [4, 4];
  const texts = first.toString("utf8", lengthBytes + versionBytes).split("\0");
  const kept = texts.flatMap((name, index) =>
    index % 2 === 0 && (name === "user" || name === "database") ? [name, texts[index + 1] ?? ""] : [],
  );
  const body = Buffer.concat([
    first.subarray(lengthBytes, lengthBytes + versionBytes),
    Buffer.from(`${kept.join("\0")}\0\0`),
  ]);
  const length = Buffer.alloc(lengthBytes);
  length.writeInt32BE(lengthBytes + body.length);
  return Buffer.concat([length, body]);
}
