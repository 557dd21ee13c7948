import type { Parcel } from "../src/simulator/catalogue/parcels.ts";
import type { Brightness } from "./label.ts";
import { board, kraft, paint, sticker, type Sticker, taped, whiteBoard } from "./materials.ts";
import { clouds, noise } from "./noise.ts";
import { box, cushion, placed, type Shape, type Surface, type Thing } from "./shapes.ts";
import { mix, scale, type Vec } from "./vector.ts";

const brownTape: Vec = [0.36, 0.2, 0.075];
const clearTape: Vec = [0.62, 0.5, 0.33];
const ink: Vec = [0.07, 0.05, 0.04];

interface Carton {
  readonly size: Vec;
  readonly color: Vec;
  readonly seed: number;
  readonly tape: Vec;
  readonly tapeWide: number;
  readonly stickers: readonly Sticker[];
  /** What is printed on the sides, at centimetres from the middle of a side's lower edge. */
  readonly print?: (along: number, up: number) => Vec | null;
}

/** A folding carton: two flaps that meet along the middle, taped, the tape's ends running down the short sides. */
function carton({ size, color, seed, tape, tapeWide, stickers, print }: Carton): Surface {
  const [lengthCm, heightCm, widthCm] = size;
  return (at, normal) => {
    const top = normal[1] > 0.5;
    const end = Math.abs(normal[0]) > 0.5;
    const [u, v] = top ? [at[0], at[2]] : end ? [at[2], at[1] + 50] : [at[0], at[1] + 90];
    let base = board({ color, seed }, u, v);
    const toEdge = top
      ? Math.min(lengthCm / 2 - Math.abs(at[0]), widthCm / 2 - Math.abs(at[2]))
      : Math.min(heightCm - at[1], (end ? widthCm : lengthCm) / 2 - Math.abs(u));
    // Folded edges are scuffed lighter; cut ones show the flutes.
    if (toEdge < 0.35 + noise(u, v, seed + 5) * 0.3) {
      base = scale(base, 1.13);
    }
    for (const one of top ? stickers : []) {
      const stuck = sticker(one, at);
      if (stuck !== null) {
        return stuck;
      }
    }
    const tail = Math.min(7, heightCm * 0.6) - 0.35 * Math.abs(Math.sin(at[2] * 9));
    const onTape = Math.abs(at[2]) < tapeWide / 2 && (top || (end && heightCm - at[1] < tail));
    if (top && Math.abs(at[2]) < 0.09) {
      base = scale(base, 0.35);
    }
    if (onTape) {
      return taped(base, at[0] + at[1], at[2], tape);
    }
    const printed = top ? null : (print?.(end ? at[2] : at[0], at[1]) ?? null);
    return { color: printed === null ? base : mix(base, printed, 0.85), gloss: 0, blur: 1 };
  };
}

/** The signs of a shipping carton: this side up, and a line below. */
function signs(along: number, up: number): Vec | null {
  if (up > 8 && up < 9 && Math.abs(along) < 14) {
    return ink;
  }
  for (const middle of [-7, 7]) {
    const off = Math.abs(along - middle);
    const head = up > 20 && up < 28 && off < (28 - up) * 0.6;
    const stem = up > 11 && up <= 20 && off < 1.6;
    if (head || stem) {
      return ink;
    }
  }
  return null;
}

/** The red band that is printed around a box of breakable goods. */
const fragile = (along: number, up: number): Vec | null =>
  up > 3.6 && up < 6.9 && Math.abs(along) % 12 < 9 ? [0.5, 0.04, 0.03] : null;

function shoeBox(size: Vec, print: Brightness): [Shape, Surface][] {
  const [lengthCm, heightCm, widthCm] = size;
  const lid = 3.6;
  const inset = 0.35;
  const body = box(
    [-lengthCm / 2 + inset, 0, -widthCm / 2 + inset],
    [lengthCm / 2 - inset, heightCm - 1, widthCm / 2 - inset],
  );
  const cover = box([-lengthCm / 2, heightCm - lid, -widthCm / 2], [lengthCm / 2, heightCm, widthCm / 2]);
  const stuck: Sticker = { label: print, x: 5.5, z: 0.4, wide: 10 };
  const shade =
    (color: Vec): Surface =>
    (at, normal) => {
      const worn = 0.93 + clouds(at[0] * 0.3 + at[1], at[2] * 0.3, 8) * 0.14;
      const stripe = normal[1] > 0.5 && at[0] < -6 && Math.abs(at[0] + 10 + at[2] * 0.35) < 1.1;
      const second = normal[1] > 0.5 && at[0] < -2 && Math.abs(at[0] + 13.2 + at[2] * 0.35) < 0.5;
      if (stripe || second) {
        return { color: [0.78, 0.76, 0.7], gloss: 0.06, blur: 0.3 };
      }
      return (
        (normal[1] > 0.5 ? sticker(stuck, at) : null) ?? { color: scale(color, worn), gloss: 0.06, blur: 0.3 }
      );
    };
  return [
    [body, shade([0.55, 0.54, 0.5])],
    [cover, shade([0.42, 0.035, 0.04])],
  ];
}

