/** What happens to a connection when the chosen byte is reached. */
const wireEffects = ["reset", "close", "stall", "redirect"] as const;
/** What the client itself does when the chosen point is reached. */
const clientEffects = ["abort", "shut"] as const;

/** One point at which a run fails. */
export type FaultPoint =
  /** Nothing listens at the peer's address. */
  | { readonly in: "connect" }
  /** After so many bytes in one direction of a connection; -1: as soon as it is accepted. */
  | {
      readonly in: "wire";
      readonly direction: "up" | "down";
      readonly byte: number;
      readonly effect: (typeof wireEffects)[number] | (typeof clientEffects)[number];
      /** Whether every connection fails, or the first one alone. */
      readonly lasts: boolean;
    }
  /** At the k-th promise, socket, timer or file request of the operation. */
  | { readonly in: "steps"; readonly k: number; readonly effect: (typeof clientEffects)[number] }
  /** The k-th timer fires at once. */
  | { readonly in: "timers"; readonly k: number }
  /** The k-th call to the disk fails with this code, or the client aborts there. */
  | { readonly in: "disk"; readonly k: number; readonly effect: "EIO" | "ENOSPC" | "abort" };

/** How many points of each kind a run without any fault passed. */
export interface Recording {
  readonly steps: number;
  readonly timers: number;
  readonly disk: number;
  /** Bytes of the longest connection in each direction, and the length of the first response's head. */
  readonly up: number;
  readonly down: number;
  readonly headEnd: number;
}

const mostPlaces = 150;

/** How many of the points are tried: 1 in `stride`, always with the first and the last, and bytes at this distance. */
export interface Density {
  readonly stride: number;
  readonly bytesApart: number;
  /** Upper limit of the number of steps that are tried. */
  readonly maxSteps: number;
}

/** Counts the points that a run passes, and says which one is to fail. */
export class PointCounter {
  readonly at: number;
  /** What the point with this number was called in the run that counted. */
  readonly name: string | undefined;
  readonly names: string[] = [];
  reached: string | undefined;
  readonly #nth: number;

  /**
   * The number of the point that is to fail; 0: none, only count. With a name it is the n-th point of this name: what happens at
   * the same time comes in another order in each run.
   */
  constructor(at = 0, name?: string, nth = at) {
    this.at = at;
    this.name = name;
    this.#nth = nth;
  }

  get passed(): number {
    return this.names.length;
  }

  /** True for the one that is to fail. */
  pass(name: string): boolean {
    this.names.push(name);
    const passed = this.name === undefined ? this.passed : countOf(this.name, this.names);
    if (passed !== this.#nth || name !== (this.name ?? name)) {
      return false;
    }
    this.reached = name;
    return true;
  }
}

function countOf(name: string, names: readonly string[]): number {
  return names.filter((one) => one === name).length;
}

/**
 * Runs once to count the points, then once for each point, which fails; with a stride for the first one of each name, and 1 in
 * `stride` of the others. Returns the number of points.
 */
export async function failAtEach(run: (points: PointCounter) => Promise<void>, stride = 1): Promise<number> {
  const counter = new PointCounter();
  await run(counter);
  for (const [index, name] of counter.names.entries()) {
    const nth = countOf(name, counter.names.slice(0, index + 1));
    if (nth === 1 || index % stride === 0) {
      await run(new PointCounter(index + 1, name, nth));
    }
  }
  return counter.passed;
}

/** 1 in `stride` of the numbers from 1 to `count`, always with the first and the last. */
function* oneIn(count: number, stride: number): Generator<number> {
  for (let k = 1; k <= count; k += 1) {
    if (k === count || (k - 1) % stride === 0) {
      yield k;
    }
  }
}

