import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../support/servers.ts";
import type { FaultPoint } from "./fault-points.ts";

type WirePoint = Extract<FaultPoint, { in: "wire" }>;
type Direction = WirePoint["direction"];

/** One connection through a proxy, with the bytes that each side sent, whether or not they were passed on. */
export interface ProxiedConnection {
  /** The ports from which the client connected to the proxy, and the proxy to the peer. */
  readonly clientPort: number;
  readonly peerPort: number;
  readonly up: Buffer[];
  readonly down: Buffer[];
}

interface OpenConnection extends ProxiedConnection {
  peerPort: number;
  readonly sides: Readonly<Record<Direction, Socket>>;
  /** Bytes that were passed on in each direction. */
  readonly passed: Record<Direction, number>;
  hasFailed: boolean;
  /** Failed so that nothing is passed on any more. */
  isDead: boolean;
}

export interface FaultProxyEvents {
  /** The chosen point was reached, and its effect is for the client to produce. */
  onClientEffect(effect: "abort" | "shut"): void;
  /** The URL that redirects lead to. */
  readonly redirectTarget: string;
}

/** A TCP proxy between a client and its peer that passes on every byte and fails at a chosen point. */
export class FaultProxy {
  proxiedConnections: ProxiedConnection[] = [];
  faultCount = 0;
  readonly #server: Server;
  readonly #peerPort: number;
  readonly #open = new Set<Socket>();
  readonly #idle: (() => void)[] = [];
  #port = 0;
  #point: WirePoint | undefined;
  #events: FaultProxyEvents | undefined;

  private constructor(peerPort: number) {
    this.#peerPort = peerPort;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  static async start(peerPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(peerPort);
    proxy.#port = await listen(proxy.#server);
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets all earlier connections, and fails at this point from now on. */
  failAt(point: WirePoint | undefined, events: FaultProxyEvents): void {
    this.proxiedConnections = [];
    this.faultCount = 0;
    this.#point = point;
    this.#events = events;
  }

  /** Resolves when no client is connected any more. */
  idle(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#open) {
      socket.destroy();
    }
    await closed;
  }

  #accept(client: Socket): void {
    const peer = connect({ port: this.#peerPort, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const connection: OpenConnection = {
      clientPort: client.remotePort ?? 0,
      peerPort: 0,
      up: [],
      down: [],
      sides: { up: peer, down: client },
      passed: { up: 0, down: 0 },
      hasFailed: false,
      isDead: false,
    };
    this.proxiedConnections.push(connection);
    this.#open.add(client);
    peer.once("connect", () => {
      connection.peerPort = peer.localPort ?? 0;
    });
    client.once("close", () => {
      peer.destroy();
      this.#open.delete(client);
      if (this.#open.size === 0) {
        this.#idle.splice(0).forEach((tell) => tell());
      }
    });
    this.#forward(connection, "up", client);
    this.#forward(connection, "down", peer);
    if (this.#isDue(connection, "up", -1)) {
      this.#fail(connection);
    }
  }

  /** Passes on what `from` sends in this direction. */
  #forward(connection: OpenConnection, direction: Direction, from: Socket): void {
    const to = connection.sides[direction];
    from.on("error", () => from.destroy());
    from.on("data", (chunk: Buffer) => {
      connection[direction].push(chunk);
      this.#pass(connection, direction, chunk);
    });
    from.on("end", () => {
      // The end of one side is passed on to the other. A connection that failed is left to the client.
      if (connection.isDead && direction === "down") {
        return;
      }
      to.end();
      if (connection.isDead) {
        from.end();
      }
    });
    from.on("close", (hadError) => {
      if (direction === "down" && !connection.isDead) {
        if (hadError) {
          to.resetAndDestroy();
        } else {
          to.destroySoon();
        }
      }
    });
  }

  #pass(connection: OpenConnection, direction: Direction, chunk: Buffer): void {
    if (connection.isDead) {
      return;
    }
    const byte = this.#point?.byte ?? 0;
    const before = connection.passed[direction];
    const isHere =
      byte <= before + chunk.length && byte >= before && this.#isDue(connection, direction, byte);
    const first = isHere ? chunk.subarray(0, byte - before) : chunk;
    this.#write(connection, direction, first);
    if (!isHere) {
      return;
    }
    this.#fail(connection);
    if (!connection.isDead) {
      this.#write(connection, direction, chunk.subarray(first.length));
    }
  }

  #write(connection: OpenConnection, direction: Direction, bytes: Buffer): void {
    connection.passed[direction] += bytes.length;
    if (bytes.length > 0 && connection.sides[direction].writable) {
      connection.sides[direction].write(bytes);
    }
  }

  #isDue(connection: OpenConnection, direction: Direction, byte: number): boolean {
    const point = this.#point;
    if (point === undefined || connection.hasFailed || point.direction !== direction || point.byte !== byte) {
      return false;
    }
    return point.lasts || this.faultCount === 0;
  }

  #fail(connection: OpenConnection): void {
    const effect = this.#point?.effect;
    const { up: peer, down: client } = connection.sides;
    connection.hasFailed = true;
    this.faultCount += 1;
    switch (effect) {
      case "reset":
        connection.isDead = true;
        resetLater(client);
        resetLater(peer);
        break;
      case "close":
        connection.isDead = true;
        client.destroySoon();
        peer.destroySoon();
        break;
      case "stall":
        connection.isDead = true;
        // A client that ended its side before the stall would otherwise wait for the peer's end.
        if (client.readableEnded) {
          client.end();
        }
        break;
      case "redirect":
        connection.isDead = true;
        client.end(
          `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${this.#events?.redirectTarget}\r\ncontent-length: 0\r\n\r\n`,
        );
        peer.destroy();
        break;
      case "abort":
      case "shut":
        this.#events?.onClientEffect(effect);
        break;
      case undefined:
    }
  }
}

/** Resets only after the written bytes were sent: in the same turn of the event loop the reset would overtake them. */
function resetLater(socket: Socket): void {
  const reset = (): void => void socket.resetAndDestroy();
  if (socket.connecting) {
    socket.destroy();
  } else if (socket.writableLength === 0) {
    setImmediate(reset);
  } else {
    socket.write("", () => setImmediate(reset));
  }
}
