import type { ScanElement } from "../../model/shapes.ts";
import { rows } from "./application-identifiers.ts";
import { hasGs1CheckDigit, isDigits } from "./check-digits.ts";

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

/** When this was written. */
const leastMs = Date.UTC(2026, 0);

/** The day by this computer's clock, which decides on the century. One that was never set, as after a power cut, would say the last one. */
export function dayOfScan(): Date {
  return new Date(Math.max(Date.now(), leastMs));
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

export type ScanProblem = NonNullable<ScanElement["problem"]>;

/** Returns what is wrong with one component of a value; null if nothing is. */
type Rule = (text: string, today: Date) => ScanProblem | null;

function holds(isRight: (text: string) => boolean, problem: ScanProblem = "value"): Rule {
  return (text) => (isRight(text) ? null : problem);
}

function matches(pattern: RegExp): Rule {
  return holds((text) => pattern.test(text));
}

const hour = (text: string): boolean => Number(text) < 24;
const minute = (text: string): boolean => Number(text) < 60;

/** Degrees in ten millionths from 0 to twice the bound. */
const degrees = (bound: number) => holds((text) => Number(text) <= bound * 2e7);

/**
 * The rules by their names in the GS1 Barcode Syntax Dictionary. Those of `uncheckedRules` need lists that change, such as
 * that of currencies, or concern coupons; length and characters are checked there too.
 */
const rules: Readonly<Record<string, Rule>> = {
  csum: holds(hasGs1CheckDigit, "checkDigit"),
  csumalpha: holds(hasCheckPair, "checkDigit"),
  gcppos1: matches(/^\d{4}/),
  gcppos2: matches(/^.\d{4}/),
  yymmdd: (text, today) => (readDate(text, false, today) === null ? "date" : null),
  yymmd0: (text, today) => (readDate(text, true, today) === null ? "date" : null),
  yyyymmdd: (text) => (readLongDate(text) === null ? "date" : null),
  hh: holds(hour, "date"),
  mi: holds(minute, "date"),
  ss: holds(minute, "date"),
  hhmi: holds((text) => hour(text.slice(0, 2)) && minute(text.slice(2)), "date"),
  zero: holds((text) => text === "0"),
  nonzero: matches(/[^0]/),
  nozeroprefix: holds((text) => text === "0" || !text.startsWith("0")),
  hasnondigit: holds((text) => !isDigits(text)),
  yesno: matches(/^[01]$/),
  winding: matches(/^[019]$/),
  iso5218: matches(/^[0129]$/),
  hyphen: holds((text) => text === "-"),
  importeridx: matches(/^[-0-9A-Z_a-z]$/),
  pcenc: holds((text) => !/%(?![0-9A-Fa-f]{2})/.test(text)),
  pieceoftotal: holds((text) => {
    const [piece, total] = [Number(text.slice(0, 2)), Number(text.slice(2))];
    return piece > 0 && piece <= total;
  }),
  posinseqslash: holds((text) => {
    const [, position, end] = /^([1-9])\/([1-9])$/.exec(text) ?? [];
    return position !== undefined && end !== undefined && position <= end;
  }),
  latitude: degrees(90),
  longitude: degrees(180),
  iban: holds(isIban, "checkDigit"),
};

export const uncheckedRules = [
  "couponcode",
  "couponposoffer",
  "iso3166",
  "iso3166999",
  "iso3166alpha2",
  "iso4217",
  "mediatype",
  "packagetype",
] as const;

const unchecked: ReadonlySet<string> = new Set(uncheckedRules);

/** The rule with that name; undefined for one that is not checked. Throws for an unknown name. */
export function ruleNamed(name: string): Rule | undefined {
  const rule = rules[name];
  if (rule === undefined && !unchecked.has(name)) {
    throw new Error(`The table of application identifiers has a rule that is not known: ${name}`);
  }
  return rule;
}

const characters82 = "!\"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const characters32 = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83];

/** The pair of check characters at the end of a global model number (GS1 General Specifications, section 7.9.5). */
function hasCheckPair(text: string): boolean {
  const body = text.slice(0, -2);
  if (body === "" || body.length > primes.length) {
    return false;
  }
  const sum = Array.from(body).reduceRight(
    (total, character, index) =>
      total + characters82.indexOf(character) * (primes[body.length - 1 - index] ?? 0),
    0,
  );
  const remainder = sum % 1021;
  return text.slice(-2) === `${characters32[remainder >> 5]}${characters32[remainder & 31]}`;
}

/** ISO 13616: the first four characters to the end, letters as 10 to 35, and the remainder by 97 is 1. */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[0-9A-Z]{11,30}$/.test(text)) {
    return false;
  }
  let remainder = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

