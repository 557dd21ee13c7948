import { isJsonLonger, parseFields } from "../../model/parse-json.ts";
import type { Message } from "../messages.ts";

/** What is kept of a message, in characters of its JSON. */
const mostKept = 64_000;
/** How many properties are named that are left out. */
const mostNamed = 100;
const limits = { depth: 64, entries: 10_000, values: 50_000 };

/** The name under which a message that was kept says which of its properties could not be. */
const leftOutName = "leftOut";

/**
 * The JSON of a message, without the properties that have none, such as Buffers and the request of an http node, and without those that
 * are too long together. It names them.
 */
export function keepMessage(msg: Message): string {
  const kept: string[] = [];
  const leftOut: string[] = [];
  let length = 0;
  for (const name of Object.keys(msg)) {
    const json = jsonOf(msg, name, mostKept - length);
    if (json === undefined) {
      leftOut.push(name.slice(0, 100));
    } else {
      length += name.length + json.length;
      kept.push(`${JSON.stringify(name)}:${json}`);
    }
  }
  if (leftOut.length > 0) {
    kept.push(`${JSON.stringify(leftOutName)}:${JSON.stringify(leftOut.slice(0, mostNamed))}`);
  }
  return `{${kept.join(",")}}`;
}

/** The message that was kept as this text; empty if it is not what was written. */
export function readKept(text: string): Partial<Record<string, unknown>> {
  return parseFields(text, limits) ?? {};
}

/** Undefined for a property that has no JSON which says the same, or a longer one. A getter may throw. */
function jsonOf(msg: Message, name: string, most: number): string | undefined {
  try {
    const value = msg[name];
    if (isJsonLonger(value, most) || !isPlain(value, limits.depth)) {
      return undefined;
    }
    const json = JSON.stringify(value);
    return json.length <= most ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the JSON of a value is the value; a function node makes objects of another realm. */
function isPlain(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) {
    return typeof value === "number"
      ? Number.isFinite(value)
      : value === null || ["string", "boolean"].includes(typeof value);
  }
  const isList = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOfClass = !isList && prototype !== null && Object.getPrototypeOf(prototype) !== null;
  return !isOfClass && levels > 0 && Object.values(value).every((one) => isPlain(one, levels - 1));
}
