import { WebSocket } from "undici";
import { nodeNamed, type FlowNode } from "./examples.ts";

/** What the editor shows of a running flow: statuses below nodes, and messages in the debug sidebar. */
export type EditorEvent =
  | { readonly kind: "status"; readonly nodeId: string; readonly fill: string; readonly text: string }
  | { readonly kind: "debug"; readonly nodeId: string; readonly text: string };

export interface EditorEvents {
  close(): void;
}

/**
 * Listens to Node-RED's messages to the editor (the /comms socket). `onEnd` is called when Node-RED ends the
 * connection.
 */
export async function openEditorEvents(
  url: string,
  onEvent: (event: EditorEvent) => void,
  onEnd: () => void,
): Promise<EditorEvents> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/comms`);
  let open = true;
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string" || !open) {
      return;
    }
    const packets: unknown = JSON.parse(data);
    for (const packet of Array.isArray(packets) ? packets : []) {
      const event = readPacket(packet);
      if (event !== undefined) {
        onEvent(event);
      }
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error(`Node-RED's editor at ${url} does not talk.`)), {
      once: true,
    });
  });
  socket.addEventListener("close", () => {
    if (open) {
      onEnd();
    }
  });
  // New statuses and messages come without a subscription; one to the statuses would bring those of the past as well.
  return {
    close() {
      open = false;
      socket.close();
    },
  };
}

function readPacket(packet: unknown): EditorEvent | undefined {
  if (!isRecord(packet) || typeof packet["topic"] !== "string" || !isRecord(packet["data"])) {
    return undefined;
  }
  const { topic, data } = { topic: packet["topic"], data: packet["data"] };
  if (topic === "debug" && typeof data["id"] === "string") {
    return { kind: "debug", nodeId: data["id"], text: String(data["msg"]) };
  }
  const { fill, text } = data;
  if (topic.startsWith("status/") && typeof text === "string") {
    const nodeId = topic.slice("status/".length);
    return { kind: "status", nodeId, fill: typeof fill === "string" ? fill : "", text };
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** An event that a user of the editor would see, with its node. */
export interface Seen {
  readonly node: FlowNode;
  readonly event: EditorEvent;
}

export interface FlowRun {
  /** The editor's address. */
  readonly url: string;
  /** The flow as it is deployed. */
  readonly nodes: readonly FlowNode[];
  /** Name of the inject node to press. */
  readonly press: string;
  /** The names of the debug nodes that have to print something; if any other one does, the run has failed. */
  readonly until: readonly string[];
  readonly onSeen?: (seen: Seen) => void;
  /** How long the run may take. */
  readonly timeoutMs: number;
}

/**
 * Presses a flow's button, and resolves with the output of each awaited debug node, by name. Rejects if another debug
 * node prints something (the flows of this package send errors there), when Node-RED ends, and when the time is over.
 */
export async function runFlow({ url, nodes, press, until, onSeen, timeoutMs }: FlowRun) {
  const button = nodeNamed(nodes, press);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const missing = new Set(until.map((name) => nodeNamed(nodes, name).id));
  const said = new Map<string, string>();
  const ended = Promise.withResolvers<void>();
  // A rejection that comes before anyone waits must not end the process.
  ended.promise.catch(() => undefined);

  function see(event: EditorEvent): void {
    const node = byId.get(event.nodeId);
    if (node === undefined) {
      return;
    }
    onSeen?.({ node, event });
    // Warnings in the log of any node reach the debug sidebar as well.
    if (event.kind !== "debug" || node.type !== "debug") {
      return;
    }
    const name = node.name ?? node.id;
    if (!until.includes(name)) {
      return ended.reject(new Error(`${name}: ${event.text}`));
    }
    said.set(name, event.text);
    missing.delete(node.id);
    if (missing.size === 0) {
      ended.resolve();
    }
  }

  const editorEvents = await openEditorEvents(url, see, () => ended.reject(new Error("Node-RED has ended.")));
  const timer = setTimeout(() => {
    const names = [...missing].map((id) => byId.get(id)?.name).join(", ");
    ended.reject(new Error(`After ${timeoutMs / 1000} s nothing has come to: ${names}.`));
  }, timeoutMs);
  try {
    // A connection that is kept may be ended by Node-RED, after 5 s, at the moment when the next press begins on it.
    const headers = { connection: "close" };
    const pressed = await fetch(`${url}/inject/${button.id}`, { method: "POST", headers });
    if (!pressed.ok) {
      throw new Error(`Node-RED did not press “${press}” (HTTP status ${pressed.status}).`);
    }
    await ended.promise;
    return said;
  } finally {
    clearTimeout(timer);
    editorEvents.close();
  }
}
