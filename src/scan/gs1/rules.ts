import type { ScanElement } from "../../model/shapes.ts";
import { hasGs1CheckDigit, isDigits } from "./check-digits.ts";
import { readDate, readLongDate } from "./dates.ts";

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
