import type { BillableWeight } from "../model/shapes.ts";
import { calculate, weightStep, type Calculation } from "./tariffs/calculate.ts";
import { english, explain } from "./tariffs/explain.ts";
import { toNumber } from "./tariffs/fraction.ts";
import { checkLimits, unitOf, type CheckedLimit } from "./tariffs/limits.ts";
import { presets, ruleOn, surchargesOn, type PresetName } from "./tariffs/presets.ts";
import { ruleUnits, type WeightLimit, type WeightRule } from "./tariffs/rule.ts";
import { weightUnits } from "../rules/units.ts";
import { billingError } from "./billing-error.ts";
import { deviationOf, readLabel, type Label } from "./deviation.ts";
import { readMeasured, type Legality, type MeasuredParcel, type Weight } from "./measured-parcel.ts";

/** Where the actual weight comes from: the measurement, the label, a separate scale, or nowhere. */
export type WeightSource = "measured" | "label" | "given" | "none";

/** What a billable weight is calculated from. */
export interface BillingTask {
  /** A carrier of the table, or a custom rule. */
  readonly rule: PresetName | WeightRule;
  readonly weightFrom: WeightSource;
  /** The weight from a separate scale. */
  readonly given: Weight | null;
  /** The scan of the label: `msg.scan`. */
  readonly scan: unknown;
  readonly mustBeLegal: boolean;
  /** Limits in addition to those of the carrier. */
  readonly extras: readonly WeightLimit[];
  /** The day for a measurement that has none (YYYY-MM-DD). */
  readonly today: string;
}

/** A rule and its source. */
interface ChosenRule {
  readonly rule: WeightRule;
  readonly ruleId: string;
  readonly ruleDate: string | null;
  readonly source: string | null;
  readonly ruleVerified: boolean | null;
  readonly limits: readonly WeightLimit[];
  readonly limitsDate: string | null;
  /** The carrier has limits, but the table does not have those of that day. */
  readonly hasUnknownLimits: boolean;
}

/** The billable weight of a measurement. Throws ERR_NOT_BILLABLE where it must not be billed, and ERR_INPUT. */
export function billableWeightOf(measurement: unknown, task: BillingTask): BillableWeight {
  const measured = readMeasured(measurement);
  if (task.mustBeLegal && measured.isManual) {
    throw billingError("billManual");
  }
  const chosen = choose(task.rule, measured.day ?? task.today);
  const label = readLabel(task.scan);
  const weight = weightOf(task, measured, label);
  const calculation = calculate({ ...measured, weight }, chosen.rule);
  const { billed, dimensional, actual, sides, volume, rule } = calculation;
  if (billed === null) {
    throw billingError("billNoWeight");
  }
  const legalForTrade = legalityOf(calculation, measured, task.weightFrom);
  if (task.mustBeLegal && legalForTrade !== true) {
    throw billingError(legalForTrade === false ? "billNotLegal" : "billLegalUnknown");
  }
  const checked = checkLimits(calculation, [...chosen.limits, ...task.extras]);
  const units = ruleUnits[rule.unit];
  return {
    weight: toNumber(billed.weight),
    unit: units.weight,
    basis: billed.basis,
    explanation: explain(calculation, english),
    dimensionalWeight: dimensional && toNumber(weightStep(dimensional, rule)),
    actualWeight: actual && toNumber(actual),
    weightFrom: weight === null ? null : sourceNames[task.weightFrom],
    sides: sides.map(toNumber),
    dimsUnit: units.length,
    volume: toNumber(volume),
    divisor: Number(rule.divisor),
    ruleId: chosen.ruleId,
    ruleDate: chosen.ruleDate,
    source: chosen.source,
    ruleVerified: chosen.ruleVerified,
    over: isOverAny(checked, chosen.hasUnknownLimits),
    limitsDate: chosen.limitsDate,
    thresholds: checked.map(({ limit, value, isOver }) => ({
      name: limit.name,
      over: isOver,
      quantity: limit.quantity,
      value: value && toNumber(value),
      limit: Number(limit.limit),
      unit: unitOf(limit),
    })),
    deviation: deviationOf(measured, label),
    legalForTrade,
    computed: true,
  };
}

const sourceNames = { measured: "measured", label: "label", given: "given", none: null } as const;

function choose(rule: BillingTask["rule"], day: string): ChosenRule {
  if (typeof rule !== "string") {
    const unknown = { ruleDate: null, source: null, ruleVerified: null, limitsDate: null };
    return { rule, ruleId: "own", ...unknown, limits: [], hasUnknownLimits: false };
  }
  const preset = presets[rule];
  const dated = ruleOn(preset, day);
  if (dated === undefined) {
    throw billingError("billNoRule", { name: preset.name, value: day });
  }
  const { id, since, source, isVerified } = dated;
  const surcharges = surchargesOn(preset, day);
  return {
    rule: dated,
    ruleId: id,
    ruleDate: since,
    source,
    ruleVerified: isVerified,
    limits: surcharges?.limits ?? [],
    limitsDate: surcharges?.since ?? null,
    hasUnknownLimits: surcharges === undefined && preset.surcharges.length > 0,
  };
}

/** Null where it is over none of those that could be compared, and one could not be. */
function isOverAny(checked: readonly CheckedLimit[], hasUnknown: boolean): boolean | null {
  if (checked.some(({ isOver }) => isOver === true)) {
    return true;
  }
  return hasUnknown || checked.some(({ isOver }) => isOver === null) ? null : false;
}

function weightOf(
  { weightFrom, given }: BillingTask,
  { weight: ofMeasurement, otherWeightUnit }: MeasuredParcel,
  { weight: ofLabel }: Label,
): Weight | null {
  if (weightFrom === "none") {
    return null;
  }
  if (weightFrom === "measured" && otherWeightUnit !== null) {
    throw billingError("billWeightUnit", { value: otherWeightUnit, choices: weightUnits });
  }
  const weight = { measured: ofMeasurement, label: ofLabel, given }[weightFrom];
  if (weight === null) {
    throw billingError(weightFrom === "label" ? "billNoLabelWeight" : "billNoWeight");
  }
  return weight;
}

/**
 * Whether the billed weight is legal for trade. If the actual weight is billed, the device has to state it of the
 * weight too.
 */
function legalityOf({ billed }: Calculation, measured: MeasuredParcel, weightFrom: WeightSource): Legality {
  const { legality, weightLegality } = measured;
  if (legality !== true || billed?.basis !== "actual") {
    return legality;
  }
  return weightFrom === "measured" ? weightLegality : "unknown";
}
