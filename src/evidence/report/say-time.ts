/** A time as it was written, to its last digit, with the name of its zone. Anything else is shown unchanged. */
export function sayTime(iso: string): string;
export function sayTime(iso: string | null): string | null;
export function sayTime(iso: string | null): string | null {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d)T([\d:.]+)(Z|[+-]\d\d:\d\d)?$/.exec(iso ?? "") ?? [];
  if (date === undefined || time === undefined) {
    return iso;
  }
  const name = zone === undefined ? "" : zone === "Z" ? " UTC" : ` UTC${zone}`;
  return `${date} ${time}${name}`;
}
