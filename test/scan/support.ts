import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Reading, allFrames, readCode } from "../../src/scan/read-code.ts";

/** The day on which the vectors were taken over: the century of dates depends on it. */
export const today = new Date(2026, 10, 22);

export const gs = "\x1d";

export function read(scan: string, addressee = false): Reading {
  const [frame] = allFrames(scan);
  if (frame === undefined) {
    throw new Error(`nothing in ${JSON.stringify(scan)}`);
  }
  return readCode(frame, { today, addressee });
}

/** The elements of a scan as people write them. */
export function bracketed(scan: string): string {
  return read(scan)
    .scan.elements.map(({ ai, value }) => `(${ai})${value}`)
    .join("");
}

export interface Vector {
  readonly ok: boolean;
  readonly scan: string;
  readonly elements?: string;
  readonly rule?: string;
}

type Vectors = Readonly<
  Record<
    "scanData" | "generatedScanData" | "elementStrings" | "bracketed" | "contents" | "digitalLinks",
    readonly Vector[]
  >
>;

export async function readVectors(): Promise<Vectors> {
  return readJson("gs1-syntax-engine.json") as Promise<Vectors>;
}

export interface TrackingFormat {
  readonly courier: string;
  readonly format: string;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

export async function readTrackingFormats(): Promise<readonly TrackingFormat[]> {
  const { formats } = (await readJson("tracking-numbers.json")) as { formats: readonly TrackingFormat[] };
  return formats;
}

async function readJson(name: string): Promise<unknown> {
  return JSON.parse(await readFile(join(import.meta.dirname, "vectors", name), "utf8"));
}

/** Digits with the check digit of GS1 behind them. */
export function withCheckDigit(digits: string): string {
  const sum = [...digits].reduceRight(
    (total, digit, index) => total + Number(digit) * ((digits.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return digits + ((10 - (sum % 10)) % 10);
}
