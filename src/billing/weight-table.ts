import { phrase } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import type { WeightTable, WeightTableLimits, WeightTableRule } from "../model/shapes.ts";
import { decodeWeightTable } from "../model/weight-table.ts";
import { readLimits } from "./tariffs/calculate.ts";
import type { Dated, Preset } from "./tariffs/presets.ts";
import { type RuleUnit, type WeightLimit, type WeightRule, readFraction, withPoint } from "./tariffs/rule.ts";

/** A custom rule. Numbers may be given as decimal text, which keeps every digit. */
export interface OwnWeightRule {
  /** Cubic centimeters for a kilogram, or cubic inches for a pound. */
  readonly unit: RuleUnit;
  /** What the volume is divided by, such as 5000 or 139. */
  readonly divisor: number | string;
  /** How each side is rounded to a whole inch or centimeter; `none` where it is not given. */
  readonly sideRounding?: WeightRule["sideRounding"];
  /** The weight is rounded up to a multiple of it; to the thousandth where it is 0 or not given. */
  readonly productRounding?: number | string;
  /** Only a volume above it counts; 0 where it is not given. */
  readonly threshold?: number | string;
  /** The least weight that is billed; 0 where it is not given. */
  readonly minimum?: number | string;
}

/** A rule with what it leaves out. */
export function inFull({
  unit,
  divisor,
  sideRounding = "none",
  productRounding = 0,
  threshold = 0,
  minimum = 0,
}: OwnWeightRule): WeightRule {
  return {
    unit,
    divisor: withPoint(divisor),
    sideRounding,
    productRounding: withPoint(productRounding),
    threshold: withPoint(threshold),
    minimum: withPoint(minimum),
  };
}

/** Reads a table of one's own: its carriers by name. Throws a ShapeError that names what is wrong. */
export function readWeightTable(value: unknown): ReadonlyMap<string, Preset> {
  const { checked, carriers }: WeightTable = decodeWeightTable(value);
  if (!isDay(checked)) {
    throw wrong("checked");
  }
  const presets = new Map<string, Preset>();
  for (const [index, { name, rules, surcharges = [] }] of carriers.entries()) {
    const at = `carriers.${index}`;
    if (presets.has(name)) {
      throw wrong(`${at}.name`, "fieldTaken");
    }
    presets.set(name, {
      name,
      rules: newestFirst(rules, `${at}.rules`, (rule: WeightTableRule, place) => ({
        ...exactRule(rule, place),
        id: rule.id,
        isVerified: null,
        ...datedOf(rule, checked),
      })),
      surcharges: newestFirst(surcharges, `${at}.surcharges`, (one: WeightTableLimits, place) => ({
        limits: one.limits.flatMap((text, line) => limitsOf(text, `${place}.limits.${line}`)),
        ...datedOf(one, checked),
      })),
    });
  }
  return presets;
}

function datedOf(
  { since = null, validUntil = null, source }: WeightTableRule | WeightTableLimits,
  checked: string,
) {
  return { since, validUntil, source, checked };
}

function exactRule(given: WeightTableRule, place: string): WeightRule {
  const rule = inFull(given);
  for (const name of ["divisor", "productRounding", "threshold", "minimum"] as const) {
    // As a number it may be larger or smaller than anything that is calculated with.
    if (readFraction(rule[name]) === null) {
      throw wrong(`${place}.${name}`);
    }
  }
  return rule;
}

/** Two of one day would be a rule by chance. */
function newestFirst<T, U extends Dated>(
  given: readonly T[],
  at: string,
  read: (one: T, place: string) => U,
): readonly U[] {
  const all = given.map((one, index) => read(one, `${at}.${index}`));
  const days = new Set<string | null>();
  for (const [index, { since, validUntil }] of all.entries()) {
    if (!isDay(since)) {
      throw wrong(`${at}.${index}.since`);
    }
    if (days.has(since)) {
      throw wrong(`${at}.${index}.since`, "fieldTaken");
    }
    if (validUntil !== null && (!isDay(validUntil) || validUntil < (since ?? validUntil))) {
      throw wrong(`${at}.${index}.validUntil`);
    }
    days.add(since);
  }
  return all.toSorted((one, other) => ((other.since ?? "") > (one.since ?? "") ? 1 : -1));
}

function limitsOf(text: string, place: string): readonly WeightLimit[] {
  const read = readLimits(text);
  if ("problem" in read) {
    throw wrong(place);
  }
  return read.limits;
}

/** Whether a month has such a day: the schema only looks at the digits. */
function isDay(date: string | null): boolean {
  const at = date === null ? Number.NaN : Date.parse(date);
  return date === null || (!Number.isNaN(at) && new Date(at).toISOString().startsWith(date));
}

function wrong(name: string, what: "fieldForm" | "fieldTaken" = "fieldForm"): ShapeError {
  return new ShapeError(phrase(what, { name }));
}
