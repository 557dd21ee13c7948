import bwipjs from "bwip-js";

type Pair = readonly [across: number, down: number];

/** Makes a rectangle black. */
export type Ink = (at: Pair, size: Pair) => void;

type Elements = readonly (readonly [ai: string, value: string])[];

interface Place {
  /** The top left corner. The quiet zone lies outside. */
  readonly at: Pair;
  /** The width of the narrowest bar, or of one dot. */
  readonly module: number;
}

/** Draws the elements as a GS1-128 barcode. */
export function drawGs1128(
  elements: Elements,
  { at, module, height }: Place & { height: number },
  ink: Ink,
): void {
  const [x, y] = at;
  let offset = 0;
  for (const [index, width] of encode("gs1-128", elements).entries()) {
    if (index % 2 === 0) {
      ink([x + offset * module, y], [width * module, height]);
    }
    offset += width;
  }
}

/** Draws the elements as a GS1 DataMatrix. */
export function drawGs1DataMatrix(elements: Elements, { at, module }: Place, ink: Ink): void {
  const [x, y] = at;
  const dots = encode("gs1datamatrix", elements);
  const side = Math.sqrt(dots.length);
  for (const [index, dot] of dots.entries()) {
    if (dot === 1) {
      ink([x + (index % side) * module, y + Math.floor(index / side) * module], [module, module]);
    }
  }
}

/** The widths of bars and spaces in turn, or the dots row by row. bwip-js refuses elements that are wrong. */
function encode(bcid: "gs1-128" | "gs1datamatrix", elements: Elements): readonly number[] {
  const text = elements.map(([ai, value]) => `(${ai})${value}`).join("");
  const [drawn] = bwipjs.raw({ bcid, text });
  if (drawn === undefined) {
    throw new Error(`bwip-js has drawn nothing of ${text}.`);
  }
  return "sbs" in drawn ? drawn.sbs : drawn.pixs;
}
