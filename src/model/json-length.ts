import { isContainer } from "./containers.ts";

interface Level {
  readonly container: object;
  readonly children: Iterator<readonly [key: string, value: unknown], undefined>;
}

/**
 * Whether the JSON of a value is certainly longer than so many characters; `indent` is that of JSON.stringify. Serializing it would tell
 * only at the end, after minutes for a Buffer, for a list with millions of holes, or for an object that is in many lists. This counts the
 * least that each part adds, and no further than to the limit. Throws a TypeError for a value that refers to itself, which has no JSON.
 */
export function isJsonLonger(value: unknown, most: number, indent = 0): boolean {
  const levels: Level[] = [];
  const open = new Set<object>();
  const lineAt = (level: number): number => (indent === 0 ? 0 : 1 + indent * level);
  /** Returns what a value adds without its children, and opens it if it may have some. */
  const take = (key: string, given: unknown): number => {
    const child = whatIsWritten(key, given);
    const parent = levels.at(-1)?.container;
    const isProperty = parent !== undefined && !Array.isArray(parent);
    if (isProperty && isLeftOut(child)) {
      return 0;
    }
    const name = isProperty ? `"${key}":,`.length + lineAt(levels.length) : 0;
    const line = lineAt(levels.length + 1);
    if (!isContainer(child)) {
      return name + lengthOf(child, line);
    }
    if (open.has(child)) {
      throw new TypeError("The value refers to itself.");
    }
    open.add(child);
    levels.push({ container: child, children: childrenOf(child) });
    // With the holes, which are written as null: a list of a few bytes can have billions.
    return name + 1 + (Array.isArray(child) ? child.length * (1 + line) : 0);
  };
  let length = take("", value);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (length > most) {
      return true;
    }
    const next = level.children.next();
    if (next.done === true) {
      levels.pop();
      open.delete(level.container);
    } else {
      length += take(...next.value);
    }
  }
  return length > most;
}

/** What JSON.stringify writes in place of a value, as a date or another object with a toJSON() chooses. */
function whatIsWritten(key: string, given: unknown): unknown {
  if (!isContainer(given)) {
    return given;
  }
  const toJson: unknown = Reflect.get(given, "toJSON");
  return typeof toJson === "function" ? Reflect.apply(toJson, given, [key]) : given;
}

/** A property with such a value is not written. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

/** The least that is written for a value without children; `line`: for each line within it. */
function lengthOf(value: unknown, line: number): number {
  if (typeof value === "string") {
    return value.length + 2;
  }
  if (typeof value === "number" && Number.isFinite(value)) {
    return String(value).length;
  }
  if (!ArrayBuffer.isView(value)) {
    return "null".length;
  }
  const count = "length" in value && typeof value.length === "number" ? value.length : 0;
  // The bytes of a Buffer are written as a list, the elements of other views with their index.
  return count * (line + (Buffer.isBuffer(value) ? "0,".length : '"":'.length + String(count).length));
}

function* childrenOf(container: object): Generator<readonly [key: string, value: unknown], undefined> {
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index += 1) {
      const value: unknown = container[index];
      yield [String(index), value];
    }
    return;
  }
  for (const key of Object.keys(container)) {
    yield [key, Reflect.get(container, key)];
  }
}