/** Which characters a component may have: digits, or set 82, 39 or 64 of the GS1 General Specifications. */
const characterSets = {
  N: /^\d*$/,
  X: /^[!"%-?A-Z_a-z]*$/,
  Y: /^[#\-/0-9A-Z]*$/,
  Z: /^[\w-]*={0,2}$/,
} as const;

export interface Component {
  readonly characters: RegExp;
  readonly least: number;
  readonly most: number;
  readonly isOptional: boolean;
  readonly rules: readonly string[];
  readonly checks: readonly NonNullable<ReturnType<typeof ruleNamed>>[];
}

/** One application identifier, and the rules for its value. */
export interface Identifier {
  readonly ai: string;
  readonly title: string | null;
  /** The length of a value if it is predefined, so that no separator has to follow it. */
  readonly predefinedLength: number | null;
  /** The number of decimals of the value; null if it is not such a number. */
  readonly decimals: number | null;
  /** Whether a GS1 Digital Link URI can begin with it. */
  readonly isKey: boolean;
  /** Null for one that GS1 has not assigned. */
  readonly components: readonly Component[] | null;
}

/** All application identifiers of the table. */
export const identifiers: ReadonlyMap<string, Identifier> = new Map(
  rows.flatMap(([range, flag, format, title, isKey]) => {
    const components = format.split(" ").map(readComponent);
    const predefinedLength = flag === "*" ? components.reduce((sum, { most }) => sum + most, 0) : null;
    return identifiersIn(range).map((ai): [string, Identifier] => [
      ai,
      {
        ai,
        title: title === "" ? null : title,
        predefinedLength,
        decimals:
          range.startsWith("3") && range.includes("-") && components.length === 1 ? Number(ai[3]) : null,
        isKey,
        components,
      },
    ]);
  }),
);

/** The length of an application identifier by its first two digits, which is the same for all that begin with them. */
const lengths: ReadonlyMap<number, number> = new Map(
  [...identifiers.keys()].map((ai) => [Number(ai.slice(0, 2)), ai.length]),
);

/** The application identifiers by their number, which no two of them share. */
const byNumber: ReadonlyMap<number, Identifier> = new Map(
  [...identifiers].map(([ai, identifier]) => [Number(ai), identifier]),
);

/** The application identifier of a code, whether GS1 has assigned it or not. */
export function identifierNamed(ai: string): Identifier {
  return identifiers.get(ai) ?? unassigned(ai);
}

/**
 * The application identifier at this place; null where not even its length is known, which is a text of its own. One that GS1 has
 * not assigned yet has the length of those with the same beginning.
 */
export function identifierAt(data: string, position: number): Identifier | null {
  const length = lengths.get(numberAt(data, position, 2));
  if (length === undefined) {
    return null;
  }
  const number = numberAt(data, position, length);
  return number < 0 ? null : (byNumber.get(number) ?? unassigned(data.slice(position, position + length)));
}

function unassigned(ai: string): Identifier {
  return { ai, title: null, predefinedLength: null, decimals: null, isKey: false, components: null };
}

/** The number that so many digits are; -1 where they are not all digits. Nothing is cut out: this is done for each element. */
function numberAt(data: string, position: number, length: number): number {
  let number = 0;
  for (let index = position; index < position + length; index++) {
    const digit = data.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) {
      return -1;
    }
    number = number * 10 + digit;
  }
  return number;
}

/** "00", or all of "91-99". */
function identifiersIn(range: string): string[] {
  const [first = "", last = first] = range.split("-");
  const count = Number(last) - Number(first) + 1;
  return Array.from({ length: count }, (_, index) =>
    String(Number(first) + index).padStart(first.length, "0"),
  );
}

/** "N6,yymmdd", "X..20" or "[N..12]". */
function readComponent(written: string): Component {
  const [, open, set, isUpTo, digits, names = ""] =
    /^(\[?)([NXYZ])(\.\.)?(\d+)\]?(?:,(.+))?$/.exec(written) ?? [];
  if (set === undefined) {
    throw new Error(`The table of application identifiers has a format that is not known: ${written}`);
  }
  const rules = names === "" ? [] : names.split(",");
  const most = Number(digits);
  return {
    characters: characterSets[set as keyof typeof characterSets],
    least: isUpTo === undefined ? most : 1,
    most,
    isOptional: open === "[",
    rules,
    checks: rules.map(ruleNamed).filter((check) => check !== undefined),
  };
}
