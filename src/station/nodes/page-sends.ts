// Whoever can open the page can make a browser send anything. What the page has to say is put into a new message, and
// nothing else is let through: a scan to output 1, the rest to output 2.
import type { HelloMessage, InputMessage } from "../types.ts";

export function onMessage(
  msg: Readonly<Record<string, unknown>>,
): [InputMessage | null, HelloMessage | InputMessage | null] | null {
  const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 4096;
  const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null ? { ...value } : {};
  const { topic, station, input, at, payload } = msg;
  const { socketId } = fieldsOf(msg["_client"]);
  if (!isText(socketId)) {
    return null;
  }
  const from = { station: isText(station) ? station : null, _client: { socketId } };
  if (topic === "hello") {
    const { version, boot, reference, isMade } = fieldsOf(payload);
    const said = {
      version: typeof version === "number" && Number.isInteger(version) ? version : undefined,
      boot: isText(boot) ? boot : undefined,
      reference: isText(reference) ? reference : undefined,
      isMade: isMade === true,
    };
    return [null, { topic, ...from, payload: said }];
  }
  const isInput = isText(input) && typeof at === "number" && Number.isFinite(at) && isText(payload);
  if ((topic !== "scan" && topic !== "button") || !isInput) {
    return null;
  }
  const sent: InputMessage = { topic, ...from, input, at, payload };
  return sent.topic === "scan" ? [sent, null] : [null, sent];
}
