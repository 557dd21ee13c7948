import type { ScanElement } from "../../model/shapes.ts";
import { readElement } from "./element.ts";
import { identifierAt, identifierNamed, identifiers } from "./table.ts";

/** The group separator, which scanners send for FNC1 between elements. */
export const separator = "\x1d";

/**
 * The elements of a GS1 element string. Nothing is lost: the text behind an unknown application identifier is its value
 * up to the next separator, and a value of the wrong length is an element all the same.
 */
export function readElementString(data: string, today: Date): ScanElement[] {
  const elements: ScanElement[] = [];
  let position = 0;
  let end = -1;
  while (position < data.length) {
    if (data[position] === separator) {
      position++;
      continue;
    }
    if (end < position) {
      const next = data.indexOf(separator, position);
      end = next < 0 ? data.length : next;
    }
    const found = identifierAt(data, position);
    // An identifier cannot contain a separator.
    const identifier = found !== null && position + found.ai.length <= end ? found : null;
    const start = position + (identifier?.ai.length ?? 0);
    const predefined = identifier?.predefinedLength ?? null;
    position = predefined === null ? end : Math.min(end, start + predefined);
    elements.push(readElement(identifier, data.slice(start, position), today));
  }
  return elements;
}

/** Writes elements as scanners send them, with a separator behind each value that may have several lengths. */
export function writeElementString(elements: readonly ScanElement[]): string {
  const parts = elements.map(({ ai, value }, place) => {
    const isDelimited = place < elements.length - 1 && identifierNamed(ai ?? "").predefinedLength === null;
    return `${ai ?? ""}${value}${isDelimited ? separator : ""}`;
  });
  return parts.join("");
}

/**
 * The elements of the human-readable form, "(01)09501101530003(10)ABC"; null for any other text. A bracket that begins
 * no application identifier belongs to the value, as does one behind a backslash.
 */
export function readBracketed(text: string, today: Date): ScanElement[] | null {
  const marks = [...text.matchAll(/(?<!\\)\((\d{2,4})\)/g)];
  const [first] = marks;
  if (first?.index !== 0 || !identifiers.has(first[1] ?? "")) {
    return null;
  }
  const elements = marks.map((mark, index) => {
    const value = text.slice(mark.index + mark[0].length, marks[index + 1]?.index);
    return readElement(identifierNamed(mark[1] ?? ""), value.replaceAll("\\(", "("), today);
  });
  // A number in brackets within a text does not make it an element string.
  return elements[0]?.problem === "characters" ? null : elements;
}
