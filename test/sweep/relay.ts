import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../support/servers.ts";
import type { FaultPoint } from "./fault-points.ts";

type WirePoint = Extract<FaultPoint, { in: "wire" }>;
type Direction = WirePoint["direction"];

/** One connection through a relay: what each side has sent, whether or not it was handed on. */
export interface Conversation {
  /** The client's port, and the one from which the relay has gone on to the peer. */
  readonly clientPort: number;
  readonly peerPort: number;
  readonly up: Buffer[];
  readonly down: Buffer[];
}

interface Line extends Conversation {
  peerPort: number;
  readonly sides: Readonly<Record<Direction, Socket>>;
  /** Bytes handed on. */
  readonly passed: Record<Direction, number>;
  isStruck: boolean;
  /** Struck so that nothing passes any more. */
  isDead: boolean;
}

export interface RelayEvents {
  /** A point with an effect on our own side was reached. */
  onOwnEffect(effect: "abort" | "shut"): void;
  /** Where a redirect leads. */
  readonly elsewhere: string;
}

/** Stands between a client and its peer, hands on each byte, and fails where it is told. */
export class Relay {
  conversations: Conversation[] = [];
  strikes = 0;
  readonly #server: Server;
  readonly #peerPort: number;
  readonly #open = new Set<Socket>();
  readonly #idle: (() => void)[] = [];
  #port = 0;
  #point: WirePoint | undefined;
  #events: RelayEvents | undefined;

  private constructor(peerPort: number) {
    this.#peerPort = peerPort;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  static async start(peerPort: number): Promise<Relay> {
    const relay = new Relay(peerPort);
    relay.#port = await listen(relay.#server);
    return relay;
  }

  get port(): number {
    return this.#port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets what was, and fails at this point from now on. */
  arm(point: WirePoint | undefined, events: RelayEvents): void {
    this.conversations = [];
    this.strikes = 0;
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
    const line: Line = {
      clientPort: client.remotePort ?? 0,
      peerPort: 0,
      up: [],
      down: [],
      sides: { up: peer, down: client },
      passed: { up: 0, down: 0 },
      isStruck: false,
      isDead: false,
    };
    this.conversations.push(line);
    this.#open.add(client);
    peer.once("connect", () => {
      line.peerPort = peer.localPort ?? 0;
    });
    client.once("close", () => {
      peer.destroy();
      this.#open.delete(client);
      if (this.#open.size === 0) {
        this.#idle.splice(0).forEach((tell) => tell());
      }
    });
    this.#join(line, "up", client);
    this.#join(line, "down", peer);
    if (this.#isDue(line, "up", -1)) {
      this.#strike(line);
    }
  }

  /** Hands on what `from` sends in this direction. */
  #join(line: Line, direction: Direction, from: Socket): void {
    const to = line.sides[direction];
    from.on("error", () => from.destroy());
    from.on("data", (chunk: Buffer) => {
      line[direction].push(chunk);
      this.#pass(line, direction, chunk);
    });
    from.on("end", () => {
      // Whoever hangs up first has the other side hang up too; a dead line is left to the client.
      if (line.isDead && direction === "down") {
        return;
      }
      to.end();
      if (line.isDead) {
        from.end();
      }
    });
    from.on("close", (hadError) => {
      if (direction === "down" && !line.isDead) {
        if (hadError) {
          to.resetAndDestroy();
        } else {
          to.destroySoon();
        }
      }
    });
  }

  #pass(line: Line, direction: Direction, chunk: Buffer): void {
    if (line.isDead) {
      return;
    }
    const byte = this.#point?.byte ?? 0;
    const before = line.passed[direction];
    const isHere = byte <= before + chunk.length && byte >= before && this.#isDue(line, direction, byte);
    const first = isHere ? chunk.subarray(0, byte - before) : chunk;
    this.#write(line, direction, first);
    if (!isHere) {
      return;
    }
    this.#strike(line);
    if (!line.isDead) {
      this.#write(line, direction, chunk.subarray(first.length));
    }
  }

  #write(line: Line, direction: Direction, bytes: Buffer): void {
    line.passed[direction] += bytes.length;
    if (bytes.length > 0 && line.sides[direction].writable) {
      line.sides[direction].write(bytes);
    }
  }

  #isDue(line: Line, direction: Direction, byte: number): boolean {
    const point = this.#point;
    if (point === undefined || line.isStruck || point.direction !== direction || point.byte !== byte) {
      return false;
    }
    return point.lasts || this.strikes === 0;
  }

  #strike(line: Line): void {
    const effect = this.#point?.effect;
    const { up: peer, down: client } = line.sides;
    line.isStruck = true;
    this.strikes += 1;
    switch (effect) {
      case "reset":
        line.isDead = true;
        resetLater(client);
        resetLater(peer);
        break;
      case "close":
        line.isDead = true;
        client.destroySoon();
        peer.destroySoon();
        break;
      case "stall":
        line.isDead = true;
        // Who has hung up before gets no end from the peer any more.
        if (client.readableEnded) {
          client.end();
        }
        break;
      case "redirect":
        line.isDead = true;
        client.end(
          `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${this.#events?.elsewhere}\r\ncontent-length: 0\r\n\r\n`,
        );
        peer.destroy();
        break;
      case "abort":
      case "shut":
        this.#events?.onOwnEffect(effect);
        break;
      case undefined:
    }
  }
}

/** Once what was written is on its way: in the same turn the reset would overtake it. */
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
