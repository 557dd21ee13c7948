import type { Brightness } from "./label.ts";
import { cell, clouds, noise } from "./noise.ts";
import type { Look, Surface } from "./shapes.ts";
import { mix, scale, smooth, type Vec } from "./vector.ts";

const matte = (color: Vec): Look => ({ color, gloss: 0, blur: 1 });

export const kraft: Vec = [0.47, 0.3, 0.165];
export const whiteBoard: Vec = [0.62, 0.61, 0.575];

export const paint =
  (color: Vec, gloss = 0.04, blur = 0.35): Surface =>
  () => ({ color, gloss, blur });

interface Board {
  readonly color: Vec;
  /** Changes fibres and stains from one box to the next. */
  readonly seed: number;
}

/** Corrugated board: fibres, the faint ribs of the flutes and stains. */
export function board({ color, seed }: Board, u: number, v: number): Vec {
  const fibres = noise(u * 9, v * 1.4, seed) * 0.5 + noise(u * 2, v * 14, seed + 9) * 0.5;
  const ribs = Math.sin(v * 9.5) * 0.018;
  return scale(color, 0.86 + fibres * 0.13 + clouds(u * 0.16, v * 0.16, seed + 3) * 0.2 + ribs);
}

/** The rubber mat on the scale: nearly black, a grid of studs, and a printed cross and corners to place parcels by. */
export function mat(halfX: number, halfZ: number): Surface {
  return (at, normal) => {
    const worn = 0.042 + clouds(at[0] * 0.09, at[2] * 0.09, 5) * 0.035;
    if (normal[1] < 0.5) {
      return matte([worn, worn, worn]);
    }
    const [x, z] = [Math.abs(at[0]), Math.abs(at[2])];
    const corner = (x > halfX - 14 || z > halfZ - 14) && x < halfX - 3 && z < halfZ - 3;
    const onFrame = x > halfX - 3.8 || z > halfZ - 3.8;
    const bothNear = x > halfX - 14 && z > halfZ - 14;
    const cross = (x < 0.25 && z < 4) || (z < 0.25 && x < 4);
    if ((corner && onFrame && bothNear) || cross) {
      return matte([0.72, 0.55, 0.08]);
    }
    const stud = Math.hypot(
      (at[0] % 2.5) + (at[0] < 0 ? 1.25 : -1.25),
      (at[2] % 2.5) + (at[2] < 0 ? 1.25 : -1.25),
    );
    const raised = stud < 0.45 ? 1.28 : 1;
    const color = worn * raised;
    return { color: [color, color, color * 1.06], gloss: 0.025, blur: 0.5 };
  };
}

/** Brushed steel, with a ruler along its front edge. */
export function steel(frontZ: number): Surface {
  return (at) => {
    const brushed = 0.3 + noise(at[0] * 0.5, at[2] * 11, 31) * 0.07;
    const tick = at[0] - Math.round(at[0] / 2) * 2;
    const long = Math.round(at[0] / 2) % 5 === 0 ? 1.5 : 0.8;
    if (at[2] > frontZ - 2 && at[2] < frontZ - 2 + long && Math.abs(tick) < 0.13) {
      return matte([0.03, 0.03, 0.03]);
    }
    return { color: [brushed, brushed * 1.01, brushed * 1.03], gloss: 0.16, blur: 0.3 };
  };
}

/** The bench: beech laminate in planks, with knife cuts and a cutting area. */
export const bench: Surface = (at) => {
  const plank = Math.floor(at[2] / 9);
  const tint = cell(plank, Math.floor((at[0] + cell(plank, 2, 7) * 60) / 46), 12);
  const grain = clouds(at[0] * 0.05, at[2] * 1.3 + tint * 40, 17);
  const color = mix([0.5, 0.36, 0.22], [0.61, 0.465, 0.305], grain * 0.7 + tint * 0.35);
  const joint = Math.abs(at[2] - Math.round(at[2] / 9) * 9) < 0.06 ? 0.78 : 1;
  const scratch = noise(at[0] * 0.2 + at[2] * 2.1, at[0] * 1.9, 44) > 0.955 ? 0.93 : 1;
  return { color: scale(color, joint * scratch), gloss: 0.03, blur: 0.25 };
};

export const concrete: Surface = (at) => {
  const gray = 0.2 + clouds(at[0] * 0.03, at[2] * 0.03, 71) * 0.12 + cell(at[0] * 3, at[2] * 3, 72) * 0.02;
  if (Math.abs(at[2] + 150) < 5) {
    return matte([0.6, 0.45, 0.06]);
  }
  return matte([gray, gray, gray * 1.02]);
};

/** A stuck-on label lying on a top face: `null` beside it. `turned` puts its top to the left instead of away. */
export interface Sticker {
  readonly label: Brightness;
  readonly x: number;
  readonly z: number;
  readonly wide: number;
  readonly turned?: boolean;
}

export function sticker({ label, x, z, wide, turned = false }: Sticker, at: Vec): Look | null {
  const [du, dv] = turned ? [-(at[2] - z), at[0] - x] : [at[0] - x, at[2] - z];
  const across = du / wide + 0.5;
  const down = dv / (wide * 1.5) + 0.5;
  if (across < 0 || across > 1 || down < 0 || down > 1) {
    return null;
  }
  const ink = label(across, down);
  const rim = Math.min(across, 1 - across, (down * 3) / 2, ((1 - down) * 3) / 2) < 0.01 ? 0.62 : 1;
  const color = (0.035 + ink * 0.8) * rim;
  return { color: [color, color, color * 0.985], gloss: 0.015, blur: 0.18 };
}

/** A strip of packing tape over board: darker, shiny, with a few wrinkles. */
export function taped(under: Vec, u: number, v: number, tint: Vec): Look {
  const wrinkle = smooth(0.72, 0.8, noise(u * 0.5, v * 2.2, 91)) * 0.16;
  return { color: mix(mix(under, tint, 0.68), [0.8, 0.72, 0.6], wrinkle), gloss: 0.09, blur: 0.1 };
}
