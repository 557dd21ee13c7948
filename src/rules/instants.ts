/**
 * The instant of a time from the API, in milliseconds; NaN if it is no time. One without a zone is UTC, as the fields'
 * names say: Date.parse would take it for this computer's time.
 */
export function instantOf(time: string): number {
  const text = time.trim();
  const hasZone = /(?:[a-z]|[+-]\d\d:?\d\d)$/i.test(text);
  return Date.parse(hasZone || !text.includes(":") ? text : `${text}Z`);
}
