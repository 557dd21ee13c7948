import { labelElements, orderNumber } from "../src/simulator/catalogue/labels.ts";
import type { Parcel } from "../src/simulator/catalogue/parcels.ts";
import { weightLb } from "../src/simulator/catalogue/parcels.ts";
import { drawGs1128, drawGs1DataMatrix, type Ink } from "./barcodes.ts";
import { drawText, ffmpeg } from "./ffmpeg.ts";
import { clamp } from "./vector.ts";

/** 10 × 15 cm at 8 dots a millimetre, each black or white, as label printers print them. */
const labelWidth = 800;
const labelHeight = 1200;

const addresses: readonly (readonly [string, string, string])[] = [
  ["M. OKAFOR", "14 HARBOUR LANE", "PORTSIDE 20417"],
  ["LINDQVIST AB", "BRYGGATAN 7", "SODERVIK 61132"],
  ["J. MORENO", "88 ORCHARD STREET APT 5", "FAIRFIELD 45014"],
  ["ATELIER BLANC", "3 RUE DES TISSERANDS", "VILLENOVE 38260"],
  ["S. HARTMANN", "MUEHLENWEG 21", "NEUSTADT 31535"],
  ["TANAKA TRADING", "2-11 MINATO", "KITAHAMA 541-0041"],
];

/** How bright a label is, from 0 to 1, at a place given by fractions from its top left corner. */
export type Brightness = (across: number, down: number) => number;

export interface Label {
  readonly brightness: Brightness;
  /** As a file to look at, to print, and to scan from a screen. */
  png(): Buffer;
}

/** Draws the parcel's shipping label: its texts by ffmpeg, its codes dot by dot. */
export function label(parcel: Parcel, number: number): Label {
  const pixels = texts(parcel, number);
  const ink: Ink = ([x, y], [width, height]) => {
    for (let row = y; row < y + height; row += 1) {
      pixels.fill(0, row * labelWidth + x, row * labelWidth + x + width);
    }
  };
  drawGs1DataMatrix(labelElements(parcel, "gs1-datamatrix"), { at: [584, 208], module: 7 }, ink);
  drawGs1128(labelElements(parcel, "gs1-128"), { at: [88, 800], module: 4, height: 270 }, ink);
  return {
    brightness(across, down) {
      const column = clamp(Math.floor(across * labelWidth), 0, labelWidth - 1);
      const row = clamp(Math.floor(down * labelHeight), 0, labelHeight - 1);
      return (pixels[row * labelWidth + column] ?? 255) / 255;
    },
    png: () => ffmpeg([...rawFormat, "-i", "-", ...pngFormat], pixels),
  };
}

const rawFormat = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", `${labelWidth}x${labelHeight}`];
const pngFormat = "-sws_dither none -pix_fmt monob -c:v png -bitexact -f image2pipe -".split(" ");

/** Everything on the label but its codes: frame, addresses, and what people read. */
function texts(parcel: Parcel, number: number): Uint8Array {
  const [who, street, town] = addresses[number % addresses.length] ?? ["", "", ""];
  const lines = [16, 192, 408, 660, 776].map((y) => [16, y, labelWidth - 32, y === 776 ? 12 : 6]);
  const frame = [
    [16, 16, 184, 176],
    [16, 16, 6, 1168],
    [778, 16, 6, 1168],
    [16, 1178, 768, 6],
    [540, 660, 6, 116],
  ];
  const { barcode } = parcel;
  const sscc = `(00) ${barcode[0]} ${barcode.slice(1, 8)} ${barcode.slice(8, 17)} ${barcode[17]}`;
  const filters = [
    ...[...lines, ...frame].map(([x, y, w, h]) => `drawbox=${x}:${y}:${w}:${h}:black:fill`),
    drawText({ text: "P", x: 64, y: 44, size: 152, color: "white" }),
    drawText({ text: "PARCEL PRIORITY", x: 228, y: 48, size: 56 }),
    drawText({ text: `${weightLb(parcel).toFixed(2)} LB   1 OF 1`, x: 228, y: 124, size: 40 }),
    drawText({ text: "FROM  PACKING TABLE 4", x: 40, y: 212, size: 38 }),
    drawText({ text: "DISPATCH HALL B", x: 40, y: 262, size: 38 }),
    drawText({ text: "DOCK 12", x: 40, y: 312, size: 38 }),
    drawText({ text: `ORDER ${orderNumber(parcel)}`, x: 40, y: 362, size: 32 }),
    drawText({ text: "SHIP TO", x: 40, y: 424, size: 32 }),
    ...[who, street, town].map((text, line) => drawText({ text, x: 40, y: 466 + line * 64, size: 52 })),
    drawText({ text: `RT ${town.slice(-5)}`, x: 40, y: 680, size: 76 }),
    drawText({ text: `${number + 3}B`, x: 600, y: 676, size: 84 }),
    drawText({ text: sscc, x: "(w-tw)/2", y: 1100, size: 42 }),
  ];
  const source = `color=white:s=${labelWidth}x${labelHeight}`;
  const output = ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
  const gray = ffmpeg(["-f", "lavfi", "-i", source, "-vf", filters.join(","), ...output]);
  return gray.map((brightness) => (brightness < 128 ? 0 : 255));
}
