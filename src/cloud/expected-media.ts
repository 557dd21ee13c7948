import { lackingNames } from "../model/measure-result.ts";
import type { MediaItem } from "../model/shapes.ts";

/**
 * Returns the expected media that are missing. An entry stands for an item with that content type or description, in
 * any letter case; an entry that is given twice stands for two items.
 */
export function missingMedia(items: readonly MediaItem[], expect: readonly string[]): string[] {
  return lackingNames(expect, items.flatMap(namesOf));
}

/** An item whose description is its content type is one of that name, not two. */
function namesOf({ contentType, description }: MediaItem): string[] {
  const names = [contentType, description].flatMap((name) => name?.toLowerCase() ?? []);
  return [...new Set(names)];
}

/** Reads the comma-separated form of a node's property. */
export function readExpected(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
