/** A point, a direction or a color (linear red, green, blue from 0 to 1). Lengths are centimetres, y points up. */
export type Vec = readonly [number, number, number];

export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const mul = (a: Vec, b: Vec): Vec => [a[0] * b[0], a[1] * b[1], a[2] * b[2]];
export const scale = (a: Vec, by: number): Vec => [a[0] * by, a[1] * by, a[2] * by];
/** The point `by` lengths of `d` away from `o`. */
export const along = (o: Vec, d: Vec, by: number): Vec => [
  o[0] + d[0] * by,
  o[1] + d[1] * by,
  o[2] + d[2] * by,
];
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vec): number => Math.sqrt(dot(a, a));
export const unit = (a: Vec): Vec => scale(a, 1 / length(a));
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const mix = (a: Vec, b: Vec, share: number): Vec => along(scale(a, 1 - share), b, share);
export const clamp = (value: number, low: number, high: number): number =>
  value < low ? low : value > high ? high : value;
/** 0 up to `from`, 1 beyond `to`, smooth between. */
export function smooth(from: number, to: number, value: number): number {
  const x = clamp((value - from) / (to - from), 0, 1);
  return x * x * (3 - 2 * x);
}
/** Turned about the vertical axis by an angle of this cosine and sine. */
export const turn = (a: Vec, cos: number, sin: number): Vec => [
  a[0] * cos + a[2] * sin,
  a[1],
  a[2] * cos - a[0] * sin,
];
