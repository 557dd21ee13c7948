const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Reads an age such as "90d"; undefined if it is not one. An age of 0 is not accepted. */
export function readAgeMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([hdwy])$/.exec(text.trim()) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}
