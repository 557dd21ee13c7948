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
  const one =
    readDate(typed, locale) ?? readOne(alone, locale) ?? readOne(withoutWeekday(alone, locale), locale);
  if (one !== undefined) {
    return one;
  }
  // Without spaces, the dash may be within a date.
  const between = ["~", " - "].find((mark) => typed.includes(mark)) ?? "-";
  const [first = "", last = "", ...more] = typed.split(between);
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

function readOne(text: string, locale: string): string | undefined {
  return readDate(text, locale) ?? readNamed(text, locale);
}

/** Browsers put the day of the week on either side of a date, in some languages without a space between them. */
function withoutWeekday(text: string, locale: string): string {
  const names = (["long", "short"] as const).flatMap((weekday) => {
    const format = new Intl.DateTimeFormat(locale, { weekday });
    return Array.from({ length: 7 }, (_, day) => foldText(format.format(new Date(2026, 0, 1 + day))));
  });
  const bare = trimmed(text);
  const first = names.find((name) => bare.startsWith(name));
  const last = names.find((name) => bare.endsWith(name));
  return trimmed(bare.slice(first?.length ?? 0, last === undefined ? undefined : -last.length));
}

function trimmed(text: string): string {
  return text.replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, "");
}

const named: readonly Intl.DateTimeFormatOptions[] = [
  { dateStyle: "medium" },
  { dateStyle: "long" },
  { dateStyle: "full" },
  { year: "numeric", month: "short", day: "numeric" },
  { year: "numeric", month: "short" },
  { year: "numeric", month: "long" },
];

/** Of a date that is written out: `de` and the weekday are among them. */
const mostWords = 6;

/** Finds the month with whose name a browser would write the date. */
function readNamed(text: string, locale: string): string | undefined {
  const words = wordsOf(text);
  const [year, day] = [/^\d{4}$/, /^\d\d?$/].map((digits) => words.find((word) => digits.test(word)));
  if (year === undefined || words.length > mostWords) {
    return undefined;
  }
  const dates = named.flatMap((options) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, calendar: "gregory" });
    const hasDay = options.dateStyle !== undefined || options.day !== undefined;
    return Array.from({ length: 12 }, (_, month) => {
      const date = new Date(Number(year), month, hasDay ? Number(day) : 1);
      const isReal = date.getMonth() === month;
      return { month, hasDay, words: isReal ? wordsOf(format.format(date)) : [] };
    });
  });
  const inOrder = (all: readonly string[]): string => [...all].sort().join(" ");
  // People put them into another order than browsers. Where the month is a number as well, only the order tells it from the day.
  const found =
    dates.find((one) => one.words.join(" ") === words.join(" ")) ??
    dates.find((one) => inOrder(one.words) === inOrder(words));
  return found && iso(year, String(found.month + 1), found.hasDay ? day : undefined);
}

function iso(year: string, month: string, day: string | undefined): string {
  return [year, month.padStart(2, "0"), ...(day === undefined ? [] : [day.padStart(2, "0")])].join("-");
}

function monthComesFirst(locale: string): boolean {
  const parts = new Intl.DateTimeFormat(locale, { calendar: "gregory" }).formatToParts(0);
  const order = parts.map(({ type }) => type);
  return order.indexOf("month") < order.indexOf("day");
}

function wordsOf(text: string): string[] {
  return foldText(text)
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "")
    .map((word) => (/^\d\d?$/.test(word) ? String(Number(word)) : word));
}
