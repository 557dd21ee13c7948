import { DimensionerError, type Surface } from "../errors/dimensioner-error.ts";
import { field, phrase, type FieldName, type Phrase } from "../errors/interpolation.ts";

const longestId = 200;

/**
 * Encodes a value as one part of a path. Ids are opaque, but one that a server could read as several parts, after
 * decoding it once or twice, is refused with ERR_INPUT: `../measure` would arrive as a measure.
 */
export function encodePart(surface: Surface, operation: string, name: FieldName, value: string): string {
  const fail = (problem: Phrase): DimensionerError =>
    new DimensionerError(
      "inputValue",
      { surface, operation },
      { field: field(name), value: shorten(value), problem },
    );
  // First, because a character can become 18 of them below: of a long text that would take seconds, and more memory than there is.
  if (value.length > longestId) {
    throw fail(phrase("tooLong", { most: longestId }));
  }
  const plain = value.normalize("NFKC");
  if (plain.trim() === "") {
    throw fail(phrase("empty"));
  }
  if (/[/\\%?#\p{Cc}]/u.test(plain) || plain.includes("..") || plain.trim() === ".") {
    throw fail(phrase("idCharacters"));
  }
  return encodeURIComponent(value.toWellFormed());
}

/** Shortens a value from a message for a sentence. */
export function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
