/** The meaning of an AIM identifier in front of a scan (ISO/IEC 15424). */
export interface Aim {
  /** As sent: "]C1". */
  readonly identifier: string;
  readonly symbology: string;
  /** How to read the scan: as a GS1 element string, as the number of a retail article, or by its content. */
  readonly content: "gs1" | "ean" | "ean8" | "itf" | "any";
}

const names: Readonly<Record<string, string>> = {
  A: "Code 39",
  B: "Telepen",
  C: "Code 128",
  E: "EAN/UPC",
  F: "Codabar",
  G: "Code 93",
  H: "Code 11",
  I: "Interleaved 2 of 5",
  J: "DotCode",
  K: "Code 16K",
  L: "PDF417",
  M: "MSI",
  O: "Codablock",
  P: "Plessey",
  Q: "QR Code",
  R: "Straight 2 of 5",
  S: "Straight 2 of 5",
  T: "Code 49",
  U: "MaxiCode",
  X: "other",
  d: "Data Matrix",
  e: "GS1 DataBar",
  g: "Grid Matrix",
  h: "Han Xin Code",
  o: "OCR",
  p: "PosiCode",
  s: "SuperCode",
  z: "Aztec Code",
};

/** FNC1 in the first position: an element string follows. */
const gs1: Readonly<Record<string, string>> = {
  C1: "GS1-128",
  J1: "GS1 DotCode",
  J4: "GS1 DotCode",
  Q3: "GS1 QR Code",
  Q4: "GS1 QR Code",
  d2: "GS1 DataMatrix",
  d5: "GS1 DataMatrix",
  e0: "GS1 DataBar",
  e1: "GS1 Composite",
  e2: "GS1 Composite",
};

const modifier = /[0-9A-Za-z]/;

/** The AIM identifier at the beginning of a scan; undefined if there is no known one. */
export function readAim(text: string): Aim | undefined {
  const letter = text.charAt(1);
  const name = text.startsWith("]") ? names[letter] : undefined;
  if (name === undefined || !modifier.test(text.charAt(2))) {
    return undefined;
  }
  const identifier = text.slice(0, 3);
  const code = text.slice(1, 3);
  const ofGs1 = gs1[code];
  if (ofGs1 !== undefined) {
    return { identifier, symbology: ofGs1, content: "gs1" };
  }
  if (letter === "E") {
    return { identifier, symbology: code === "E4" ? "EAN-8" : name, content: code === "E4" ? "ean8" : "ean" };
  }
  return { identifier, symbology: name, content: letter === "I" ? "itf" : "any" };
}

/** All identifiers without their brackets, and their names, for the documentation. */
export const symbologies: readonly (readonly [identifier: string, name: string])[] = [
  ...Object.entries(gs1),
  ["E4", "EAN-8"],
  ...Object.entries(names).map(([letter, name]): [string, string] => [`${letter}…`, name]),
];
