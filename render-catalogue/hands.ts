import type { Parcel } from "../src/simulator/catalogue/parcels.ts";
import { noise } from "./noise.ts";
import { blob, placed, type Surface, type Thing } from "./shapes.ts";
import { add, clamp, cross, dot, length, mix, scale, sub, turn, unit, type Vec } from "./vector.ts";

/** A limb: thick line from one joint to the next, thinning. */
interface Bone {
  readonly from: Vec;
  readonly to: Vec;
  readonly thick: number;
  readonly thin: number;
}

function boneDistance(at: Vec, { from, to, thick, thin }: Bone): number {
  const bone = sub(to, from);
  const share = clamp(dot(sub(at, from), bone) / dot(bone, bone), 0, 1);
  return length(sub(at, add(from, scale(bone, share)))) - (thick + (thin - thick) * share);
}

/** Joins bodies as skin does, without a crease. */
function joined(a: number, b: number, soft: number): number {
  const share = clamp(0.5 + (b - a) / soft / 2, 0, 1);
  return b + (a - b) * share - soft * share * (1 - share);
}

const glove: Surface = (at) => {
  const knit = 0.85 + noise(at[0] * 2.2 + at[1], at[2] * 2.2, 61) * 0.3;
  return { color: scale([0.075, 0.085, 0.1], knit), gloss: 0.02, blur: 0.5 };
};
const sleeve: Surface = (at) => {
  const fold = 0.8 + noise(at[0] * 0.4, at[2] * 0.4 + at[1] * 0.3, 67) * 0.35;
  return { color: scale([0.78, 0.26, 0.03], fold), gloss: 0, blur: 1 };
};

/** A gloved hand that lies with its palm at a place, the fingers pointing one way, its back another. */
function hand(palm: Vec, fingers: Vec, back: Vec, thumbSide: number, elbow: Vec): Thing[] {
  const side = scale(unit(cross(fingers, back)), thumbSide);
  const at = (forward: number, aside: number, out: number): Vec =>
    add(palm, add(add(scale(fingers, forward), scale(side, aside)), scale(back, out)));
  const wrist = at(-5.5, 0, 2.4);
  const bones: Bone[] = [
    { from: at(-3, -1.6, 1.7), to: at(3.4, -2.4, 1.6), thick: 2, thin: 1.5 },
    { from: at(-3, 1.2, 1.8), to: at(3.4, 1.8, 1.6), thick: 2.1, thin: 1.5 },
    ...[-3, -1.05, 0.95, 2.9].flatMap((aside, finger): Bone[] => {
      const reach = [3.6, 4.9, 5.2, 4.6][finger] ?? 4.5;
      return [
        { from: at(3, aside, 1.7), to: at(3 + reach * 0.55, aside * 1.12, 1.7), thick: 1.15, thin: 1.05 },
        {
          from: at(3 + reach * 0.55, aside * 1.12, 1.7),
          to: at(3 + reach, aside * 1.14, 0.9),
          thick: 1.05,
          thin: 0.85,
        },
      ];
    }),
    { from: at(-2, 2.2, 1.4), to: at(1.2, 5, 0.8), thick: 1.6, thin: 1.2 },
    { from: at(1.2, 5, 0.8), to: at(4, 5.6, 0.2), thick: 1.2, thin: 0.95 },
    { from: wrist, to: at(-2, 0, 1.8), thick: 2.2, thin: 2.2 },
  ];
  const skin = (p: Vec): number => bones.reduce((near, bone) => joined(near, boneDistance(p, bone), 0.7), 99);
  const cuff = mix(wrist, elbow, 0.1);
  const arm: Bone = { from: cuff, to: elbow, thick: 3.7, thin: 5.4 };
  const middle = mix(cuff, elbow, 0.5);
  return [
    placed(blob(at(0, 0, 1.5), 13, skin), glove),
    placed(
      blob(middle, length(sub(elbow, cuff)) / 2 + 6, (p) => boneDistance(p, arm)),
      sleeve,
    ),
  ];
}

/** Both hands on a parcel that stands at `at`; `apart` is how far they have let go of it. */
export function handThings(parcel: Parcel, at: Vec, apart: number): Thing[] {
  const angle = (parcel.rotationAngle * Math.PI) / 180;
  const world = (p: Vec): Vec => add(at, turn(p, Math.cos(angle), Math.sin(angle)));
  const long = parcel.lengthCm > 62;
  return [-1, 1].flatMap((sign) => {
    const shoulder: Vec = [sign * 22, 34, 112];
    const outward = turn([sign, 0, 0], Math.cos(angle), Math.sin(angle));
    const forward = turn([0, 0, -1], Math.cos(angle), Math.sin(angle));
    // A long parcel is held from above, any other one by its two ends.
    const grip: Vec = long
      ? [sign * 19, parcel.heightCm, 1]
      : [sign * (parcel.lengthCm / 2), Math.max(parcel.heightCm * 0.62, 3), parcel.widthCm * 0.12];
    const back: Vec = long ? [0, 1, 0] : unit(add(outward, [0, 0.35, 0]));
    const letGo = add(scale(long ? [outward[0] * 0.3, 0.6, 0.4] : outward, apart), [
      0,
      apart * 0.5,
      apart * 1.1,
    ]);
    const palm = add(world(grip), letGo);
    return hand(
      palm,
      long ? forward : unit(add(forward, [0, -0.25, 0])),
      back,
      long ? -sign : sign,
      add(mix(palm, shoulder, 0.55), [sign * 5, 4, 6]),
    );
  });
}
