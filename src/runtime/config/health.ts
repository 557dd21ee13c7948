import type { Node, NodeAPI, NodeStatus } from "node-red";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { HealthCheck } from "./health-check.ts";
import { translateError, translateStatus } from "../status/translate.ts";

/** How the other side of a config node is checked. */
export interface Health {
  /** 0: not at all. */
  readonly intervalMs: number;
  /** Asks for a sign of life, without any effect; null where the other side has nothing to ask for. */
  readonly check: ((signal: AbortSignal) => Promise<unknown>) | null;
}

/** Node-RED hands the status of a config node on to the Status nodes on the tabs of its users. */
interface ConfigNode extends Node {
  users?: Record<string, Node>;
}

interface Watched {
  readonly node: ConfigNode;
  readonly health: Health;
  running?: HealthCheck;
  status?: NodeStatus;
}

interface StatusEvent {
  readonly id: string;
  readonly status?: NodeStatus;
}

/** Shorter intervals would be a load for the other side. */
const shortestIntervalMs = 1_000;

/**
 * Shows and logs whether the other sides of config nodes answer, one of these for each config type. Status nodes hear
 * each change, with the config node as its source. On the canvas it stands under the nodes that use the config node until
 * they have something of their own to show: a result is never covered.
 */
export class HealthWatch {
  readonly #RED: NodeAPI;
  readonly #watched = new Set<Watched>();
  /** Nodes whose status is their own. */
  readonly #speaking = new Set<string>();
  #isPainting = false;
  readonly #onStarted = (): void => {
    for (const watched of this.#watched) {
      if (watched.running === undefined && watched.status === undefined) {
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

  /** Begins when the flows have started, so that all who use the node are there; returns what ends it. */
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
        this.#show(watched, { fill: "green", shape: "dot", text });
        if (isRecovery) {
          node.log(text);
        }
      },
      onDown: (error) => {
        const known = error instanceof DimensionerError ? translateError(this.#RED, error) : undefined;
        const text = translateStatus(this.#RED, `failed.${known?.code ?? "ERR_UNREACHABLE"}`);
        this.#show(watched, { fill: "red", shape: "ring", text });
        node.warn(known?.message ?? String(error));
      },
    });
  }

  #show(watched: Watched, status: NodeStatus): void {
    watched.status = status;
    watched.node.users = usersOf(this.#RED, watched.node.id);
    watched.node.status(status);
    this.#paint(watched);
  }

  /** On the canvas alone, by the event that the editor's display lives on: Status nodes have heard it already. */
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

/** The nodes that have chosen this config node; for one inside a subflow, the subflow's instances. */
function usersOf(RED: NodeAPI, configId: string): Record<string, Node> {
  const definitions: { readonly id: string; readonly type: string; readonly z?: string }[] = [];
  RED.nodes.eachNode((definition) => definitions.push(definition));
  const users: Record<string, Node> = {};
  const add = ({ id, z = "" }: { readonly id: string; readonly z?: string }): void => {
    const node: Node | null | undefined = RED.nodes.getNode(id);
    if (node !== null && node !== undefined) {
      users[id] = node;
      return;
    }
    definitions.filter(({ type }) => type === `subflow:${z}`).forEach(add);
  };
  definitions
    .filter((definition) => definition.id !== configId && Object.values(definition).includes(configId))
    .forEach(add);
  return users;
}
