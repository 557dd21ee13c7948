import type { ScanElement } from "../../model/shapes.ts";
import { isDigits } from "./check-digits.ts";
import { readElement } from "./element-string.ts";
import { identifierNamed, identifiers, type Component, type Identifier } from "./table.ts";

const address = /^https?:\/\/[^/?#\s]+(\/[^?#\s]*)(?:\?([^#\s]*))?(?:#\S*)?$/i;

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
  const elements = elementsOf([...inPath, ...readQuery(query)], today);
  // An address with the parts of a date is none: https://example.com/2026/11/01/news.
  const problem = elements[0]?.problem ?? "checkDigit";
  return problem === "checkDigit" ? elements : null;
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

/*
 * The compressed form of GS1 Digital Link (GS1 Digital Link standard 1.1, “Compression and decompression”; its tables are also in GS1's
 * GS1DigitalLinkToolkit.js, Apache License 2.0): bits, written in the alphabet of base64url.
 */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const hexadecimal = "0123456789abcdef";
const compressed = /^[\w-]{9,400}$/;

/** Application identifiers that are often together, by the byte that stands for them. */
const sequences: ReadonlyMap<number, readonly string[]> = new Map(
  (
    "0A 01 22|0B 01 10|0C 01 21|0D 01 17|0E 01 7003|0F 01 30|1A 01 10 21 17|1B 01 15|1C 01 11|1D 01 16|1E 01 91|1F 01 10 15|" +
    "9A 8010 8011|9B 8017 8019|9C 8018 8019|9D 414 254|CA 255 3940|CB 255 3941|CC 255 3942|CD 255 3943"
  )
    .split("|")
    .concat(
      range("2A", "01", "310", 6),
      range("3A", "01", "320", 6),
      range("A0", "01", "392", 10),
      range("C0", "255", "390", 10),
    )
    .map((row): [number, string[]] => {
      const [byte = "", ...ais] = row.split(" ");
      return [Number.parseInt(byte, 16), ais];
    }),
);

function range(first: string, ai: string, other: string, count: number): string[] {
  return Array.from(
    { length: count },
    (_, index) => `${(Number.parseInt(first, 16) + index).toString(16)} ${ai} ${other}${index}`,
  );
}

/** The standard gives an IBAN another length than the table of application identifiers does. */
const otherLength = "8007";

/**
 * The elements in the last part of a compressed link's path; null for any other text. Nothing says that it is one: the caller has to
 * check that all elements are right.
 */
function readCompressed(text: string): [ai: string, value: string][] | null {
  if (!compressed.test(text)) {
    return null;
  }
  const bits = new Bits(text);
  const elements: [string, string][] = [];
  while (bits.left > 8) {
    const byte = bits.read(8);
    const ais = byte >> 4 < 10 && byte % 16 < 10 ? [identifierIn(bits, byte)] : sequences.get(byte);
    if (ais === undefined && byte >> 4 === 15) {
      // A pair that is not of GS1.
      bits.readText((byte % 16) * 8 + bits.read(3), 3);
      bits.readText(undefined, undefined, 7);
      continue;
    }
    for (const ai of ais ?? [""]) {
      const identifier = identifiers.get(ai);
      if (identifier === undefined || ai === otherLength) {
        return null;
      }
      elements.push([ai, readValue(bits, identifier)]);
    }
  }
  // What is left fills the last character.
  return bits.isWhole() ? elements : null;
}

/** The application identifier that begins with two digits of a byte. */
function identifierIn(bits: Bits, byte: number): string {
  const start = byte.toString(16).padStart(2, "0");
  const length = [...identifiers.keys()].find((ai) => ai.startsWith(start))?.length ?? 2;
  return Array.from({ length: length - 2 }, () => bits.read(4).toString(16)).reduce(
    (ai, digit) => ai + digit,
    start,
  );
}

function readValue(bits: Bits, { components }: Identifier): string {
  return (components === null ? [] : joined(components))
    .map(({ isNumber, most, isFixed }) =>
      isNumber
        ? bits.readDigits(isFixed ? most : bits.read(bitsOfLength(most)))
        : isFixed
          ? bits.readText(most)
          : bits.readText(undefined, undefined, bitsOfLength(most)),
    )
    .join("");
}

interface Part {
  readonly isNumber: boolean;
  readonly most: number;
  readonly isFixed: boolean;
}

/** The standard has neighbours of the same kind as one component. */
function joined(components: readonly Component[]): Part[] {
  const parts: Part[] = [];
  for (const { characters, least, most, isOptional } of components) {
    const part = { isNumber: !characters.test("A"), most, isFixed: least === most && !isOptional };
    const before = parts.at(-1);
    const isSame = before?.isNumber === part.isNumber && (before.isFixed === part.isFixed || !part.isNumber);
    if (before !== undefined && isSame) {
      parts[parts.length - 1] = {
        ...part,
        most: before.most + most,
        isFixed: before.isFixed && part.isFixed,
      };
    } else {
      parts.push(part);
    }
  }
  return parts;
}

function bitsOfLength(most: number): number {
  return Math.ceil(Math.log2(most) + 0.01);
}

/** How characters are written: by so many bits, each an index of the alphabet, or the character itself. */
const encodings: readonly (readonly [size: number, alphabet: string | null])[] = [
  [0, null],
  [4, hexadecimal],
  [4, hexadecimal.toUpperCase()],
  [6, alphabet],
  [7, null],
];

/** Reads bits from left to right; beyond the end they are 0, and `isWhole` is false. */
class Bits {
  readonly #bits: string;
  #position = 0;

  constructor(text: string) {
    this.#bits = Array.from(text, (one) => alphabet.indexOf(one).toString(2).padStart(6, "0")).join("");
  }

  get left(): number {
    return this.#bits.length - this.#position;
  }

  isWhole(): boolean {
    return this.left >= 0 && !this.#bits.slice(this.#position).includes("1");
  }

  #take(count: number): string {
    const taken = this.#bits.slice(this.#position, this.#position + count).padEnd(count, "0");
    this.#position += count;
    return taken;
  }

  read(count: number): number {
    return Number.parseInt(`0${this.#take(count)}`, 2);
  }

  readDigits(length: number): string {
    const count = Math.ceil(length * Math.log2(10) + 0.01);
    return length === 0
      ? ""
      : BigInt(`0b${this.#take(count)}`)
          .toString()
          .padStart(length, "0");
  }

  /** Text whose length is given, or is in front in so many bits, behind the number of the encoding, if that is not given. */
  readText(given?: number, encoding = this.read(3), lengthBits = 0): string {
    const length = given ?? this.read(lengthBits);
    const [size, characters] = encodings[encoding] ?? [7, null];
    return size === 0
      ? this.readDigits(length)
      : Array.from({ length }, () => {
          const index = this.read(size);
          return characters?.charAt(index) ?? String.fromCharCode(index);
        }).join("");
  }
}
