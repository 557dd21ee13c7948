import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

import type { ConnectionFault } from "./fault-types.ts";
import type { Timers } from "./timers.ts";

/** A listening port that can be shut and opened again, and that knows every connection through it. */
export interface PortListener {
  readonly port: number;
  readonly connections: number;
  /** Shut: the port refuses and open connections die. */
  setListening(open: boolean): void;
  /** Ends a connection with RST; for TLS the bare connection below it. */
  reset(socket: Socket): void;
  close(): Promise<void>;
}

export interface PortListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly timers: Timers;
  /** Hands a connection to the HTTP server behind the listener. */
  accept(socket: Socket): void;
  /** The fault that strikes a new connection. */
  strike(): ConnectionFault["kind"] | null;
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

export async function openPortListener(parts: PortListenerOptions): Promise<PortListener> {
  const { host, timers } = parts;
  const sockets = new Map<number, Socket>();
  let wanted = true;

  function onConnection(socket: Socket): void {
    const remotePort = socket.remotePort ?? 0;
    sockets.set(remotePort, socket);
    socket.once("close", () => sockets.delete(remotePort));
    socket.on("error", () => socket.destroy());
    const fault = parts.strike();
    if (fault === "connect-reset") {
      socket.resetAndDestroy();
    } else if (fault === "connect-silence") {
      socket.pause();
    } else {
      parts.accept(socket);
    }
  }

  // Half-open as in Node's own HTTP server, so that a client may end its side first.
  const open = (): Server => createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  let server = open();
  const port = await listen(server, host, parts.port);

  function reopen(): void {
    if (!wanted) {
      return;
    }
    server = open();
    // Somebody may have taken the port while it was shut.
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
      const bare = sockets.get(socket.remotePort ?? 0) ?? socket;
      bare.resetAndDestroy();
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
