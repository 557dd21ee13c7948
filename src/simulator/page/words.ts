import type { Measurement } from "./shapes.ts";

const decimals = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 2 });
const weights = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const shortest = new Intl.NumberFormat("en", { maximumFractionDigits: 2, useGrouping: false });

/** Formats a measured length: 12 becomes 12.0. */
export function size(value: number): string {
  return decimals.format(value);
}

export function weight(value: number): string {
  return weights.format(value);
}

/** `33.5 × 21 × 12.5` */
export function dimensions(...sizes: readonly number[]): string {
  return sizes.map((one) => shortest.format(one)).join(" × ");
}

export function number(value: number): string {
  return shortest.format(value);
}

/** Makes the control characters of a text visible: `]C0A␍␊` */
export function visible(text: string): string {
  return Array.from(text, (character) =>
    character < " " ? String.fromCodePoint(0x2400 + character.charCodeAt(0)) : character,
  ).join("");
}

/** The time of day, to the second. */
export function clock(at: number | string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** `0:07` */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function bytes(count: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${shortest.format(Number((count / 1000 ** power).toFixed(power > 1 ? 1 : 0)))} ${units[power] ?? ""}`;
}

const triggers: ReadonlyMap<string, string> = new Map([
  ["local-api", "over the local API"],
  ["cloud", "from the cloud"],
  ["scan", "by a scan"],
  ["button", "at the device"],
]);

/** How a measurement was started. */
export function trigger(name: string | null): string {
  return triggers.get(name ?? "") ?? "";
}

const surfaceNames: ReadonlyMap<string, string> = new Map([
  ["newer", "newer device"],
  ["earlier", "earlier device"],
  ["cloud", "cloud"],
]);

export function surface(name: string | undefined): string {
  return name === undefined ? "everywhere" : (surfaceNames.get(name) ?? name);
}

/** The result of a scan or of pressing a button; a measurement is not listed, since the device's screen shows its result. */
export const replies: ReadonlyMap<string, string> = new Map([
  ["recording-started", "The recording has started."],
  ["recording-stopped", "The recording has ended."],
  ["recording-cancelled", "The recording was cancelled; nothing was saved."],
  ["nothing", "Nothing happened: the device is off, or its mode does not allow this."],
]);

type Referenced = Pick<
  Measurement,
  "transactionReference" | "customReference1" | "customReference2" | "customReference3"
>;

/** The given references in one line. */
export function references(of: Referenced): string {
  return [of.transactionReference, of.customReference1, of.customReference2, of.customReference3]
    .filter((one) => one !== null && one !== "")
    .join(" · ");
}

/** A measurement in one line: its size and weight, or why it failed. */
export function outcome({
  errorCode,
  errorMessage,
  object,
  dimsUnit,
  weight: heavy,
  weightUnit,
}: Measurement): string {
  if (errorCode !== 0 || object === null) {
    return `Error ${errorCode}: ${errorMessage}`;
  }
  const { length, width, height } = object;
  return `${dimensions(length, width, height)} ${dimsUnit}, ${weight(heavy)} ${weightUnit}`;
}
