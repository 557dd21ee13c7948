import { bench, board, concrete, kraft, mat, paint, steel } from "./materials.ts";
import { noise } from "./noise.ts";
import { box, placed, ring, type Surface, type Thing } from "./shapes.ts";
import { scale, type Vec } from "./vector.ts";

const halfX = 46;
const halfZ = 34;

const sheet =
  (seed: number): Surface =>
  (at, normal) => ({
    color: scale(
      board({ color: kraft, seed }, at[0], normal[1] > 0.5 ? at[2] : at[1] * 6),
      normal[1] > 0.5 ? 1 : 0.75,
    ),
    gloss: 0,
    blur: 1,
  });

const tapeRoll: Surface = (at, normal) => {
  const wound = 0.85 + noise(Math.hypot(at[0], at[2]) * 14, 0, 3) * 0.3;
  const core = Math.hypot(at[0], at[2]) < 4.4;
  if (core) {
    return { color: [0.5, 0.4, 0.27], gloss: 0, blur: 1 };
  }
  const color: Vec = [0.42, 0.25, 0.1];
  return { color: scale(color, normal[1] > 0.5 ? wound : 1), gloss: 0.1, blur: 0.15 };
};

/** The packing table with the dimensioner's platform (its top is at height 0) and what lies around it. */
export function benchThings(): Thing[] {
  const foldedCartons = [0, 1, 2, 3, 4].map((layer) =>
    placed(
      box([-21, 0, -14], [21, 0.55, 14]),
      sheet(layer + 50),
      [-68 + layer * 0.4, -4 + layer * 0.6, -27],
      84 + ((layer * 37) % 7),
    ),
  );
  return [
    placed(box([-halfX, -1, -halfZ], [halfX, 0, halfZ]), mat(halfX, halfZ)),
    placed(box([-halfX - 2, -4, -halfZ - 2], [halfX + 2, -0.35, halfZ + 2.6]), steel(halfZ + 2.6)),
    placed(box([-150, -8, -62], [150, -4, 75]), bench),
    placed(box([-600, -96, -700], [600, -95, 300]), concrete),
    ...foldedCartons,
    placed(ring(3.8, 5.6, 5), tapeRoll, [57, -4, -29]),
    placed(ring(3.8, 4.7, 4.8), tapeRoll, [66.5, -4, -22]),
    placed(box([-7, 0, -1], [7, 1.4, 1]), paint([0.75, 0.42, 0.03], 0.05, 0.2), [59, -4, 2], 68),
    placed(box([7, 0.4, -0.7], [10.5, 0.7, 0.7]), paint([0.5, 0.5, 0.52], 0.3, 0.2), [59, -4, 2], 68),
    placed(box([-7, 0, -0.6], [4.5, 1.2, 0.6]), paint([0.025, 0.025, 0.03], 0.05, 0.2), [-57, -4, 22], 40),
    placed(box([4.5, 0, -0.62], [7, 1.24, 0.62]), paint([0.4, 0.03, 0.03], 0.05, 0.2), [-57, -4, 22], 40),
  ];
}
