import { WebSocket } from "undici";

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