function polybag(size: Vec, print: Brightness): [Shape, Surface][] {
  const [lengthCm, heightCm, widthCm] = size;
  const [halfX, halfZ] = [lengthCm / 2, widthCm / 2];
  // The bulge of what is inside, pinched to the welded rim, under creases that run to the corners.
  const raw = (x: number, z: number): number => {
    const [a, b] = [Math.abs(x) / halfX, Math.abs(z) / halfZ];
    const bulge = Math.max(0, 1 - (a / 0.93) ** 3.2) ** 0.6 * Math.max(0, 1 - (b / 0.93) ** 3.2) ** 0.6;
    const crease = Math.abs(clouds(x * 0.15 + z * 0.11, z * 0.24 - x * 0.06, 23) - 0.5) * 2;
    const fine = Math.abs(noise(x * 0.5 + z * 0.3, z * 0.42 - x * 0.25, 29) - 0.5);
    const rim = 0.25 + 0.5 * Math.max(0, noise(x * 0.3, z * 0.3, 37) - 0.4);
    return rim + bulge * (heightCm - 0.6) * (0.97 - crease * 0.2 - fine * 0.07 + (x / halfX) * 0.04);
  };
  const surface: Surface = (at) => {
    const stuck = sticker({ label: print, x: 3, z: -0.5, wide: 10.5 }, at);
    if (stuck !== null) {
      return stuck;
    }
    const flap = at[0] < -halfX * 0.72;
    const seam = Math.abs(at[0] + halfX * 0.72) < 0.2 || Math.abs(at[2]) > halfZ - 1 || at[0] > halfX - 1;
    const color: Vec = flap ? [0.46, 0.5, 0.54] : [0.55, 0.575, 0.6];
    return { color: scale(color, seam ? 0.85 : 1), gloss: 0.09, blur: 0.12 };
  };
  return [[cushion(halfX, halfZ, heightCm, raw), surface]];
}

function parts(parcel: Parcel, number: number, print: Brightness): [Shape, Surface][] {
  const size: Vec = [parcel.lengthCm, parcel.heightCm, parcel.widthCm];
  const whole = box([-size[0] / 2, 0, -size[2] / 2], [size[0] / 2, size[1], size[2] / 2]);
  const of = (rest: Omit<Carton, "size" | "seed">): [Shape, Surface][] => [
    [whole, carton({ size, seed: number * 100, ...rest })],
  ];
  switch (parcel.name) {
    case "shoe-box":
      return shoeBox(size, print);
    case "polybag":
      return polybag(size, print);
    case "cube":
      return of({
        color: kraft,
        tape: brownTape,
        tapeWide: 5,
        stickers: [{ label: print, x: 2.2, z: 0.8, wide: 10.5 }],
      });
    case "flat-carton":
      return of({
        color: whiteBoard,
        tape: clearTape,
        tapeWide: 5,
        stickers: [{ label: print, x: -5, z: 1, wide: 11 }],
      });
    case "tube-box":
      return of({
        color: scale(kraft, 1.12),
        tape: clearTape,
        tapeWide: 4,
        stickers: [{ label: print, x: -8, z: 0.2, wide: 9, turned: true }],
        print: fragile,
      });
    case "shipping-carton":
      return of({
        color: scale(kraft, 0.95),
        tape: brownTape,
        tapeWide: 6.5,
        stickers: [
          { label: print, x: 9, z: 5.5, wide: 13 },
          { label: () => 0.9, x: -17, z: -11, wide: 6, turned: true },
        ],
        print: signs,
      });
    default:
      return [[whole, paint(kraft)]];
  }
}

/** Makes the parcel's solids, with its label on top; the function then puts them anywhere, turned as the table says. */
export function parcelThings(parcel: Parcel, number: number, print: Brightness): (at: Vec) => Thing[] {
  const made = parts(parcel, number, print);
  return (at) => made.map(([shape, surface]) => placed(shape, surface, at, parcel.rotationAngle));
}
