import type { Parcel } from "../src/simulator/catalogue/parcels.ts";
import { weightLb } from "../src/simulator/catalogue/parcels.ts";
import { drawText, ffmpeg } from "./ffmpeg.ts";
import { clamp } from "./vector.ts";

const labelWidth = 400;
const labelHeight = 600;

// Interleaved 2 of 5: the wide ones of the five bars (or spaces) of each digit.
const widePatterns = [
  "nnwwn",
  "wnnnw",
  "nwnnw",
  "wwnnn",
  "nnwnw",
  "wnwnn",
  "nwwnn",
  "nnnww",
  "wnnwn",
  "nwnwn",
];

/** The bars of an even number of digits: [offset, width] in modules. */
function bars(digits: string): readonly (readonly [number, number])[] {
  let widths = "nnnn";
  for (let pair = 0; pair < digits.length; pair += 2) {
    const black = widePatterns[Number(digits[pair])] ?? "";
    const white = widePatterns[Number(digits[pair + 1])] ?? "";
    for (const [i, width] of [...black].entries()) {
      widths += width + (white[i] ?? "");
    }
  }
  widths += "wnn";
  const found: [number, number][] = [];
  let offset = 0;
  for (const [i, width] of [...widths].entries()) {
    const modules = width === "w" ? 3 : 1;
    if (i % 2 === 0) {
      found.push([offset, modules]);
    }
    offset += modules;
  }
  return found;
}

const addresses: readonly (readonly [string, string, string])[] = [
  ["M. OKAFOR", "14 HARBOUR LANE", "PORTSIDE 20417"],
  ["LINDQVIST AB", "BRYGGATAN 7", "SODERVIK 61132"],
  ["J. MORENO", "88 ORCHARD STREET APT 5", "FAIRFIELD 45014"],
  ["ATELIER BLANC", "3 RUE DES TISSERANDS", "VILLENOVE 38260"],
  ["S. HARTMANN", "MUEHLENWEG 21", "NEUSTADT 31535"],
  ["TANAKA TRADING", "2-11 MINATO", "KITAHAMA 541-0041"],
];

/** A shipping label of 10 × 15: brightness from 0 to 1 at a place given by fractions from its top left corner. */
export type Label = (across: number, down: number) => number;

export function label(parcel: Parcel, number: number): Label {
  const [who, street, town] = addresses[number % addresses.length] ?? ["", "", ""];
  const module = 2;
  const boxes = bars(parcel.barcode).map(([at, wide]) => [28 + at * module, 400, wide * module, 130]);
  const lines = [8, 96, 186, 330, 388].map((y) => [8, y, labelWidth - 16, y === 388 ? 6 : 3]);
  const frame = [
    [8, 8, 92, 88],
    [8, 8, 3, 584],
    [389, 8, 3, 584],
    [8, 589, 384, 3],
    [270, 330, 3, 58],
  ];
  const filters = [
    ...[...boxes, ...lines, ...frame].map(([x, y, w, h]) => `drawbox=${x}:${y}:${w}:${h}:black:fill`),
    drawText({ text: "P", x: 32, y: 22, size: 76, color: "white" }),
    drawText({ text: "PARCEL PRIORITY", x: 114, y: 24, size: 28 }),
    drawText({ text: `${weightLb(parcel).toFixed(2)} LB   1 OF 1`, x: 114, y: 62, size: 20 }),
    drawText({ text: "FROM  PACKING TABLE 4", x: 20, y: 108, size: 19 }),
    drawText({ text: "DISPATCH HALL B", x: 20, y: 134, size: 19 }),
    drawText({ text: "DOCK 12", x: 20, y: 159, size: 19 }),
    drawText({ text: "SHIP TO", x: 20, y: 196, size: 16 }),
    ...[who, street, town].map((text, line) => drawText({ text, x: 20, y: 218 + line * 36, size: 27 })),
    drawText({ text: `RT ${town.slice(-5)}`, x: 20, y: 340, size: 38 }),
    drawText({ text: `${number + 3}B`, x: 300, y: 338, size: 42 }),
    drawText({ text: parcel.barcode.replace(/(..)(?=.)/g, "$1 "), x: "(w-tw)/2", y: 548, size: 21 }),
  ];
  const source = [
    "-f",
    "lavfi",
    "-i",
    `color=white:s=${labelWidth}x${labelHeight}`,
    "-vf",
    filters.join(","),
  ];
  const pixels = ffmpeg([...source, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"]);
  return (across, down) => {
    const column = clamp(Math.floor(across * labelWidth), 0, labelWidth - 1);
    const row = clamp(Math.floor(down * labelHeight), 0, labelHeight - 1);
    return (pixels[row * labelWidth + column] ?? 255) / 255;
  };
}
