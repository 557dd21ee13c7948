import { billableWeightOf, billingFacts, dayHere, readWeight } from "../billing/billable-weight.ts";
import { readLimits } from "../billing/tariffs/calculate.ts";
import { type PresetName, presetNames } from "../billing/tariffs/presets.ts";
import {
  type RuleUnit,
  type WeightRule,
  readFraction,
  ruleUnits,
  sideRoundings,
} from "../billing/tariffs/rule.ts";
import { type Rule, aDate, anObject, checkArguments, oneOf, trueOrFalse } from "../errors/check.ts";
import { phrase } from "../errors/interpolation.ts";
import type { BillableWeight, MeasureResult, Scan, TransactionRecord } from "../model/shapes.ts";
import { type WeightUnit, weightUnits } from "../rules/units.ts";

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

export interface BillableWeightOptions {
  /** A carrier of the table in docs/billable-weight.md, or a custom rule. */
  readonly rule: PresetName | OwnWeightRule;
  /**
   * Where the actual weight comes from: the measurement (where it is not given), the label, a scale of its own. With `none`
   * only the size counts.
   */
  readonly weight?:
    | "measured"
    | "label"
    | "none"
    | { readonly value: number | string; readonly unit: WeightUnit };
  /** What the label says, as readScan returns it. */
  readonly scan?: Pick<Scan, "labelDims" | "labelWeight">;
  /** Whether anything that is not certainly legal for trade ends in ERR_NOT_BILLABLE. */
  readonly requireLegalForTrade?: boolean;
  /** Limits to compare the parcel with: "heavy: weight > 31.5 kg; long: longest > 120 cm". */
  readonly extras?: string;
  /** For a measurement without a date; today where it is not given. */
  readonly today?: Date;
}

/** A decimal number from 0 on, or above 0. */
function decimal(least: "zeroOrMore" | "aboveZero"): Rule {
  return (value) => {
    const number = readFraction(value);
    const isRight = number !== null && number.numerator >= (least === "aboveZero" ? 1n : 0n);
    return isRight ? undefined : { path: [], value, problem: phrase(least) };
  };
}

const ownRule = anObject(
  {
    unit: oneOf(Object.keys(ruleUnits)),
    divisor: decimal("aboveZero"),
    sideRounding: oneOf(sideRoundings),
    productRounding: decimal("zeroOrMore"),
    threshold: decimal("zeroOrMore"),
    minimum: decimal("zeroOrMore"),
  },
  ["unit", "divisor"],
);
const givenWeight = anObject({ value: decimal("aboveZero"), unit: oneOf(weightUnits) }, ["value", "unit"]);
const limits: Rule = (value) => {
  const read = typeof value === "string" ? readLimits(value) : { problem: phrase("text") };
  return "problem" in read ? { path: [], value, problem: read.problem } : undefined;
};

const options = anObject(
  {
    rule: (value) => (typeof value === "string" ? oneOf(presetNames) : ownRule)(value),
    weight: (value) =>
      (typeof value === "string" ? oneOf(["measured", "label", "none"]) : givenWeight)(value),
    scan: anObject({}),
    requireLegalForTrade: trueOrFalse,
    extras: limits,
    today: aDate,
  },
  ["rule"],
);

/**
 * The weight that a carrier bills for a parcel: the actual weight or that of its size, whichever is greater. The rule is that of
 * the day of the measurement. All of it is calculated exactly, and a weight is rounded once. What was measured stays unchanged.
 *
 * Throws ERR_NOT_BILLABLE where the measurement failed, is of several objects, has no weight, or, if required, is not legal for
 * trade; ERR_INPUT where an argument cannot be used, or the carrier's rule is not known for that day.
 *
 *     const { weight, unit } = billableWeight(result, { rule: "ups" });
 */
export function billableWeight(
  measurement: MeasureResult | TransactionRecord,
  given: BillableWeightOptions,
): BillableWeight {
  checkArguments(billingFacts, { options: given }, { options });
  const { rule, weight = "measured", scan, requireLegalForTrade = false, extras = "", today } = given;
  const read = readLimits(extras);
  return billableWeightOf(measurement, {
    rule: typeof rule === "string" ? rule : inFull(rule),
    weightFrom: typeof weight === "string" ? weight : "given",
    given: typeof weight === "string" ? null : readWeight(weight.value, weight.unit),
    scan,
    mustBeLegal: requireLegalForTrade,
    extras: "limits" in read ? read.limits : [],
    today: dayHere(today ?? new Date()),
  });
}

function inFull({
  unit,
  divisor,
  sideRounding = "none",
  productRounding = 0,
  threshold = 0,
  minimum = 0,
}: OwnWeightRule): WeightRule {
  return {
    unit,
    divisor: String(divisor),
    sideRounding,
    productRounding: String(productRounding),
    threshold: String(threshold),
    minimum: String(minimum),
  };
}