/** The points at which an operation with this recording can fail. */
export function* faultPoints(
  recording: Recording,
  density: Density,
  repeats: boolean,
): Generator<FaultPoint> {
  const { stride, maxSteps } = density;
  if (recording.up > 0) {
    yield { in: "connect" };
    yield* wirePoints(recording, density, repeats);
  }
  let turn = 0;
  for (const k of oneIn(recording.steps, Math.max(stride, Math.ceil(recording.steps / maxSteps)))) {
    // Both effects at the same point only where every point is tried.
    if (stride === 1 || turn % 2 === 0) {
      yield { in: "steps", k, effect: "abort" };
    }
    if (stride === 1 || turn % 2 === 1) {
      yield { in: "steps", k, effect: "shut" };
    }
    turn += 1;
  }
  for (const k of oneIn(recording.timers, Math.ceil(stride / 4))) {
    yield { in: "timers", k };
  }
  const diskEffects = ["EIO", "abort", "ENOSPC"] as const;
  for (const k of oneIn(recording.disk, Math.ceil(stride / 4))) {
    const chosen = stride === 1 ? diskEffects : [diskEffects[k % diskEffects.length] ?? "EIO"];
    for (const effect of chosen) {
      yield { in: "disk", k, effect };
    }
  }
}

function* wirePoints(recording: Recording, density: Density, repeats: boolean): Generator<FaultPoint> {
  const places = [
    ...upPlaces(recording, density).map((byte) => ({ direction: "up", byte }) as const),
    ...downPlaces(recording, density).map((byte) => ({ direction: "down", byte }) as const),
  ];
  let turn = 0;
  for (const place of places) {
    const mayLast = repeats && !makesSlowProgress(place, recording);
    for (const effect of ["reset", "close", "stall"] as const) {
      // An operation that repeats meets the fault once, or every time.
      if (density.stride === 1 || !mayLast || turn % 2 === 0) {
        yield { in: "wire", ...place, effect, lasts: false };
      }
      if (mayLast && (density.stride === 1 || turn % 2 === 1)) {
        yield { in: "wire", ...place, effect, lasts: true };
      }
      turn += 1;
    }
    for (const effect of clientEffects) {
      if (density.stride === 1 || (turn % 2 === 0) === (effect === "abort")) {
        yield { in: "wire", ...place, effect, lasts: false };
      }
    }
  }
  yield { in: "wire", direction: "up", byte: 0, effect: "redirect", lasts: true };
}

/** A download that gets a few bytes further with each try would take very long. */
function makesSlowProgress(
  { direction, byte }: { direction: "down" | "up"; byte: number },
  recording: Recording,
): boolean {
  const { down, headEnd } = recording;
  return direction === "down" && byte > headEnd && (byte - headEnd) * 16 < down - headEnd;
}

function upPlaces({ up }: Recording, { bytesApart }: Density): number[] {
  return placesIn(up, [-1, 0, 1, Math.floor(up / 2), up - 1, up], bytesApart);
}

function downPlaces({ down, headEnd }: Recording, { bytesApart }: Density): number[] {
  const body = down - headEnd;
  const marks = [0, 1, 12, headEnd - 1, headEnd, headEnd + 1];
  const parts = [1, 2, 3].map((quarter) => headEnd + Math.floor((body * quarter) / 4));
  return placesIn(down, [...marks, ...parts, down - 1, down], bytesApart);
}

function placesIn(end: number, marks: readonly number[], bytesApart: number): number[] {
  // The bytes of a large medium are all alike, so a limited number of them will do.
  const apart = Math.max(bytesApart, Math.ceil(end / mostPlaces));
  const regular = Array.from({ length: Math.floor(end / apart) }, (_, index) => (index + 1) * apart);
  const all = new Set([...marks, ...regular].filter((byte) => byte <= end));
  return [...all].sort((a, b) => a - b);
}

/** How a failed case is named in the report. */
export function describePoint(point: FaultPoint): string {
  switch (point.in) {
    case "connect":
      return "nothing listens";
    case "wire": {
      const { direction, byte, effect, lasts } = point;
      return `${effect} at byte ${byte} ${direction === "up" ? "to" : "from"} the peer${lasts ? ", each time" : ""}`;
    }
    case "steps":
      return `${point.effect} at step ${point.k}`;
    case "timers":
      return `timer ${point.k} at once`;
    case "disk":
      return `${point.effect} at call ${point.k} to the disk`;
  }
}
