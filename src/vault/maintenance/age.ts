const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * The time that is an age such as "90d" before another one; undefined if it is not an age. A year is one of the calendar:
 * with years of 365 days, what has to be kept for ten would be deleted two or three days too early. An age of 0 is not
 * accepted.
 */
export function timeBefore(now: Date, age: string): Date | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([hdwy])$/.exec(age.trim()) ?? [];
  if (count === undefined || unit === undefined) {
    return undefined;
  }
  const before = new Date(now);
  if (unit === "y") {
    before.setUTCFullYear(now.getUTCFullYear() - Number(count));
    if (before.getUTCMonth() !== now.getUTCMonth()) {
      // There is no 29 February in that year.
      before.setUTCDate(0);
    }
  } else {
    before.setTime(now.getTime() - Number(count) * (unitMs[unit] ?? 0));
  }
  // Dates do not go back 900,000 years.
  return Number.isNaN(before.getTime()) ? undefined : before;
}
