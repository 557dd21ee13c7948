/** Gives the next number from 0 to 1. */
export type Random = () => number;

/** A repeatable stream of numbers from 0 to 1 (mulberry32). */
function random(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const steps = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29].map((prime) => Math.sqrt(prime) % 1);

/**
 * The random numbers of one pixel's rays. The n-th number of each ray belongs to a sequence that fills 0 to 1 evenly,
 * so that few rays make a smooth picture; each pixel begins its sequences elsewhere.
 */
export function samples(seed: number): (ray: number) => Random {
  const start = random(seed);
  const starts = steps.map(() => start());
  return (ray) => {
    let asked = 0;
    return () => {
      const at = asked % steps.length;
      asked += 1;
      return ((starts[at] ?? 0) + ray * (steps[at] ?? 0)) % 1;
    };
  };
}

/** A number from 0 to 1 that belongs to this cell of a grid. */
export function cell(x: number, y: number, seed: number): number {
  let mixed = Math.imul(x | 0, 374761393) + Math.imul(y | 0, 668265263) + Math.imul(seed | 0, 2147483647);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 1274126177);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4294967296;
}

/** Smooth noise from 0 to 1, about one bump a unit. */
export function noise(x: number, y: number, seed: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const u = (x - column) ** 2 * (3 - 2 * (x - column));
  const v = (y - row) ** 2 * (3 - 2 * (y - row));
  const top = cell(column, row, seed) * (1 - u) + cell(column + 1, row, seed) * u;
  const bottom = cell(column, row + 1, seed) * (1 - u) + cell(column + 1, row + 1, seed) * u;
  return top * (1 - v) + bottom * v;
}

/** Noise of four sizes laid over each other, from 0 to 1. */
export function clouds(x: number, y: number, seed: number): number {
  let sum = 0;
  for (let octave = 0; octave < 4; octave += 1) {
    sum += noise(x * 2 ** octave, y * 2 ** octave, seed + octave) / 2 ** (octave + 1);
  }
  return sum / 0.9375;
}
