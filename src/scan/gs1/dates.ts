/**
 * Dates of element strings have two digits for the year. By the GS1 General Specifications (section 7.12) the century is
 * chosen so that the year lies between 49 years ago and 50 years from now.
 */
export function fullYear(twoDigits: number, today: Date): number {
  const thisYear = today.getFullYear();
  const century = thisYear - (thisYear % 100);
  const difference = twoDigits - (thisYear % 100);
  if (difference >= 51) {
    return century - 100 + twoDigits;
  }
  return difference <= -50 ? century + 100 + twoDigits : century + twoDigits;
}

/** YYMMDD as YYYY-MM-DD; day 00, where it may be, is the last day of the month. Null where there is no such day. */
export function readDate(digits: string, mayHaveDay00: boolean, today: Date): string | null {
  return isoDate(
    fullYear(Number(digits.slice(0, 2)), today),
    digits.slice(2, 4),
    digits.slice(4, 6),
    mayHaveDay00,
  );
}

/** YYYYMMDD as YYYY-MM-DD; null where there is no such day. */
export function readLongDate(digits: string): string | null {
  return isoDate(Number(digits.slice(0, 4)), digits.slice(4, 6), digits.slice(6, 8), false);
}

function isoDate(year: number, month: string, day: string, mayHaveDay00: boolean): string | null {
  const monthNumber = Number(month);
  if (monthNumber < 1 || monthNumber > 12) {
    return null;
  }
  const last = lastDay(year, monthNumber);
  const dayNumber = mayHaveDay00 && day === "00" ? last : Number(day);
  return dayNumber < 1 || dayNumber > last
    ? null
    : `${String(year).padStart(4, "0")}-${month}-${String(dayNumber).padStart(2, "0")}`;
}

function lastDay(year: number, month: number): number {
  if (month === 2) {
    return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  }
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
