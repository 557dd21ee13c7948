import type { ScanElement } from "../../model/shapes.ts";
import { isDigits } from "./check-digits.ts";
import { readCompressed } from "./compressed-link.ts";
import { readElement } from "./element-string.ts";
import { identifierNamed, identifiers } from "./table.ts";

const address = /^(?:https?|HTTPS?):\/\/[^/?#\s]+(\/[^?#\s]*)(?:\?([^#\s]*))?(?:#\S*)?$/;

/**
 * The elements of a GS1 Digital Link URI, such as https://example.com/01/09501101530003/10/ABC?17=271231; null for any other
 * text. Qualifiers and attributes count in any order: what a scanner has read is not refused for its grammar.
 */
export function readDigitalLink(text: string, today: Date): ScanElement[] | null {
  const [, path, query = ""] = address.exec(text) ?? [];
  if (path === undefined) {
    return null;
  }
  const parts = path.replace(/\/$/, "").split("/").slice(1);
  const inPath = readPath(parts);
  if (inPath === null) {
    return readCompressedLink(parts, query, today);
  }
  return elementsOf([...inPath, ...readQuery(query)], today);
}

/**
 * The elements of a link whose path is compressed, all of it or behind its key. Nothing but its elements says that it is one, so all of
 * them have to be right, and a key with its check digit among them.
 */
function readCompressedLink(parts: readonly string[], query: string, today: Date): ScanElement[] | null {
  const inside = readCompressed(parts.at(-1) ?? "");
  if (inside === null) {
    return null;
  }
  const elements = elementsOf(
    [...(readPath(parts.slice(0, -1)) ?? []), ...inside, ...readQuery(query)],
    today,
  );
  const hasKey = elements.some(({ ai }) => {
    const { isKey, components } = identifierNamed(ai ?? "");
    return isKey && components?.some(({ rules }) => rules.includes("csum")) === true;
  });
  return hasKey && elements.every(({ checked }) => checked === true) ? elements : null;
}

function readQuery(query: string): [string, string][] {
  return query
    .split("&")
    .map((part): [string, string] => {
      const mark = part.indexOf("=");
      return mark < 0 ? ["", ""] : [part.slice(0, mark), unescape(part.slice(mark + 1).replaceAll("+", " "))];
    })
    .filter(([name]) => isDigits(name));
}

function elementsOf(pairs: readonly (readonly [ai: string, value: string])[], today: Date): ScanElement[] {
  return pairs.map(([ai, value]) => readElement(identifierNamed(ai), fullLength(ai, value), today));
}

/** The last key and what qualifies it, in pairs up to the end of the path. */
function readPath(parts: readonly string[]): [string, string][] | null {
  const pairs: [string, string][] = [];
  for (let index = parts.length - 2; index >= 0; index -= 2) {
    const [ai = "", value = ""] = parts.slice(index, index + 2);
    if (!isDigits(ai) || value === "") {
      return null;
    }
    pairs.unshift([ai, unescape(value)]);
    if (identifiers.get(ai)?.isKey === true) {
      return pairs;
    }
  }
  return null;
}

/** Earlier releases of the standard left out the zeros in front of a shorter GTIN. */
function fullLength(ai: string, value: string): string {
  return ai === "01" && [8, 12, 13].includes(value.length) && isDigits(value)
    ? value.padStart(14, "0")
    : value;
}

/** What is not escaped properly stays as it is. */
function unescape(text: string): string {
  if (!text.includes("%")) {
    return text;
  }
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
