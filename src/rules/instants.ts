/**
 * The instant of a time from the API, in milliseconds; NaN if it is no time. One without a zone is UTC, as the fields'
 * names say: Date.parse would take it for this computer's time.
 */
export function instantOf(time: string): number {
  // A leap second, which Date does not know, is read as the second before it; a zone may be hours only.
  const text = time
    .trim()
    .replace(/(:\d\d):60(?!\d)/, "$1:59")
    .replace(/(:\d\d(?:\.\d+)?[+-]\d\d)$/, "$1:00");
  // The AM and PM of a clock with twelve hours are no zone.
  const hasZone = /(?:[a-z]|[+-]\d\d:?\d\d)$/i.test(text) && !/ [ap]m$/i.test(text);
  return Date.parse(hasZone || !text.includes(":") ? text : `${text}${/^\d{4}-/.test(text) ? "Z" : " UTC"}`);
}

/** Before the first device was made: 0001-01-01 and 1970 are what a clock says that was never set, or a field that was never filled. */
const firstMs = Date.UTC(2000, 0);
/** Nor will anything of this package see it: 9999-12-31 is the largest time that some systems know. */
const lastMs = Date.UTC(2100, 0);

/** Whether a time is one that a clock says that was never set. */
export function isUnset(time: string): boolean {
  return !Number.isNaN(instantOf(time)) && Number.isNaN(knownInstantOf(time));
}

/** As `instantOf`; also NaN for a time that only says that nobody knows it. */
export function knownInstantOf(time: string): number {
  const at = instantOf(time);
  return at < firstMs || at >= lastMs ? NaN : at;
}

/** The day of a date in the time zone of this computer. */
export function dayHere(date: Date): string {
  const month = String(date.getMonth() + 1).padStart(2, "0");
  return `${date.getFullYear()}-${month}-${String(date.getDate()).padStart(2, "0")}`;
}
