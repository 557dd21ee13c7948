/** What JSON.parse tells of a value: the text of a number, a string, `true`, `false` or `null`. The types lack it yet. */
interface ParseContext {
  readonly source?: string;
}

/**
 * Plain JSON.parse, save for two things that it would get wrong without a word: integers beyond 2^53, which are ids and
 * stay strings, and a `__proto__` key, which is dropped. Both are rare, so they are looked for in the text first.
 */
export function parseJson(text: string): unknown {
  return /__proto__|\\u|\d{16}/.test(text) ? JSON.parse(text, reviveExactly) : JSON.parse(text);
}

function reviveExactly(key: string, value: unknown, context?: ParseContext): unknown {
  if (key === "__proto__") {
    return undefined;
  }
  const source = context?.source ?? "";
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
}
