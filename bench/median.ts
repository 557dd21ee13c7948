/** The value below which this share of the values lies: 0.99 for the 99th percentile. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The medians of each number in rows of the same form. */
export function mediansOf<T extends { readonly [key in keyof T]: number }>(rows: readonly T[]): T {
  const [first] = rows;
  if (first === undefined) {
    throw new Error("there is nothing to take the median of");
  }
  const entries = (Object.keys(first) as (keyof T)[]).map((key) => [
    key,
    median(rows.map((row) => row[key])),
  ]);
  return Object.fromEntries(entries) as T;
}
