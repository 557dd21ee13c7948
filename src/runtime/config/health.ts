import { randomUUID } from "node:crypto";
import type { Node, NodeAPI, NodeStatus } from "node-red";
import type { DeviceClient } from "../../device/client.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { type PeerClock, isWorthSaying } from "../../time/clocks.ts";
import { translateError, translateStatus } from "../status/node-status.ts";
import { deployed } from "./config-choice.ts";

/** The health check of a config node. */
export interface Health {
  /** 0: no check. */
  readonly intervalMs: number;
  /** Checks the peer without changing anything on it; null if the peer has no request for that. */
  readonly check: ((signal: AbortSignal) => Promise<unknown>) | null;
  /** The peer's clock, as its answers tell it. */
  readonly clock: PeerClock;
}

/** How far the peer's clock is ahead of this computer's, in seconds; Node-RED hands Status nodes what else a status has. */
interface PeerStatus extends NodeStatus {
  readonly clockAhead?: number;
}

/** Node-RED passes the status of a config node to the Status nodes on the tabs of its users. */
interface ConfigNode extends Node {
  users?: Record<string, Node>;
}

interface Watched {
  readonly node: ConfigNode;
  readonly health: Health;
  running?: HealthCheck;
  status?: PeerStatus;
}

interface StatusEvent {
  readonly id: string;
  readonly status?: NodeStatus;
}

interface NodeDefinition {
  readonly id: string;
  readonly type: string;
  readonly z?: string;
}

/** Shorter intervals would be a burden for the peer. */
const shortestIntervalMs = 1_000;

/**
 * Shows and logs whether the peers of the config nodes of one type respond. Status nodes get each change, with the
 * config node as its source. On the canvas it is shown below the nodes that use the config node, until they have a
 * status of their own, so that it never covers a result.
 */
