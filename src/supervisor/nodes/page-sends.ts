// Whoever can open the page can make a browser send anything: only an acknowledgement is let through, in a new message.
import type { AcknowledgeMessage } from "../types.ts";

export function onMessage(msg: Readonly<Record<string, unknown>>): AcknowledgeMessage | null {
  const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 4096;
  const { topic, payload } = msg;
  const { id, name }: { id?: unknown; name?: unknown } =
    typeof payload === "object" && payload !== null ? payload : {};
  return topic === "acknowledge" && isText(id) && isText(name) ? { topic, payload: { id, name } } : null;
}
