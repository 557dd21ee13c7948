import { readPeriod, timeBefore } from "../../../rules/periods.ts";

/**
 * The days, months or years that a text names, from midnight to midnight in the time zone of the browser, in which the page shows
 * times; "" for any other text. The time that has just passed ends now, which the clock of the server says.
 */
export function periodOf(text: string): string {
  const now = new Date();
  const period = timeBefore(now, text) === undefined ? readPeriod(text, now) : undefined;
  return period === undefined ? "" : `${period.from}/${period.to}`;
}
