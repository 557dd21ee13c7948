import { add, along, dot, length, sub, turn, unit, type Vec } from "./vector.ts";

/** A solid in its own coordinates. */
export interface Shape {
  /** How far along the ray the solid begins, or Infinity. */
  hit(from: Vec, direction: Vec): number;
  /** Outward, at a point of the surface. */
  normal(at: Vec): Vec;
}

/** What a point of a surface looks like: its color, how much it mirrors (0 to 1) and how blurred the mirror is. */
export interface Look {
  readonly color: Vec;
  readonly gloss: number;
  readonly blur: number;
}
export type Surface = (at: Vec, normal: Vec) => Look;

/** A solid with a surface, standing somewhere in the scene. */
export interface Thing extends Shape {
  look(at: Vec, normal: Vec): Look;
}

const nearestDistance = 1e-4;

/** Where a ray is inside an upright box: [enters, leaves]; it misses when it leaves before it enters. */
function slab(from: Vec, direction: Vec, low: Vec, high: Vec): [number, number] {
  let enters = -Infinity;
  let leaves = Infinity;
  for (const axis of [0, 1, 2] as const) {
    const a = (low[axis] - from[axis]) / direction[axis];
    const b = (high[axis] - from[axis]) / direction[axis];
    enters = Math.max(enters, Math.min(a, b));
    leaves = Math.min(leaves, Math.max(a, b));
  }
  return [enters, leaves];
}

export function box(low: Vec, high: Vec): Shape {
  return {
    hit(from, direction) {
      const [enters, leaves] = slab(from, direction, low, high);
      return enters <= leaves && enters > nearestDistance ? enters : Infinity;
    },
    normal(at) {
      let best = Infinity;
      let normal: Vec = [0, 1, 0];
      for (const axis of [0, 1, 2] as const) {
        for (const [face, sign] of [
          [low, -1],
          [high, 1],
        ] as const) {
          const off = Math.abs(at[axis] - face[axis]);
          if (off >= best) {
            continue;
          }
          best = off;
          normal = [axis === 0 ? sign : 0, axis === 1 ? sign : 0, axis === 2 ? sign : 0];
        }
      }
      return normal;
    },
  };
}

/** An upright ring standing on 0, such as a roll of tape; an inner radius of 0 makes a disc. */
export function ring(inner: number, outer: number, height: number): Shape {
  const inside = (p: Vec): boolean => {
    const radius = Math.hypot(p[0], p[2]);
    return (
      radius >= inner - nearestDistance &&
      radius <= outer + nearestDistance &&
      p[1] >= -nearestDistance &&
      p[1] <= height + nearestDistance
    );
  };
  return {
    hit(from, direction) {
      const [dx, dy, dz] = direction;
      const places = [(height - from[1]) / dy];
      const a = dx * dx + dz * dz;
      const b = from[0] * dx + from[2] * dz;
      for (const radius of [inner, outer]) {
        const root = b * b - a * (from[0] ** 2 + from[2] ** 2 - radius * radius);
        if (root >= 0) {
          places.push((-b - Math.sqrt(root)) / a, (-b + Math.sqrt(root)) / a);
        }
      }
      return places
        .filter((t) => t > nearestDistance && inside(along(from, direction, t)))
        .reduce((first, t) => Math.min(first, t), Infinity);
    },
    normal(at) {
      if (at[1] > height - 0.001) {
        return [0, 1, 0];
      }
      const radius = Math.hypot(at[0], at[2]);
      const sign = radius < (inner + outer) / 2 ? -1 : 1;
      return [(sign * at[0]) / radius, 0, (sign * at[2]) / radius];
    },
  };
}

/** A cushion on the table: everything under a height given for each point of a rectangle. */
export function cushion(
  halfX: number,
  halfZ: number,
  top: number,
  height: (x: number, z: number) => number,
): Shape {
  const above = (p: Vec): number => p[1] - height(p[0], p[2]);
  return {
    hit(from, direction) {
      const [enters, leaves] = slab(from, direction, [-halfX, 0, -halfZ], [halfX, top, halfZ]);
      if (enters > leaves || leaves < nearestDistance) {
        return Infinity;
      }
      const step = 0.35;
      let before = Math.max(enters, nearestDistance);
      if (above(along(from, direction, before)) < 0) {
        return enters > nearestDistance ? enters : Infinity;
      }
      for (let t = before + step; before < leaves; t += step) {
        if (above(along(from, direction, t)) < 0) {
          let [low, high] = [before, t];
          for (let round = 0; round < 8; round += 1) {
            const middle = (low + high) / 2;
            if (above(along(from, direction, middle)) < 0) {
              high = middle;
            } else {
              low = middle;
            }
          }
          return low > 0.01 ? low : Infinity;
        }
        before = t;
      }
      return Infinity;
    },
    normal(at) {
      const e = 0.12;
      return unit([
        height(at[0] - e, at[2]) - height(at[0] + e, at[2]),
        2 * e,
        height(at[0], at[2] - e) - height(at[0], at[2] + e),
      ]);
    },
  };
}

/** A soft body given by its distance function, somewhere within a ball. */
export function blob(center: Vec, radius: number, distance: (at: Vec) => number): Shape {
  return {
    hit(from, direction) {
      const to = sub(center, from);
      const middle = dot(to, direction);
      const reach = radius * radius - (dot(to, to) - middle * middle);
      if (reach < 0) {
        return Infinity;
      }
      const end = middle + Math.sqrt(reach);
      for (let t = Math.max(0.05, middle - Math.sqrt(reach)); t < end;) {
        const free = distance(along(from, direction, t));
        if (free < 0.02) {
          return t;
        }
        t += Math.max(free, 0.02);
      }
      return Infinity;
    },
    normal(at) {
      const e = 0.05;
      const slope = (d: Vec): number => distance(add(at, d)) - distance(sub(at, d));
      const normal: Vec = [slope([e, 0, 0]), slope([0, e, 0]), slope([0, 0, e])];
      return length(normal) > 0 ? unit(normal) : [0, 1, 0];
    },
  };
}

/** The shape with its surface, moved to a place and turned counter-clockwise (seen from above) by an angle. */
export function placed(shape: Shape, surface: Surface, at: Vec = [0, 0, 0], degrees = 0): Thing {
  const cos = Math.cos((degrees * Math.PI) / 180);
  const sin = Math.sin((degrees * Math.PI) / 180);
  const inward = (p: Vec): Vec => turn(sub(p, at), cos, -sin);
  return {
    hit: (from, direction) => shape.hit(inward(from), turn(direction, cos, -sin)),
    normal: (p) => turn(shape.normal(inward(p)), cos, sin),
    look: (p, normal) => surface(inward(p), turn(normal, cos, -sin)),
  };
}
