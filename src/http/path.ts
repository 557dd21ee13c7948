import type { DimensionerError } from "../errors.ts";

/**
 * Encodes an id for a path. Ids are opaque, yet one that a server could read as more than one path part, after decoding
 * it once or twice, is refused: `../measure` would arrive as a measure.
 */
export function encodeId(id: string, fail: (problem: string) => DimensionerError): string {
  const plain = id.normalize("NFKC");
  if (plain.trim() === "") {
    throw fail("it is empty.");
  }
  if (/[/\\%?#\p{Cc}]/u.test(plain) || plain.includes("..") || plain.trim() === ".") {
    throw fail("an id has no slashes, dots in a row, percent or control characters.");
  }
  if (id.length > 200) {
    throw fail("it is longer than 200 characters.");
  }
  return encodeURIComponent(id.toWellFormed());
}
