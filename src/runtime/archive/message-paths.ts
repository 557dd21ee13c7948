import type { NodeAPI } from "node-red";
import type { Message } from "../messages.ts";

// Where the name of a property leads in a message, for what is written to a message after a restart. Node-RED's own setMessageProperty
// would make a list of 200 million elements for items[200000000].

export type Path = readonly (string | number)[];

/**
 * The keys that lead to a property; none if its name refers to another one that the message does not have, as in items[msg.index], or
 * that is neither a text nor a number.
 */
export function pathOf(RED: NodeAPI, msg: Message, name: string): Path {
  let keys: readonly unknown[];
  try {
    keys = RED.util.normalisePropertyExpression(name.replace(/^msg\./, ""), msg);
  } catch {
    return [];
  }
  const path = keys.filter((key) => typeof key === "string" || typeof key === "number");
  return path.length === keys.length ? path : [];
}

/** What a path leads to; undefined for nothing. */
export function valueAt(msg: object, path: Path): unknown {
  return path.length === 0 ? undefined : path.reduce<unknown>(readKey, msg);
}

function readKey(from: unknown, key: string | number): unknown {
  return isContainer(from) || typeof from === "string" ? Reflect.get(Object(from), key) : undefined;
}

/** Whether the second path leads to what the first one leads to, or into it. */
export function isWithin(outer: Path, inner: Path): boolean {
  return outer.every((key, index) => String(key) === String(inner[index]));
}

/**
 * Puts a value where a path leads, in objects that are made where there is nothing yet, also in place of a list: an object that has
 * the element 1 is not taken for the whole list. Returns false if it cannot be put there: a value without properties is in between, or
 * it would be a new element of a list.
 */
export function putAt(target: object, [key, ...rest]: Path, value: unknown): boolean {
  // A key __proto__ would not become a property.
  if (key === undefined || key === "__proto__" || (Array.isArray(target) && !isElement(target, key))) {
    return false;
  }
  if (rest.length === 0) {
    return Reflect.set(target, key, value);
  }
  const inside: unknown = Object.hasOwn(target, key) ? Reflect.get(target, key) : null;
  if (inside !== null && inside !== undefined) {
    return isContainer(inside) && putAt(inside, rest, value);
  }
  const made = {};
  return putAt(made, rest, value) && Reflect.set(target, key, made);
}

/** Whether a list has it; its length is none. */
function isElement(list: readonly unknown[], key: string | number): boolean {
  return key !== "length" && Object.hasOwn(list, key);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