export class HealthWatch {
  readonly #RED: NodeAPI;
  readonly #watched = new Set<Watched>();
  /** Nodes that have shown a status of their own. */
  readonly #speaking = new Set<string>();
  #isPainting = false;
  readonly #onStarted = (): void => {
    for (const watched of this.#watched) {
      if (!isUsed(this.#RED, watched.node)) {
        watched.running?.close();
        delete watched.running;
        delete watched.status;
      } else if (watched.running === undefined && watched.status === undefined) {
        this.#begin(watched);
      } else {
        this.#paint(watched);
      }
    }
  };
  readonly #onStatus = ({ id, status }: StatusEvent): void => {
    if (this.#isPainting) {
      return;
    }
    if (status?.text === undefined && status?.fill === undefined) {
      this.#speaking.delete(id);
    } else {
      this.#speaking.add(id);
    }
  };

  constructor(RED: NodeAPI) {
    this.#RED = RED;
  }

  /** Starts when the flows have started, so that all users of the node exist; returns a function that ends it. */
  watch(node: Node, health: Health): () => void {
    if (health.intervalMs === 0) {
      return () => undefined;
    }
    const watched: Watched = { node, health };
    if (this.#watched.size === 0) {
      this.#RED.events.on("flows:started", this.#onStarted);
      this.#RED.events.on("node-status", this.#onStatus);
    }
    this.#watched.add(watched);
    return () => {
      watched.running?.close();
      this.#watched.delete(watched);
      if (this.#watched.size === 0) {
        this.#RED.events.off("flows:started", this.#onStarted);
        this.#RED.events.off("node-status", this.#onStatus);
        this.#speaking.clear();
      }
    };
  }

  #begin(watched: Watched): void {
    const { node, health } = watched;
    if (health.check === null) {
      const text = translateStatus(this.#RED, "notChecked");
      this.#show(watched, { fill: "yellow", shape: "ring", text });
      node.warn(text);
      return;
    }
    watched.running = new HealthCheck({
      intervalMs: Math.max(shortestIntervalMs, health.intervalMs),
      check: health.check,
      onUp: (isRecovery) => {
        const text = translateStatus(this.#RED, "reachable");
        const clockAhead = health.clock.aheadSeconds();
        this.#show(watched, {
          fill: "green",
          shape: "dot",
          text,
          ...(clockAhead === null ? {} : { clockAhead }),
        });
        if (isRecovery) {
          node.log(text);
        }
      },
      hasChanged: () => {
        const [told, now] = [watched.status?.clockAhead, health.clock.aheadSeconds()];
        return now !== null && (told === undefined || isWorthSaying((now - told) * 1_000));
      },
      onDown: (error) => {
        const known = error instanceof DimensionerError ? translateError(this.#RED, error) : undefined;
        const text = translateStatus(this.#RED, `failed.${known?.code ?? "ERR_UNREACHABLE"}`);
        this.#show(watched, { fill: "red", shape: "ring", text });
        node.warn(known?.message ?? String(error));
      },
    });
  }

  #show(watched: Watched, status: PeerStatus): void {
    watched.status = status;
    watched.node.users = usersOf(this.#RED, watched.node.id);
    watched.node.status(status);
    this.#paint(watched);
  }

  /**
   * Shows the status on the canvas only, by the event that the editor's display is made of, because Status nodes have
   * received it already.
   */
  #paint({ node, status }: Watched): void {
    if (status === undefined) {
      return;
    }
    this.#isPainting = true;
    for (const id of Object.keys(usersOf(this.#RED, node.id))) {
      if (!this.#speaking.has(id)) {
        this.#RED.events.emit("node-status", { id, status });
      }
    }
    this.#isPainting = false;
  }
}

/** Whether a deployed node uses this config node, or may when a message names it. */
function isUsed(RED: NodeAPI, { id, type }: Node): boolean {
  const from = `${type.replace("dimensioner-", "")}From`;
  const mayName = (definition: object): boolean => {
    const given: unknown = Reflect.get(definition, from);
    return typeof given === "string" && given !== "";
  };
  return Object.keys(deployedOf(RED, (one) => names(one, id) || mayName(one))).length > 0;
}

/** The nodes that use this config node; for a node inside a subflow, the instances of the subflow. */
function usersOf(RED: NodeAPI, configId: string): Record<string, Node> {
  return deployedOf(RED, (one) => names(one, configId));
}

function names(definition: NodeDefinition, configId: string): boolean {
  return definition.id !== configId && Object.values(definition).includes(configId);
}

/** The deployed nodes whose definition fits; for one inside a subflow, the instances of the subflow. */
function deployedOf(RED: NodeAPI, fits: (definition: NodeDefinition) => boolean): Record<string, Node> {
  const definitions: NodeDefinition[] = [];
  RED.nodes.eachNode((definition) => definitions.push(definition));
  const found: Record<string, Node> = {};
  const add = ({ id, z = "" }: NodeDefinition): void => {
    const node = deployed(RED, id);
    if (node !== null) {
      found[id] = node;
      return;
    }
    definitions.filter(({ type }) => type === `subflow:${z}`).forEach(add);
  };
  definitions.filter(fits).forEach(add);
  return found;
}

export interface HealthCheckOptions {
  /** The time between two checks while the peer responds. */
  readonly intervalMs: number;
  /** Checks once; rejects if the peer does not respond as it should. */
  readonly check: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the peer responds: at first, again after each time that it did not, and if what is known of it has changed. */
  readonly onUp: (isRecovery: boolean) => void;
  readonly hasChanged?: () => boolean;
  /** Called when the peer stops responding, and at first if it does not respond; not again until it has responded. */
  readonly onDown: (error: unknown) => void;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/** The longest pause between two checks while there is no response, in intervals … */
const longestPauseIntervals = 10;
/** … and as a time, unless the interval itself is longer. */
const longestPauseMs = 300_000;
/** Each pause is shortened by up to this part, so that checks of many devices do not coincide. */
const jitter = 0.2;
/** The first check comes within this time. */
const firstWithinMs = 1_000;

/**
 * Checks again and again whether the peer responds: at intervals while it does, and with doubling pauses while it does
 * not. One check runs at a time. Only changes are reported, and the timer does not keep the process alive.
 */
export class HealthCheck {
  readonly #options: HealthCheckOptions;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isUp: boolean | undefined;
  #failures = 0;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
    this.#schedule(Math.min(options.intervalMs, firstWithinMs) * this.#random());
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  #random(): number {
    return (this.#options.random ?? Math.random)();
  }

  #schedule(pauseMs: number): void {
    this.#timer = setTimeout(() => void this.#run(), pauseMs);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { check, onUp, onDown, hasChanged } = this.#options;
    const failure = await check(signal).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (signal.aborted) {
      return;
    }
    const wasUp = this.#isUp;
    this.#isUp = failure === undefined;
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    if (failure === undefined && (wasUp !== true || hasChanged?.() === true)) {
      onUp(wasUp === false);
    } else if (failure !== undefined && wasUp !== false) {
      onDown(failure.error);
    }
    this.#schedule(this.#pauseMs());
  }

  #pauseMs(): number {
    const { intervalMs } = this.#options;
    const doubled = intervalMs * 2 ** Math.max(0, this.#failures - 1);
    const longest = Math.max(intervalMs, Math.min(intervalMs * longestPauseIntervals, longestPauseMs));
    return Math.min(doubled, longest) * (1 - jitter * this.#random());
  }
}

/**
 * Pings a device, which echoes a random word that no other server would return by chance. Throws ERR_BAD_RESPONSE for
 * another echo, and the errors of the ping.
 */
export async function checkEcho(client: DeviceClient, signal: AbortSignal): Promise<void> {
  const word = randomUUID();
  const { msg } = await client.ping(word, { signal });
  if (msg !== word) {
    const { surface, host } = client.peer;
    const problem = phrase("fieldForm", { name: "msg" });
    throw new DimensionerError("responseShape", { surface, operation: "ping" }, { host, problem });
  }
}
