import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** A server that speaks as much of PostgreSQL's protocol as a test needs. */
export interface PostgresStub {
  /** The address of a database. */
  readonly url: string;
  /** Resolves when its clients have ended all connections. */
  allClosed(): Promise<void>;
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

/** Asks for the password, in clear text (3) or hashed with MD5 (5), and keeps what it gets. It refuses it, if it does anything then. */
export async function servePlainLogin(
  method: 3 | 5,
  refuses = false,
): Promise<PostgresStub & { readonly answers: readonly Buffer[] }> {
  const answers: Buffer[] = [];
  const stub = await serve((socket) => {
    socket.on("data", (bytes) => {
      answers.push(bytes);
      if (refuses) {
        socket.write(message("E", "SFATAL\0C28P01\0Mno login\0\0"));
      }
    });
    socket.write(message("R", method, ...(method === 5 ? ["salt"] : [])));
  });
  return { ...stub, answers };
}

/** Refuses a login with an error of its own. */
export async function serveError(...fields: readonly string[]): Promise<PostgresStub> {
  return await serve((socket) => {
    socket.write(message("E", `${fields.join("\0")}\0\0`));
  });
}

/** Sends bytes again and again, as fast as they are taken or after a pause, after those of the beginning. */
export async function serveEndless({
  login = true,
  first = Buffer.alloc(0),
  again,
  pauseMs,
}: {
  /** Whether it logs the client in and waits for its first statement before. */
  readonly login?: boolean;
  readonly first?: Buffer;
  readonly again: Buffer;
  readonly pauseMs?: number;
}): Promise<PostgresStub & { readonly sentBytes: () => number }> {
  let sentBytes = 0;
  const stub = await serve((socket) => {
    const send = (failed?: Error | null): void => {
      if (!failed && !socket.destroyed) {
        sentBytes += again.length;
        socket.write(again, pauseMs === undefined ? send : () => setTimeout(send, pauseMs));
      }
    };
    const begin = (): void => {
      socket.write(first);
      send();
    };
    if (login) {
      socket.write(Buffer.concat([authenticated, ready]));
      socket.once("data", begin);
    } else {
      begin();
    }
  });
  return { ...stub, sentBytes: () => sentBytes };
}

/** The beginning of a message that announces more than comes. */
export function head(type: string, bytes: number): Buffer {
  const begun = Buffer.alloc(5);
  begun.write(type);
  begun.writeUInt32BE(bytes, 1);
  return begun;
}

/** What announces columns of texts. */
export function columns(count: number): Buffer {
  const number = Buffer.alloc(2);
  number.writeInt16BE(count);
  const facts = Buffer.alloc(18);
  // The type text.
  facts.writeInt32BE(25, 6);
  const all = Array.from({ length: count }, (_, index) => [`c${index}\0`, facts]);
  return message("T", number, ...all.flat());
}

/** A row of texts. */
export function row(...texts: readonly string[]): Buffer {
  const number = Buffer.alloc(2);
  number.writeInt16BE(texts.length);
  return message("D", number, ...texts.flatMap((text) => [Buffer.byteLength(text), text]));
}

/** Calls a function for each connection that has sent its first message. */
async function serve(begin: (socket: Socket) => void): Promise<PostgresStub> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
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
    allClosed: async () => {
      for (const socket of sockets) {
        await once(socket, "close");
      }
    },
    close: () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
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
