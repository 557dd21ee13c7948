/**
 * How much of a text a column has that an index leads to, in characters. PostgreSQL refuses a row with more than 2,704 bytes in an
 * index. A character has at most four, and there is a time beside the text.
 */
const longestIndexed = 500;

/** Returns a text as such a column has it: its beginning if it is longer. What is looked up in the column is cut in the same way. */
export function indexedText(text: string): string;
export function indexedText(text: string | null): string | null;
export function indexedText(text: string | null): string | null {
  if (text === null || text.length <= longestIndexed) {
    return text;
  }
  // Not through the middle of a character, which takes one or two places.
  return Array.from(text.slice(0, 2 * longestIndexed))
    .slice(0, longestIndexed)
    .join("");
}
