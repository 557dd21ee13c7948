import { type Phrase, ProblemError, phrase } from "../errors/interpolation.ts";
import { isContainer } from "./containers.ts";

/** Limits of a JSON text from outside, in addition to the limit of its bytes. */
export interface JsonLimits {
  /** How deeply lists and objects may be nested. */
  readonly depth: number;
  /** Items of one list, or fields of one object. */
  readonly entries: number;
  /** The number of all values: texts, numbers, lists, objects and the rest. */
  readonly values: number;
  /** Characters of one number; if it is given, a number has to be finite as well. */
  readonly numberLength?: number;
}

/**
 * What Node-RED can copy without a noticeable pause. It copies a message for each further wire, and does so
 * recursively: from about 1,900 levels on the copy fails, and one object with 100,000 fields takes 50 ms (measured on
 * Node-RED 4.1 and 5.0, Node 22.19 and 24; SECURITY.md has the numbers).
 */
const depth = 64;
const entries = 10_000;

/**
 * Limits for one record: a measurement, a device, or what a webhook receives. Real ones have fewer than a hundred
 * values.
 */
export const recordLimits: JsonLimits = { depth, entries, values: 10_000 };

/** Limits for a list of records, each of which may have 25 values. */
export const listLimits: JsonLimits = { depth, entries, values: 250_000 };

/** A text exceeds the limits. */
export class JsonLimitError extends ProblemError {}

/** A number of the text is too long, or beyond what a number can be. */
export class JsonNumberError extends ProblemError {}

/**
 * The third argument of JSON.parse's reviver: the source text of a number, a string, `true`, `false` or `null`. The
 * types do not have it yet.
 */
interface ParseContext {
  readonly source?: string;
}

/**
 * JSON.parse for texts from outside. It throws a JsonLimitError for a text that exceeds the limits, before anything is
 * built from it. It also corrects two things that JSON.parse does without an error: integers beyond 2^53, which are
 * ids, stay strings, and a `__proto__` key is dropped. Both are rare, so the text is searched for them first.
 */
export function parseJson(text: string, limits: JsonLimits): unknown {
  checkLimits(text, limits);
  const { numberLength = Infinity } = limits;
  const isLimited = numberLength < Infinity && mayBeExtreme.test(text);
  // A function for each value takes ten times as long as the rest.
  const value: unknown =
    isLimited || mayBeInexact.test(text)
      ? JSON.parse(text, (key, one: unknown, context?: ParseContext) =>
          typeof one === "number" ? readNumber(key, one, context?.source ?? "", numberLength) : one,
        )
      : JSON.parse(text);
  if (mayHavePrototype.test(text)) {
    dropPrototypes(value);
  }
  return value;
}

/** An integer that a number cannot hold is its text. */
function readNumber(key: string, value: number, source: string, numberLength: number): number | string {
  if (source.length > numberLength) {
    throw new JsonNumberError(phrase("numberLong", { name: nameOf(key), most: numberLength }));
  }
  if (!Number.isFinite(value) && numberLength < Infinity) {
    throw new JsonNumberError(phrase("numberInfinite", { name: nameOf(key) }));
  }
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
}

/** To whoever copies the object, this property would be its prototype. */
function dropPrototypes(value: unknown): void {
  for (const open: object[] = isContainer(value) ? [value] : []; open.length > 0;) {
    const container = open.pop() ?? [];
    if (Object.hasOwn(container, "__proto__")) {
      Reflect.deleteProperty(container, "__proto__");
    }
    for (const one of Object.values(container)) {
      if (isContainer(one)) {
        open.push(one);
      }
    }
  }
}

/** A number of many characters, or with an exponent of three digits. */
const mayBeExtreme = /[\d.]{15}|\de\+?0*[1-9]\d\d/i;

/** A key as a sentence may show it. */
function nameOf(key: string): string {
  return /^[\w.$-]{1,60}$/.test(key) ? key : "?";
}

/** The fields of a JSON object; null for any other text. */
export function parseFields(text: string, limits: JsonLimits): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJson(text, limits);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A string, with the colon and the value behind it if it is a name, and what begins or ends an object. */
const parts = /"((?:[^"\\]|\\.)*)"(\s*:\s*([^\s"{[,}\]]+|"(?:[^"\\]|\\.)*")?)?|[{}]/gs;
/** A longer text takes the engine more memory than it is worth: no measurement is as long. */
const mostSearched = 200_000;

/**
 * The name of a field that an object in a text of JSON has several times, with different values; undefined if there is none. JSON.parse takes
 * the last of them, another reader the first one.
 */
export function ambiguousName(text: string): string | undefined {
  const open: Map<string, string | undefined>[] = [];
  for (const [token, name = "", isName, value] of text.length > mostSearched ? [] : text.matchAll(parts)) {
    const fields = open.at(-1);
    if (token === "{") {
      open.push(new Map());
    } else if (token === "}") {
      open.pop();
    } else if (isName !== undefined && fields !== undefined) {
      if (fields.has(name) && (value === undefined || fields.get(name) !== value)) {
        return nameOf(name);
      }
      fields.set(name, value);
    }
  }
  return undefined;
}

const mayBeInexact = /\d{16}/;

/** `__proto__`, of which some letter may be written as an escape. */
const mayHavePrototype = /__proto__|\\u00(?:5f|6f|7[024])/i;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks the limits in one pass over the text, without recursion. It may accept a text that is not JSON, which
 * JSON.parse then refuses.
 */
