import { DimensionerError, type Surface } from "../errors.ts";

/**
 * Encodes a value that becomes one part of a path. Ids are opaque, yet one that a server could read as more than one
 * part, after decoding it once or twice, is refused with ERR_INPUT: `../measure` would arrive as a measure.
 */
export function encodePart(surface: Surface, operation: string, field: string, value: string): string {
  const fail = (problem: string): DimensionerError =>
    new DimensionerError("inputValue", { surface, operation }, { field, value: shorten(value), problem });
  const plain = value.normalize("NFKC");
  if (plain.trim() === "") {
    throw fail("it is empty.");
  }
  if (value.length > 200) {
    throw fail("it is longer than 200 characters.");
  }
  if (/[/\\%?#\p{Cc}]/u.test(plain) || plain.includes("..") || plain.trim() === ".") {
    throw fail("an id has no slashes, dots in a row, percent or control characters.");
  }
  return encodeURIComponent(value.toWellFormed());
}

/** A value from a message as a sentence shows it, however long it is. */
export function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
