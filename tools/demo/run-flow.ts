import type { FlowNode } from "./examples.ts";
import { nodeNamed } from "./examples.ts";
import { openEditorEvents, type EditorEvent } from "./editor-events.ts";

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
