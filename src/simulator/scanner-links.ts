import { connect, type Socket } from "node:net";

import type { ScannerOptions } from "./scanner-types.ts";
import { openPortListener } from "./port-listener.ts";
import type { Timers } from "./timers.ts";

/** The connections of the scanner: those to its port, and the one that it opens by itself. */
export interface ScannerLinks {
  readonly port: number;
  readonly count: number;
  write(bytes: Uint8Array): void;
  /** Ends all connections after they have sent what was written. */
  cut(): void;
  /** False: the port refuses connections, and all open ones end. */
  setOpen(isOpen: boolean): void;
  close(): Promise<void>;
}

interface ScannerLinksOptions {
  readonly host: string;
  readonly port: number;
  readonly connectTo: ScannerOptions["connectTo"];
  readonly timers: Timers;
  readonly changed: () => void;
}

const reconnectMs = 500;
/** The connection of a receiver that does not read is closed, so that its scans do not pile up in memory. */
const mostUnreadBytes = 1024 * 1024;

export async function openScannerLinks(options: ScannerLinksOptions): Promise<ScannerLinks> {
  const { host, port, connectTo, timers, changed } = options;
  const sockets = new Set<Socket>();
  let own: Socket | undefined;
  let cancelRetry = (): void => undefined;
  let isOpen = true;

  function use(socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.once("end", () => socket.end());
    // A scanner ignores what is sent to it.
    socket.resume();
    changed();
  }

  function connectOwn(): void {
    if (connectTo === null) {
      return;
    }
    const socket = connect({ ...connectTo, noDelay: true });
    own = socket;
    socket.once("connect", () => use(socket));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      if (own === socket) {
        cancelRetry = timers.after(reconnectMs, connectOwn);
      }
    });
  }

  function leave(): void {
    cancelRetry();
    const socket = own;
    own = undefined;
    socket?.destroy();
  }

  const listener = await openPortListener({ host, port, timers, accept: use, connectionFault: () => null });
  connectOwn();
  return {
    port: listener.port,
    get count() {
      return sockets.size;
    },
    write(bytes) {
      for (const socket of sockets) {
        socket.write(bytes);
        if (socket.writableLength > mostUnreadBytes) {
          socket.destroy();
        }
      }
    },
    cut: () => sockets.forEach((socket) => socket.destroySoon()),
    setOpen(next) {
      if (next === isOpen) {
        return;
      }
      isOpen = next;
      listener.setListening(next);
      if (next) {
        connectOwn();
      } else {
        leave();
      }
    },
    close() {
      leave();
      return listener.close();
    },
  };
}
