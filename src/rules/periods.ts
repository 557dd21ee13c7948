/** A period of time, as ISO 8601 in UTC: `from` belongs to it, `to` does not. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

interface DateRange {
  readonly from: Date;
  readonly to: Date;
}

const dayPattern = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/**
 * Reads a period: a day, a month or a year (`2026-11-22`, `2026-11`, `2026`), two of these or two times with a slash
 * between them, `today`, `yesterday`, or the time that has just passed (`24h`, `7d`, `2w`, `1y`). Days are those of
 * this computer's time zone. Undefined for anything else.
 */
export function readPeriod(text: string, now: Date): Period | undefined {
  const range = readRange(text.trim(), now);
  return range === undefined || range.from >= range.to
    ? undefined
    : { from: range.from.toISOString(), to: range.to.toISOString() };
}

function readRange(text: string, now: Date): DateRange | undefined {
  const before = timeBefore(now, text);
  if (before !== undefined) {
    // What is written in this very millisecond belongs to it.
    return { from: before, to: new Date(now.getTime() + 1) };
  }
  if (text === "today" || text === "yesterday") {
    const shift = text === "today" ? 0 : -1;
    return dayOf(now.getFullYear(), now.getMonth(), now.getDate() + shift);
  }
  const [first = "", last = first, ...more] = text.split("/");
  const from = readPart(first.trim());
  const to = readPart(last.trim());
  return from === undefined || to === undefined || more.length > 0
    ? undefined
    : { from: from.from, to: to.to };
}

function readPart(text: string): DateRange | undefined {
  if (timePattern.test(text)) {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? undefined : { from: at, to: at };
  }
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  if (year === undefined) {
    return undefined;
  }
  if (month === undefined) {
    return { from: new Date(Number(year), 0, 1), to: new Date(Number(year) + 1, 0, 1) };
  }
  const from = new Date(Number(year), Number(month) - 1, Number(day ?? 1));
  // The 31st of February would be a day of March.
  if (from.getMonth() !== Number(month) - 1) {
    return undefined;
  }
  return day === undefined
    ? { from, to: new Date(Number(year), Number(month), 1) }
    : dayOf(Number(year), Number(month) - 1, Number(day));
}

/** By the calendar: a day on which the clock changes has 23 or 25 hours. */
function dayOf(year: number, month: number, day: number): DateRange {
  return { from: new Date(year, month, day), to: new Date(year, month, day + 1) };
}

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
