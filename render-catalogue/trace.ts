import type { Camera } from "./camera.ts";
import { type Random, samples } from "./noise.ts";
import type { Thing } from "./shapes.ts";
import { add, along, clamp, cross, dot, mix, mul, scale, sub, unit, type Vec } from "./vector.ts";

interface Hit {
  readonly thing: Thing;
  readonly at: Vec;
}

/** The nearest thing a ray meets. */
export function firstHit(things: readonly Thing[], from: Vec, direction: Vec): Hit | null {
  let best = Infinity;
  let thing: Thing | null = null;
  for (const one of things) {
    const distance = one.hit(from, direction);
    if (distance >= best) {
      continue;
    }
    best = distance;
    thing = one;
  }
  return thing === null ? null : { thing, at: along(from, direction, best) };
}

/** Whether anything stands between two points. */
export function hidden(things: readonly Thing[], from: Vec, to: Vec): boolean {
  const way = sub(to, from);
  const far = Math.sqrt(dot(way, way));
  const direction = scale(way, 1 / far);
  return things.some((one) => one.hit(from, direction) < far);
}

// Two rows of light panels in the hall's ceiling.
const ceiling = 330;
const panels: readonly Vec[] = [
  [-120, ceiling, 90],
  [130, ceiling, -110],
];
const panelHalf: readonly [number, number] = [75, 32];
const lightColor: Vec = [1.0, 0.96, 0.89];
const ambient: Vec = [0.4, 0.43, 0.48];

/** What a mirror sees of the hall above. */
function hall(from: Vec, direction: Vec): Vec {
  if (direction[1] <= 0.02) {
    return [0.25, 0.25, 0.26];
  }
  const at = along(from, direction, (ceiling - from[1]) / direction[1]);
  const lit = panels.some(
    (panel) => Math.abs(at[0] - panel[0]) < panelHalf[0] && Math.abs(at[2] - panel[2]) < panelHalf[1],
  );
  return lit ? [5, 4.9, 4.6] : [0.4, 0.42, 0.45];
}

/** A direction away from a surface, more often steep than flat. */
function scatter(normal: Vec, next: Random): Vec {
  const angle = next() * 2 * Math.PI;
  const radius = Math.sqrt(next());
  const side = unit(cross(Math.abs(normal[1]) > 0.9 ? [1, 0, 0] : [0, 1, 0], normal));
  const other = cross(normal, side);
  const flat = along(scale(side, radius * Math.cos(angle)), other, radius * Math.sin(angle));
  return along(flat, normal, Math.sqrt(Math.max(0, 1 - radius * radius)));
}

function shade(things: readonly Thing[], { thing, at }: Hit, direction: Vec, next: Random): Vec {
  const normal = thing.normal(at);
  const { color, gloss, blur } = thing.look(at, normal);
  const start = along(at, normal, 0.02);

  const panel = panels[next() < 0.6 ? 0 : 1] ?? [0, ceiling, 0];
  const lamp = add(panel, [(next() * 2 - 1) * panelHalf[0], 0, (next() * 2 - 1) * panelHalf[1]]);
  const toLamp = unit(sub(lamp, start));
  const facing = Math.max(0, dot(normal, toLamp)) * toLamp[1];
  const direct = facing > 0 && !hidden(things, start, lamp) ? facing * 0.95 : 0;

  const bounce = scatter(normal, next);
  const other = firstHit(things, start, bounce);
  const around =
    other === null
      ? ambient
      : scale(mul(ambient, other.thing.look(other.at, other.thing.normal(other.at)).color), 0.6);
  const matte = mul(color, add(scale(lightColor, direct), around));
  if (gloss === 0) {
    return matte;
  }

  const cosine = -dot(direction, normal);
  const mirror = along(direction, normal, 2 * cosine);
  const rough = unit(along(mirror, scatter(normal, next), blur));
  const seen = firstHit(things, start, rough);
  const reflected =
    seen === null
      ? hall(start, rough)
      : scale(seen.thing.look(seen.at, seen.thing.normal(seen.at)).color, 0.5);
  return mix(matte, reflected, gloss + (1 - gloss) * (1 - clamp(cosine, 0, 1)) ** 5 * 0.5);
}

/** A single glint must not outshine its pixel's other rays. */
const capped = (light: Vec): Vec => [
  Math.min(light[0], 1.6),
  Math.min(light[1], 1.6),
  Math.min(light[2], 1.6),
];

/** Linear light to the byte a screen wants, highlights rolled off. */
function tone(light: number): number {
  const exposed = light * 1.1;
  const rolled = exposed < 0.7 ? exposed : 1 - 0.3 * Math.exp(-(exposed - 0.7) / 0.3);
  return Math.round(clamp(rolled, 0, 1) ** (1 / 2.2) * 255);
}

/**
 * Draws the scene as rows of red, green and blue bytes, `grid` × `grid` rays a pixel. Each pixel has its own stream
 * of random numbers, the same in every frame, so that what stands still costs a video nothing.
 */
export function render(
  things: readonly Thing[],
  view: Camera,
  width: number,
  grid: number,
  seed: number,
): Uint8Array {
  const height = (width * 3) / 4;
  const picture = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const ofRay = samples(seed + (row * width + column) * 7919);
      let sum: Vec = [0, 0, 0];
      for (let ray = 0; ray < grid * grid; ray += 1) {
        const next = ofRay(ray);
        const x = (column + ((ray % grid) + next()) / grid) / width;
        const y = (row + (Math.floor(ray / grid) + next()) / grid) / height;
        const direction = view.ray(x * 2 - 1, 1 - y * 2);
        const hit = firstHit(things, view.eye, direction);
        if (hit !== null) {
          sum = add(sum, capped(shade(things, hit, direction, next)));
        }
      }
      const fromMiddle = ((column / width) * 2 - 1) ** 2 + ((row / height) * 2 - 1) ** 2;
      const light = scale(sum, (1 - 0.1 * fromMiddle) / (grid * grid));
      picture.set([tone(light[0]), tone(light[1]), tone(light[2])], (row * width + column) * 3);
    }
  }
  return picture;
}
