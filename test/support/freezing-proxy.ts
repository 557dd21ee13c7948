import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Passes connections on to a server on this computer, until the network between both seems to hang. */
export interface FreezingProxy {
  readonly port: number;
  /** Passes nothing on any more, and accepts connections nevertheless. */
  freeze(): void;
  /** Passes on what has waited. */
  thaw(): void;
  /** Breaks the connections. */
  cut(): void;
  /** Does something once, as soon as such data of a client was passed on. */
  afterNext(isIt: (chunk: Buffer) => boolean, act: () => void): void;
  close(): void;
}

export async function startProxy(to: number): Promise<FreezingProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let next: { readonly isIt: (chunk: Buffer) => boolean; readonly act: () => void } | undefined;
  const track = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.on("data", (chunk) => other.write(chunk));
    if (isFrozen) {
      socket.pause();
    }
  };
  const server = createServer((socket) => {
    const other = connect(to, "127.0.0.1");
    track(socket, other);
    track(other, socket);
    socket.on("data", (chunk) => {
      if (next?.isIt(chunk)) {
        const { act } = next;
        next = undefined;
        act();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
      sockets.forEach((socket) => socket.pause());
    },
    thaw() {
      isFrozen = false;
      sockets.forEach((socket) => socket.resume());
    },
    cut() {
      sockets.forEach((socket) => socket.destroy());
    },
    afterNext(isIt, act) {
      next = { isIt, act };
    },
    close() {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}
