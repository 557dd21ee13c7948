import { foldText } from "./search-words.ts";

const yearFirst = /^(\d{4})[-./년年]\s*(\d{1,2})(?:[-./월月]?\s*(?<=\D)(\d{1,2}))?[.일日월月]?$/;
const yearLast = /^(\d{1,2})([-./])\s*(?:(\d{1,2})[-./]\s*)?(\d{4})\.?$/;

/**
 * Reads a day or a month as people and browsers write it in numbers, or two with a dash between them: `27.11.2026`, `11/27/2026`,
 * `2026/11/27`, `11.2026`. Where it could be two days, the locale decides, as `en-US`; with dots the day comes first everywhere. Returns
 * it as `2026-11-27`, `2026-11` or `2026-11-01/2026-11-07`; undefined for anything else.
 */
export function readLocalDates(text: string, locale: string): string | undefined {
  const typed = foldText(text).trim();
  const one = readDate(typed, locale);
  if (one !== undefined) {
    return one;
  }
  // Without spaces, the dash may be within a date.
  const [first = "", last = "", ...more] = typed.split(typed.includes(" - ") ? " - " : "-");
  const [from, to] = [readDate(first, locale), readDate(last, locale)];
  return from === undefined || to === undefined || more.length > 0 ? undefined : `${from}/${to}`;
}

function readDate(text: string, locale: string): string | undefined {
  const [found, year = "", month = "", day] = yearFirst.exec(text.trim()) ?? [];
  if (found !== undefined) {
    return iso(year, month, day);
  }
  const [, one = "", dash, other, last] = yearLast.exec(text.trim()) ?? [];
  if (last === undefined || other === undefined) {
    return last === undefined ? undefined : iso(last, one, undefined);
  }
  const isMonthFirst = Number(one) <= 12 && (Number(other) > 12 || (dash !== "." && monthComesFirst(locale)));
  return isMonthFirst ? iso(last, one, other) : iso(last, other, one);
}

function iso(year: string, month: string, day: string | undefined): string {
  return [year, month.padStart(2, "0"), ...(day === undefined ? [] : [day.padStart(2, "0")])].join("-");
}

function monthComesFirst(locale: string): boolean {
  const parts = new Intl.DateTimeFormat(locale, { calendar: "gregory" }).formatToParts(0);
  const order = parts.map(({ type }) => type);
  return order.indexOf("month") < order.indexOf("day");
}
