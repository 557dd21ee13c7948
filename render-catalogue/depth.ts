import type { Camera } from "./camera.ts";
import type { Thing } from "./shapes.ts";
import { firstHit, hidden } from "./trace.ts";
import { along, clamp, sub, type Vec } from "./vector.ts";

// Where the palette ends, in centimetres from the camera: the table's far edge. It begins at the nearest point seen.
const farthestCm = 186;
// The second of the two depth lenses. Where it sees another surface, the depth is unknown.
const secondLens: Vec = [7, 0, 0];

/** Google's Turbo color map, by its polynomial: red is near, blue is far. Color 0 is black: no depth. */
function palette(): Buffer {
  const colors = Buffer.alloc(256 * 4);
  const curve = (terms: readonly number[], x: number): number =>
    Math.round(
      clamp(
        terms.reduceRight((sum, term) => sum * x + term, 0),
        0,
        1,
      ) * 255,
    );
  for (let index = 1; index < 256; index += 1) {
    const x = 0.97 - (index / 255) * 0.92;
    colors[index * 4 + 2] = curve([0.1357, 4.6154, -42.6603, 132.1311, -152.9424, 59.2864], x);
    colors[index * 4 + 1] = curve([0.0914, 2.1942, 4.843, -14.185, 4.2773, 2.8296], x);
    colors[index * 4] = curve([0.1067, 12.6419, -60.582, 110.3628, -89.9031, 27.3482], x);
  }
  return colors;
}

/** The depth of the scene as a BMP with a palette of 256 colors, 4:3. The width must be a multiple of 4. */
export function depthMap(things: readonly Thing[], view: Camera, width: number): Buffer {
  const height = (width * 3) / 4;
  const depths: number[] = [];
  for (let row = height - 1; row >= 0; row -= 1) {
    for (let column = 0; column < width; column += 1) {
      const direction = view.ray(((column + 0.5) / width) * 2 - 1, 1 - ((row + 0.5) / height) * 2);
      const hit = firstHit(things, view.eye, direction);
      const seen = hit !== null && !hidden(things, along(hit.at, direction, -0.3), sub(view.eye, secondLens));
      depths.push(hit !== null && seen ? view.depth(hit.at) : Infinity);
    }
  }
  const nearest = depths.reduce((least, depth) => Math.min(least, depth), farthestCm);
  const color = (depth: number): number =>
    depth === Infinity ? 0 : Math.round(1 + clamp((depth - nearest) / (farthestCm - nearest), 0, 1) * 254);
  const pixels = Buffer.from(depths.map(color));
  const colors = palette();
  const header = Buffer.alloc(54);
  const start = header.length + colors.length;
  header.write("BM", 0, "latin1");
  header.writeUInt32LE(start + pixels.length, 2);
  header.writeUInt32LE(start, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(8, 28);
  header.writeUInt32LE(pixels.length, 34);
  header.writeInt32LE(2835, 38);
  header.writeInt32LE(2835, 42);
  header.writeUInt32LE(256, 46);
  return Buffer.concat([header, colors, pixels]);
}
