import type { MediaItem } from "../model/shapes.ts";

/**
 * What is expected and not there. An entry is met by an item of that content type or description, whatever the case; an
 * entry that is named twice wants two items.
 */
export function missingMedia(items: readonly MediaItem[], expect: readonly string[]): string[] {
  const wanted = expect.map((entry) => entry.toLowerCase());
  return expect.filter((_entry, index) => {
    const name = wanted[index];
    const matches = items.filter(
      (item) => item.contentType?.toLowerCase() === name || item.description?.toLowerCase() === name,
    ).length;
    const wantedSoFar = wanted.slice(0, index + 1).filter((other) => other === name).length;
    return matches < wantedSoFar;
  });
}

/** Reads the comma-separated form of a node's property. */
export function readExpected(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
