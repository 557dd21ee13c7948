import { isSafeNumber, type ParseOptions, parse as parseLossless } from "lossless-json";

/**
 * Plain JSON.parse, save for two things that it would get wrong without a word: integers beyond 2^53, which are ids and
 * stay strings, and a `__proto__` key, which is dropped. Both are rare, so they are looked for in the text first.
 */
export function parseJson(text: string): unknown {
  const reviver = /__proto__|\\u/.test(text)
    ? (key: string, value: unknown): unknown => (key === "__proto__" ? undefined : value)
    : undefined;
  return /\d{16}/.test(text) ? parseLossless(text, reviver, asJsonParse) : JSON.parse(text, reviver);
}

const asJsonParse: ParseOptions = {
  parseNumber: (digits) => (/^-?\d+$/.test(digits) && !isSafeNumber(digits) ? digits : Number(digits)),
  onDuplicateKey: ({ newValue }) => newValue,
};
