import { readLocalDates } from "../../../rules/local-dates.ts";
import { readPeriod, timeBefore } from "../../../rules/periods.ts";

/** The day on which something was archived at the earliest, and at the latest, as `2026-11-27`; "" for any. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The same as a period in the time zone of the browser; "" for any time. */
export function periodOfDays(days: Days): string {
  const [from = "", to = ""] =
    days.from !== "" && days.to !== "" ? [days.from, days.to].toSorted() : [days.from, days.to];
  const now = new Date();
  const [first, last] = [readPeriod(from, now)?.from, readPeriod(to, now)?.to];
  return first === undefined && last === undefined ? "" : `${first ?? earliest}/${last ?? latest}`;
}

const earliest = "0001-01-01T00:00:00.000Z";
const latest = "9999-12-31T00:00:00.000Z";

/**
 * The days, months or years that a text names, from midnight to midnight in the time zone of the browser, in which the page shows
 * times; "" for any other text. The time that has just passed ends now, which the clock of the server says.
 */
export function periodOf(text: string): string {
  const now = new Date();
  // The page shows times in its own language, which need not be that of the browser.
  const locales = [new Intl.DateTimeFormat().resolvedOptions().locale, document.documentElement.lang];
  const dates = [text, ...locales.map((locale) => readLocalDates(text, locale) ?? "")];
  const period =
    timeBefore(now, text) === undefined
      ? dates.map((one) => readPeriod(one, now)).find((one) => one !== undefined)
      : undefined;
  return period === undefined ? "" : `${period.from}/${period.to}`;
}