function checkLimits(text: string, limits: JsonLimits): void {
  if (cannotExceed(text, limits)) {
    return;
  }
  /** The number of entries so far of each open list or object, by depth. */
  const entriesAt = new Uint32Array(limits.depth + 1);
  let open = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === openList || code === openObject) {
      if (++open > limits.depth) {
        throw new JsonLimitError(phrase("jsonLevels", { most: limits.depth }));
      }
      entriesAt[open] = 1;
      values++;
    } else if (code === comma) {
      const count = (entriesAt[open] ?? 0) + 1;
      entriesAt[open] = count;
      if (count > limits.entries) {
        throw new JsonLimitError(phrase("jsonEntries", { most: limits.entries }));
      }
      values++;
    } else if (code === closeList || code === closeObject) {
      open = Math.max(0, open - 1);
    }
    if (values > limits.values) {
      throw new JsonLimitError(phrase("jsonValues", { most: limits.values }));
    }
  }
}

/**
 * Whether a text is too short and too flat to exceed the limits, as nearly all are: each value takes two characters,
 * and each level an opening bracket.
 */
function cannotExceed(text: string, { depth: levels, entries: most, values }: JsonLimits): boolean {
  return (
    text.length < 2 * Math.min(most, values) && count(text, "{", levels) + count(text, "[", levels) <= levels
  );
}

/** How often a text contains a character; it counts no further than to `most` + 1. */
function count(text: string, character: string, most: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0 && found <= most; at = text.indexOf(character, at + 1)) {
    found += 1;
  }
  return found;
}

/** Finds what is wrong with a text that JSON.parse has refused, whose own message may quote the text. Positions count from 1. */
export function findJsonFault(text: string): Phrase {
  const isList: boolean[] = [];
  let wants: "colon" | "name" | "next" | "value" = "value";
  let at = 0;
  let name = "";
  /** What came last, for an empty container and for a decimal comma. */
  let last: "comma" | "number" | "open" | "other" = "other";
  let commaAt = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (;;) {
    at += match(/[ \t\r\n]*/y)?.length ?? 0;
    const count = at + 1;
    const token = text[at];
    if (token === undefined) {
      return phrase("jsonCut", { count: text.length });
    }
    if (wants === "next" && isList.length === 0) {
      return phrase("jsonMore", { count });
    }
    const isEmpty = last === "open" && (wants === "name" || wants === "value");
    if ((wants === "next" || isEmpty) && token === (isList.at(-1) === true ? "]" : "}")) {
      isList.pop();
      [wants, last] = ["next", "other"];
      at++;
    } else if (wants === "next" && token === ",") {
      commaAt = count;
      wants = isList.at(-1) === true ? "value" : "name";
      last = last === "number" ? "number" : "comma";
      at++;
    } else if (wants === "colon" && token === ":") {
      [wants, last] = ["value", "other"];
      at++;
    } else if ((wants === "name" || wants === "value") && token === '"') {
      const end = endOfString(text, at);
      const wrong = wrongInString(text, at, end);
      if (wrong !== undefined) {
        return phrase("jsonAt", { count: wrong + 1 });
      }
      if (end >= text.length) {
        return phrase("jsonCut", { count: text.length });
      }
      name = wants === "name" ? text.slice(at + 1, end) : name;
      [wants, last] = [wants === "name" ? "colon" : "next", "other"];
      at = end + 1;
    } else if (wants === "value" && (token === "{" || token === "[")) {
      isList.push(token === "[");
      [wants, last] = [token === "[" ? "value" : "name", "open"];
      at++;
    } else if (wants === "value") {
      const number = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/iy);
      const value = number ?? match(/(?:true|false|null)\b/y);
      if (value === undefined) {
        return isList.length === 0
          ? phrase("jsonAt", { count })
          : phrase("jsonNoValue", { name: nameOf(name), count });
      }
      [wants, last] = ["next", number === undefined ? "other" : "number"];
      at += value.length;
    } else if (wants === "name" && last === "number" && /\d/.test(token)) {
      return phrase("decimalCommaAt", { name: nameOf(name), count: commaAt });
    } else {
      return phrase("jsonAt", { count });
    }
  }
}

const escaped = /^\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/;
const longestEscape = 6;

/** The position of what no string of JSON has: a control character, such as one that divides a GS1 code, or a backslash before anything. */
function wrongInString(text: string, start: number, end: number): number | undefined {
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    const isCut = end >= text.length && end - at < longestEscape;
    if (code < 0x20 || (code === backslash && !isCut && !escaped.test(text.slice(at, at + longestEscape)))) {
      return at;
    }
    at += Number(code === backslash);
  }
  return undefined;
}

/** The position of the quote that ends the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) {
      at++;
    } else if (code === quote) {
      return at;
    }
  }
  return text.length;
}

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

/** Bytes that are reserved when the second chunk arrives. */
const firstRoomBytes = 16 * 1024;

/**
 * Collects the chunks of a body in one piece of memory. A list of chunks would cost some 100 bytes for each, and a
 * sender may send single bytes.
 */
export class ByteCollector {
  readonly #limitBytes: number;
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Adds a chunk. Returns false, and adds nothing, if the limit would be exceeded. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#limitBytes) {
      return false;
    }
    if (this.#length === 0) {
      // Most bodies are one chunk: that one is not copied.
      this.#memory = chunk;
    } else {
      this.#makeRoom(length);
      chunk.copy(this.#memory, this.#length);
    }
    this.#length = length;
    return true;
  }

  /** The bytes so far. */
  bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  #makeRoom(length: number): void {
    if (length <= this.#memory.length) {
      return;
    }
    const doubled = Math.min(this.#limitBytes, Math.max(firstRoomBytes, 2 * this.#memory.length));
    const larger = Buffer.allocUnsafe(Math.max(length, doubled));
    this.bytes().copy(larger);
    this.#memory = larger;
  }
}
