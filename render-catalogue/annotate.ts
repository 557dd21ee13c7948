import type { Parcel } from "../src/simulator/catalogue/parcels.ts";
import type { Camera } from "./camera.ts";
import { drawText } from "./ffmpeg.ts";
import { clamp, dot, sub, turn, type Vec } from "./vector.ts";

type Pixel = readonly [number, number];
type Axis = 0 | 1 | 2;

interface Edge {
  readonly axis: Axis;
  readonly ends: readonly [Pixel, Pixel];
  readonly visible: boolean;
  readonly onTable: boolean;
  readonly distance: number;
}

const outline: Vec = [70, 255, 90];
const hiddenOpacity = 0.35;

function boxEdges(parcel: Parcel, view: Camera, width: number): Edge[] {
  const half: Vec = [parcel.lengthCm / 2, parcel.heightCm / 2, parcel.widthCm / 2];
  const angle = (parcel.rotationAngle * Math.PI) / 180;
  const world = (p: Vec): Vec => turn([p[0], p[1] + half[1], p[2]], Math.cos(angle), Math.sin(angle));
  const pixel = (p: Vec): Pixel => {
    const [x, y] = view.project(world(p));
    return [x * width, y * width * 0.75];
  };
  const facing = (axis: Axis, sign: number): boolean => {
    const middle: Vec = [
      axis === 0 ? sign * half[0] : 0,
      axis === 1 ? sign * half[1] : 0,
      axis === 2 ? sign * half[2] : 0,
    ];
    return dot(sub(world(middle), world([0, 0, 0])), sub(view.eye, world(middle))) > 0;
  };
  const edges: Edge[] = [];
  for (const axis of [0, 1, 2] as const) {
    const [b, c]: readonly [Axis, Axis] = axis === 0 ? [1, 2] : axis === 1 ? [0, 2] : [0, 1];
    for (const [sb, sc] of [
      [-1, -1],
      [-1, 1],
      [1, -1],
      [1, 1],
    ] as const) {
      const corner = (sign: number): Vec => {
        const signs = [0, 0, 0];
        signs[axis] = sign;
        signs[b] = sb;
        signs[c] = sc;
        return [(signs[0] ?? 0) * half[0], (signs[1] ?? 0) * half[1], (signs[2] ?? 0) * half[2]];
      };
      const middle = corner(0);
      edges.push({
        axis,
        ends: [pixel(corner(-1)), pixel(corner(1))],
        visible: facing(b, sb) || facing(c, sc),
        onTable: middle[1] < 0,
        distance: view.depth(world(middle)),
      });
    }
  }
  return edges;
}

/** Draws a line into rows of red, green and blue bytes, soft at its rim. */
function line(
  picture: Uint8Array,
  width: number,
  [from, to]: Edge["ends"],
  thick: number,
  color: Vec,
  opacity: number,
): void {
  const height = (width * 3) / 4;
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const square = dx * dx + dy * dy;
  const [left, right] = [Math.min(from[0], to[0]) - thick, Math.max(from[0], to[0]) + thick];
  const [top, bottom] = [Math.min(from[1], to[1]) - thick, Math.max(from[1], to[1]) + thick];
  for (let y = Math.max(0, Math.floor(top)); y <= Math.min(height - 1, bottom); y += 1) {
    for (let x = Math.max(0, Math.floor(left)); x <= Math.min(width - 1, right); x += 1) {
      const share = clamp(((x - from[0]) * dx + (y - from[1]) * dy) / square, 0, 1);
      const off = Math.hypot(x - from[0] - dx * share, y - from[1] - dy * share);
      const cover = clamp(thick / 2 + 0.5 - off, 0, 1) * opacity;
      if (cover === 0) {
        continue;
      }
      for (const channel of [0, 1, 2] as const) {
        const at = (y * width + x) * 3 + channel;
        picture[at] = Math.round((picture[at] ?? 0) * (1 - cover) + color[channel] * cover);
      }
    }
  }
}

const middle = ([a, b]: Edge["ends"]): Pixel => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];

/**
 * The edge a side's length is written at: the outermost one on the left for the height, else the nearest one on the
 * table, or where none of those is seen the outermost one on the right.
 */
function labelled(edges: readonly Edge[], axis: Axis): Edge | undefined {
  const seen = edges.filter((edge) => edge.axis === axis && edge.visible);
  const onTable = seen.filter((edge) => edge.onTable);
  const first = (of: readonly Edge[], rank: (edge: Edge) => number): Edge | undefined =>
    of.toSorted((a, b) => rank(a) - rank(b))[0];
  if (axis === 1) {
    return first(seen, (edge) => middle(edge.ends)[0]);
  }
  return first(onTable, (edge) => edge.distance) ?? first(seen, (edge) => -middle(edge.ends)[0]);
}

/** The picture with the measured box outlined, and the ffmpeg filters that write its sizes beside it. */
export function annotate(
  picture: Uint8Array,
  width: number,
  parcel: Parcel,
  view: Camera,
): [Uint8Array, string] {
  const drawn = picture.slice();
  const edges = boxEdges(parcel, view, width);
  for (const edge of edges.filter((one) => !one.visible)) {
    line(drawn, width, edge.ends, 1, outline, hiddenOpacity);
  }
  for (const edge of edges.filter((one) => one.visible)) {
    line(drawn, width, edge.ends, 2.4, outline, 1);
  }
  const middles = edges.map((edge) => middle(edge.ends));
  const center: Pixel = [
    middles.reduce((sum, [x]) => sum + x, 0) / middles.length,
    middles.reduce((sum, [, y]) => sum + y, 0) / middles.length,
  ];
  const sizes = [parcel.lengthCm, parcel.heightCm, parcel.widthCm];
  const texts = ([0, 1, 2] as const).flatMap((axis) => {
    const edge = labelled(edges, axis);
    if (edge === undefined) {
      return [];
    }
    const at = middle(edge.ends);
    const [dx, dy] = [at[0] - center[0], at[1] - center[1]];
    const far = Math.hypot(dx, dy);
    const text = `${"LHW"[axis]} ${sizes[axis]?.toFixed(1)} cm`;
    const [x, y] = [at[0] + (dx / far) * (axis === 1 ? 40 : 30), at[1] + (dy / far) * 19];
    const left = `max(6\\,min(w-tw-6\\,${x.toFixed(1)}-tw/2))`;
    return [
      drawText({ text, x: left, y: `${y.toFixed(1)}-th/2`, size: 13, color: "white", box: "0x084510@0.85" }),
    ];
  });
  const caption = `${[sizes[0], sizes[2], sizes[1]].map((cm) => cm?.toFixed(1)).join(" × ")} cm   ${parcel.weightKg.toFixed(2)} kg`;
  texts.push(drawText({ text: caption, x: 10, y: 10, size: 14, color: "0x46ff5a", box: "black@0.6" }));
  texts.push(
    drawText({ text: parcel.barcode, x: 10, y: "h-th-10", size: 11, color: "white", box: "black@0.6" }),
  );
  return [drawn, texts.join(",")];
}
