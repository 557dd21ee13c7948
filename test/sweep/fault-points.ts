/** What happens on the wire when a byte is reached. */
const wireEffects = ["reset", "close", "stall", "redirect"] as const;
/** What happens on our own side. */
const ownEffects = ["abort", "shut"] as const;

/** One place at which one run fails. */
export type FaultPoint =
  /** Nothing listens at the other end. */
  | { readonly in: "connect" }
  /** So many bytes of one direction have passed on a connection; -1: it has just been accepted. */
  | {
      readonly in: "wire";
      readonly direction: "up" | "down";
      readonly byte: number;
      readonly effect: (typeof wireEffects)[number] | (typeof ownEffects)[number];
      /** Every connection is struck, not the first one alone. */
      readonly lasts: boolean;
    }
  /** The k-th promise, socket, timer or file request that the operation has made. */
  | { readonly in: "steps"; readonly k: number; readonly effect: (typeof ownEffects)[number] }
  /** The k-th timer fires at once. */
  | { readonly in: "timers"; readonly k: number }
  /** The k-th call to the disk fails with this code, or our own side ends there. */
  | { readonly in: "disk"; readonly k: number; readonly effect: "EIO" | "ENOSPC" | "abort" };

/** What a run without any fault has passed. */
export interface Recording {
  readonly steps: number;
  readonly timers: number;
  readonly disk: number;
  /** Bytes of the longest connection in each direction, and where the first answer's head ends. */
  readonly up: number;
  readonly down: number;
  readonly headEnd: number;
}

const mostPlaces = 150;

/** How much of a recording is tried: 1 in `stride` points, the first and the last always; bytes only so far apart. */
export interface Density {
  readonly stride: number;
  readonly bytesApart: number;
  /** So many steps at most, however many there are. */
  readonly mostSteps: number;
}

/** Counts the points that a run passes, and says which one is to be struck. */
export class Counter {
  readonly at: number;
  passed = 0;
  struck: string | undefined;

  /** 0: none, only count. */
  constructor(at = 0) {
    this.at = at;
  }

  /** True for the one that is to fail. */
  pass(name: string): boolean {
    this.passed += 1;
    if (this.passed !== this.at) {
      return false;
    }
    this.struck = name;
    return true;
  }
}

/** Runs `trial` untroubled, then once for each point that it passed with that one struck. Returns how many there were. */
export async function failAtEach(trial: (points: Counter) => Promise<void>): Promise<number> {
  const untroubled = new Counter();
  await trial(untroubled);
  for (let k = 1; k <= untroubled.passed; k += 1) {
    await trial(new Counter(k));
  }
  return untroubled.passed;
}

/** 1 in `stride` of 1 … count, the first and the last always. */
function* everyKth(count: number, stride: number): Generator<number> {
  for (let k = 1; k <= count; k += 1) {
    if (k === count || (k - 1) % stride === 0) {
      yield k;
    }
  }
}

/** Every point at which an operation that was recorded so can fail. */
export function* faultPoints(
  recording: Recording,
  density: Density,
  repeats: boolean,
): Generator<FaultPoint> {
  const { stride, mostSteps } = density;
  if (recording.up > 0) {
    yield { in: "connect" };
    yield* wirePoints(recording, density, repeats);
  }
  let turn = 0;
  for (const k of everyKth(recording.steps, Math.max(stride, Math.ceil(recording.steps / mostSteps)))) {
    // Both own effects at each point only where every point is tried.
    if (stride === 1 || turn % 2 === 0) {
      yield { in: "steps", k, effect: "abort" };
    }
    if (stride === 1 || turn % 2 === 1) {
      yield { in: "steps", k, effect: "shut" };
    }
    turn += 1;
  }
  for (const k of everyKth(recording.timers, Math.ceil(stride / 4))) {
    yield { in: "timers", k };
  }
  const diskEffects = ["EIO", "abort", "ENOSPC"] as const;
  for (const k of everyKth(recording.disk, Math.ceil(stride / 4))) {
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
    const mayLast = repeats && !creeps(place, recording);
    for (const effect of ["reset", "close", "stall"] as const) {
      // What is repeated meets the fault once and then goes on, or meets it every time.
      if (density.stride === 1 || !mayLast || turn % 2 === 0) {
        yield { in: "wire", ...place, effect, lasts: false };
      }
      if (mayLast && (density.stride === 1 || turn % 2 === 1)) {
        yield { in: "wire", ...place, effect, lasts: true };
      }
      turn += 1;
    }
    for (const effect of ownEffects) {
      if (density.stride === 1 || (turn % 2 === 0) === (effect === "abort")) {
        yield { in: "wire", ...place, effect, lasts: false };
      }
    }
  }
  yield { in: "wire", direction: "up", byte: 0, effect: "redirect", lasts: true };
}

/** A download that gets a few bytes further each time ends, but not soon. */
function creeps(
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
  // Of a large medium all bytes are alike.
  const apart = Math.max(bytesApart, Math.ceil(end / mostPlaces));
  const regular = Array.from({ length: Math.floor(end / apart) }, (_, index) => (index + 1) * apart);
  const all = new Set([...marks, ...regular].filter((byte) => byte <= end));
  return [...all].sort((a, b) => a - b);
}

/** How a failed case is named. */
export function sayPoint(point: FaultPoint): string {
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
