import { along, cross, dot, sub, unit, type Vec } from "./vector.ts";

/** A pinhole camera; pictures are 4:3. */
export interface Camera {
  readonly eye: Vec;
  /** The direction through a place of the picture, both from -1 to 1, left to right and bottom to top. */
  ray(right: number, up: number): Vec;
  /** Where a point appears, as fractions of the picture's width and height from the top left corner. */
  project(point: Vec): readonly [number, number];
  /** How far a point lies in front of the camera, along its axis. */
  depth(point: Vec): number;
}

function camera(eye: Vec, target: Vec, widthDegrees: number): Camera {
  const ahead = unit(sub(target, eye));
  const right = unit(cross(ahead, [0, 1, 0]));
  const up = cross(right, ahead);
  const halfWidth = Math.tan((widthDegrees * Math.PI) / 360);
  const halfHeight = halfWidth * 0.75;
  return {
    eye,
    ray: (x, y) => unit(along(along(ahead, right, x * halfWidth), up, y * halfHeight)),
    project(point) {
      const to = sub(point, eye);
      const depth = dot(to, ahead);
      return [0.5 + dot(to, right) / depth / halfWidth / 2, 0.5 - dot(to, up) / depth / halfHeight / 2];
    },
    depth: (point) => dot(sub(point, eye), ahead),
  };
}

/** The dimensioner's camera: on a pole behind the bench, looking down at the platform at an angle. */
export const dimensionerCamera = camera([0, 140, 86], [0, 7, -3], 40);
