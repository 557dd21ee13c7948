import type { MediaItem } from "../model/shapes.ts";

/**
 * Returns the expected media that are missing. An entry stands for an item with that content type or description, in
 * any letter case; an entry that is given twice stands for two items.
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
