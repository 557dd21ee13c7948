import { billableWeightOf, billingFacts, readWeight } from "../billing/billable-weight.ts";
import { dayHere } from "../rules/instants.ts";
import { readLimits } from "../billing/tariffs/calculate.ts";
import { type Preset, type PresetName, presetNames, presets } from "../billing/tariffs/presets.ts";
import { isTwoWays, readFraction, ruleUnits, sideRoundings } from "../billing/tariffs/rule.ts";
import { type OwnWeightRule, inFull, readWeightTable } from "../billing/weight-table.ts";
import { type Rule, aDate, aText, anObject, checkArguments, oneOf, trueOrFalse } from "../errors/check.ts";
import { inEnglish, phrase, verbatim } from "../errors/interpolation.ts";
import { ShapeError } from "../model/decode.ts";
import type { BillableWeight, MeasureResult, Scan, TransactionRecord, WeightTable } from "../model/shapes.ts";
import { type WeightUnit, weightUnits } from "../rules/units.ts";

/** A carrier of a table of one's own, as docs/weight-table.schema.json describes it. */
export interface OwnWeightTable {
  readonly table: WeightTable;
  /** The name of one of its carriers. */
  readonly carrier: string;
}

export interface BillableWeightOptions {
  /** A carrier of the table in docs/billable-weight.md, one of a table of one's own, or a custom rule. */
  readonly rule: PresetName | OwnWeightTable | OwnWeightRule;
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
  /** When this computer has asked the device for the measurement, by its own clock: it is compared with the device's. */
  readonly askedAt?: Date;
}

/** A decimal number from 0 on, or above 0. */
function decimal(least: "zeroOrMore" | "aboveZero"): Rule {
  return (value) => {
    const number = readFraction(value);
    const isRight = number !== null && number.numerator >= (least === "aboveZero" ? 1n : 0n);
    const isUnclear = typeof value === "string" && isTwoWays(value.trim());
    const problem = isUnclear ? phrase("numberComma", { value }) : phrase(least);
    return isRight ? undefined : { path: [], value, problem };
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

function isOwnTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "table" in value;
}

type Carriers = ReadonlyMap<string, Preset>;

/** A table is checked by reading it: `onRead` gets what it says. */
const ownTable = (onRead: (carriers: Carriers) => void): Rule => {
  const table: Rule = (value) => {
    try {
      onRead(readWeightTable(value));
      return undefined;
    } catch (error) {
      if (error instanceof ShapeError) {
        return { path: [], value: value ?? "null", problem: verbatim(`${inEnglish(error.problem)}.`) };
      }
      throw error;
    }
  };
  return anObject({ table, carrier: aText }, ["table", "carrier"]);
};

const options = (onRead: (carriers: Carriers) => void): Rule =>
  anObject(
    {
      rule: (value) =>
        (typeof value === "string" ? oneOf(presetNames) : isOwnTable(value) ? ownTable(onRead) : ownRule)(
          value,
        ),
      weight: (value) =>
        (typeof value === "string" ? oneOf(["measured", "label", "none"]) : givenWeight)(value),
      scan: anObject({}),
      requireLegalForTrade: trueOrFalse,
      extras: limits,
      today: aDate,
      askedAt: aDate,
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
  let carriers: Carriers = new Map();
  const onRead = (read: Carriers): void => {
    carriers = read;
  };
  checkArguments(billingFacts, { options: given }, { options: options(onRead) });
  const {
    rule,
    weight = "measured",
    scan,
    requireLegalForTrade = false,
    extras = "",
    today,
    askedAt,
  } = given;
  const read = readLimits(extras);
  return billableWeightOf(measurement, {
    rule:
      typeof rule === "string" ? presets[rule] : "table" in rule ? carrierOf(carriers, rule) : inFull(rule),
    weightFrom: typeof weight === "string" ? weight : "given",
    given: typeof weight === "string" ? null : readWeight(weight.value, weight.unit),
    scan,
    mustBeLegal: requireLegalForTrade,
    extras: "limits" in read ? read.limits : [],
    today: dayHere(today ?? new Date()),
    askedAt: askedAt ?? null,
  });
}

function carrierOf(carriers: Carriers, { carrier }: OwnWeightTable): Preset {
  const choices = [...carriers.keys()];
  checkArguments(billingFacts, { carrier }, { carrier: oneOf(choices) });
  return carriers.get(carrier) ?? { name: carrier, rules: [], surcharges: [] };
}
