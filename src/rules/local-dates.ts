import { foldText } from "./search-words.ts";

const yearFirst = /^(\d{4})[-./년年]\s*(\d{1,2})(?:[-./월月]?\s*(?<=\D)(\d{1,2}))?[.일日월月]?$/;
const yearLast = /^(\d{1,2})([-./])\s*(?:(\d{1,2})[-./]\s*)?(\d{4})\.?(?: г\.?)?$/;
/** Behind a date, such as `, 10:43:15 PM`, ` um 22:43` and ` 下午10:43`. */
const timeOfDay = /[\p{P}\s]*(?:\p{L}+\s*)?\d{1,2}:\d{2}.*$/u;

/**
 * Reads a day or a month as people and browsers write it in numbers, or two with a dash between them: `27.11.2026`, `11/27/2026`,
 * `2026/11/27`, `11.2026`; and with the name of its month as browsers of this locale do: `Nov 27, 2026`, also with a time behind it.
 * Where it could be two days, the locale decides, as `en-US`; with dots the day comes first everywhere. Returns it as `2026-11-27`,
 * `2026-11` or `2026-11-01/2026-11-07`; undefined for anything else.
 */
export function readLocalDates(text: string, locale: string): string | undefined {
  const typed = foldText(text).trim();
  const alone = typed.replace(timeOfDay, "");
  const one = readDate(typed, locale) ?? readDate(alone, locale) ?? readNamed(alone, locale);
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

const named: readonly Intl.DateTimeFormatOptions[] = [
  { dateStyle: "medium" },
  { dateStyle: "long" },
  { dateStyle: "full" },
  { year: "numeric", month: "short" },
  { year: "numeric", month: "long" },
];

/** Of a date that is written out: `de` and the weekday are among them. */
const mostWords = 6;

/** Finds the month with whose name a browser would write the date. */
function readNamed(text: string, locale: string): string | undefined {
  const words = sortedWords(text);
  const [year, day] = [/^\d{4}$/, /^\d\d?$/].map((digits) => words.find((word) => digits.test(word)));
  if (year === undefined || words.length > mostWords) {
    return undefined;
  }
  for (const options of named) {
    const format = new Intl.DateTimeFormat(locale, { ...options, calendar: "gregory" });
    const hasDay = options.dateStyle !== undefined;
    for (let month = 0; month < 12; month += 1) {
      const date = new Date(Number(year), month, hasDay ? Number(day) : 1);
      if (date.getMonth() === month && sortedWords(format.format(date)).join(" ") === words.join(" ")) {
        return iso(year, String(month + 1), hasDay ? day : undefined);
      }
    }
  }
  return undefined;
}

function iso(year: string, month: string, day: string | undefined): string {
  return [year, month.padStart(2, "0"), ...(day === undefined ? [] : [day.padStart(2, "0")])].join("-");
}

function monthComesFirst(locale: string): boolean {
  const parts = new Intl.DateTimeFormat(locale, { calendar: "gregory" }).formatToParts(0);
  const order = parts.map(({ type }) => type);
  return order.indexOf("month") < order.indexOf("day");
}

/** People put them into another order than browsers. */
function sortedWords(text: string): string[] {
  return foldText(text)
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "")
    .map((word) => (/^\d\d?$/.test(word) ? String(Number(word)) : word))
    .sort();
}
