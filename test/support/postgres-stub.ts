import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** A server that speaks as much of PostgreSQL's protocol as a test needs. */
export interface PostgresStub {
  /** The address of a database. */
  readonly url: string;
  close(): void;
}

const authenticated = message("R", 0);
/** The server waits for the next query. */
export const ready = message("Z", "I");

/** Answers each query with a version of PostgreSQL. */
export async function serveVersion(version: string): Promise<PostgresStub> {
  // One column of the type text, without a table, and one row.
  const column = Buffer.concat([
    Buffer.from("\0\x01server_version\0"),
    Buffer.alloc(6),
    Buffer.from([0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
  ]);
  const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, version.length]), Buffer.from(version)]);
  return await serve((socket) => {
    socket.write(Buffer.concat([authenticated, ready]));
    socket.on("data", () => {
      socket.write(Buffer.concat([message("T", column), message("D", row), message("C", "SHOW\0"), ready]));
    });
  });
}

/** Is stopped as soon as a connection is ready: the client reads both at once, as it does when it is busy. */
export async function serveEnding(): Promise<PostgresStub> {
  const sentence = "terminating connection due to administrator command";
  const fatal = message("E", `SFATAL\0VFATAL\0C57P01\0M${sentence}\0\0`);
  return await serve((socket) => {
    socket.end(Buffer.concat([authenticated, ready, fatal]));
  });
}

/** Asks for a login that the driver does not know: 7 is GSSAPI, 9 SSPI. */
export async function serveOtherLogin(method: 7 | 9): Promise<PostgresStub> {
  return await serve((socket) => {
    socket.write(message("R", method));
  });
}

/** Calls a function for each connection that has sent its first message. */
async function serve(begin: (socket: Socket) => void): Promise<PostgresStub> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      begin(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/stub`,
    close: () => {
      server.close();
    },
  };
}

/** A message of the protocol: its type, its length and what it contains; a number is an Int32. */
export function message(type: string, ...parts: readonly (Buffer | string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part !== "number") {
        return Buffer.from(part);
      }
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(part);
      return bytes;
    }),
  );
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
