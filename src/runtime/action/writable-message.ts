import type { Message } from "../messages.ts";

/**
 * A message to which results can be written: otherwise a device would have acted, and its result would be lost. The message itself, or a
 * copy if a flow has frozen it or has given it getters; a property whose getter throws is missing in the copy.
 */
export function writableMessage(msg: Message): Message {
  const properties = Object.getOwnPropertyDescriptors(msg);
  if (Object.isExtensible(msg) && Object.values(properties).every(({ writable }) => writable === true)) {
    return msg;
  }
  const copy: Message = { _msgid: "" };
  for (const name of Object.keys(properties)) {
    try {
      const value = msg[name];
      Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true });
    } catch {
      // Whoever needs it says that it is missing.
    }
  }
  return copy;
}

/**
 * Writes what a copy of a message has by now to the message, as far as it can be written to: Catch and Complete nodes get the message
 * itself.
 */
export function writeBack(copy: Message, msg: Message): void {
  for (const [name, value] of copy === msg ? [] : Object.entries(copy)) {
    const before = Object.getOwnPropertyDescriptor(msg, name);
    if (before === undefined || before.writable === true) {
      Reflect.set(msg, name, value);
    }
  }
}
