import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { ConnectionFault } from "./faults.ts";
import type { Timers } from "./timers.ts";

/** A port that can stop listening and start again, and that knows all its connections. */
export interface PortListener {
  readonly port: number;
  readonly connections: number;
  /** False: connections are refused, and open ones are destroyed. */
  setListening(isListening: boolean): void;
  /** Ends a connection with RST; over TLS the TCP connection below it. */
  reset(socket: Socket): void;
  close(): Promise<void>;
}

export interface PortListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly timers: Timers;
  /** Passes a connection to the HTTP server. */
  accept(socket: Socket): void;
  /** The fault that applies to a new connection. */
  connectionFault(): ConnectionFault["kind"] | null;
}

const reopenRetryMs = 20;

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address: AddressInfo | string | null = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function isSameConnection(one: Socket, other: Socket): boolean {
  return (
    one.remotePort === other.remotePort &&
    one.remoteAddress === other.remoteAddress &&
    one.localAddress === other.localAddress
  );
}

export async function openPortListener(options: PortListenerOptions): Promise<PortListener> {
  const { host, timers } = options;
  const sockets = new Set<Socket>();
  let wanted = true;

  function onConnection(socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const fault = options.connectionFault();
    if (fault === "connect-reset") {
      socket.resetAndDestroy();
    } else if (fault === "connect-silence") {
      socket.pause();
    } else {
      options.accept(socket);
    }
  }

  // Half-open as in Node's own HTTP server, so that a client may end its side first.
  const open = (): Server => createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  let server = open();
  const port = await listen(server, host, options.port);

  function reopen(): void {
    if (!wanted) {
      return;
    }
    server = open();
    // Another program may have taken the port while it was closed.
    listen(server, host, port).catch(() => timers.after(reopenRetryMs, reopen));
  }

  return {
    port,
    get connections() {
      return sockets.size;
    },
    setListening(next) {
      if (next === wanted) {
        return;
      }
      wanted = next;
      if (next) {
        reopen();
        return;
      }
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
    reset(socket) {
      // A TLS socket has no reference to its TCP socket, but both have the same addresses and ports.
      const connection = [...sockets].find((one) => one === socket || isSameConnection(one, socket));
      (connection ?? socket).resetAndDestroy();
    },
    close() {
      const closed = new Promise<void>((resolve) => {
        if (server.listening) {
          server.close(() => resolve());
        } else {
          resolve();
        }
      });
      wanted = false;
      sockets.forEach((socket) => socket.destroy());
      return closed;
    },
  };
}
